"""Targeted training: which golds, when, and that nothing follows from it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from adjudge.collect.rules.golds import (
    GoldCard,
    _label_weights,
    choose_refresher,
    from_json,
    is_due,
    quota,
)
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from collecting import LABELS, Bench

GOLDS = st.lists(st.sampled_from(LABELS), max_size=30).map(
    lambda labels: [GoldCard(place, f"t{place % 5}", label) for place, label in enumerate(labels)]
)
PAIRS = st.dictionaries(
    st.tuples(st.sampled_from(LABELS), st.sampled_from([*LABELS, "can't judge"])).filter(
        lambda pair: pair[0] != pair[1]
    ),
    st.integers(1, 5),
    min_size=1,
    max_size=4,
)


@given(
    golds=GOLDS,
    confused=PAIRS,
    count=st.integers(0, 12),
    seed=st.integers(0, 99),
    seen=st.sets(st.integers(0, 29)),
)
def test_a_refresher_has_what_was_confused_in_proportion_and_the_unseen_first(
    golds: list[GoldCard[int]],
    confused: dict[tuple[str, str], int],
    count: int,
    seed: int,
    seen: set[int],
) -> None:
    chosen = choose_refresher(golds, confused, count, np.random.default_rng(seed), seen=seen)
    weights = _label_weights(confused)
    label = {gold.item: gold.label for gold in golds}
    there = Counter(gold.label for gold in golds if gold.label in weights)
    assert len(chosen) == len(set(chosen)) == min(count, there.total())
    given_labels = Counter(label[item] for item in chosen)
    assert set(given_labels) <= set(weights)
    labels = sorted(there)
    expected = quota({one: float(weights[one]) for one in labels}, labels, len(chosen))
    for one in labels:
        assert given_labels[one] >= min(expected[one], there[one])
        fresh = {gold.item for gold in golds if gold.label == one and gold.item not in seen}
        stale = {item for item in chosen if label[item] == one and item in seen}
        assert not stale or fresh <= set(chosen)
    again = choose_refresher(golds, confused, count, np.random.default_rng(seed), seen=seen)
    assert again == chosen


@pytest.mark.parametrize(
    ("pairs", "misses", "had", "due"),
    [(5, 3, 0, True), (5, 2, 0, False), (0, 9, 0, False), (5, 9, 2, False), (5, 3, 1, True)],
)
def test_a_refresher_is_due_after_a_number_of_misses(
    pairs: int, misses: int, had: int, due: bool
) -> None:
    policy = Policy(refresher_pairs=pairs, refresher_after=3, refreshers=2)
    assert is_due(policy, misses=misses, had=had) is due


def test_a_judge_who_misses_is_refreshed_and_works_on(database: Database) -> None:
    bench = Bench(
        database, topics=20, golds=80, least_golds=50, pay_per_page="0.20",
        refresher_pairs=6, refresher_after=4, refreshers=1,
    )  # fmt: skip
    judge = bench.trained()
    outcome = bench.turn(judge, right=False)
    before = outcome.judge
    assert (before.stage, before.gold_seen, before.gold_right) == ("working", 5, 0)
    page = bench.page(judge)
    assert (page.kind, len(page.rows)) == ("training", 6)
    assert page.why.startswith("Among your last results you missed 5 results whose answers")
    assert bench.judging.page(judge) == page
    truths = bench.truths(page)
    (entry,) = bench.services.projects.get_log(bench.slug, judge=judge, event="refresher-given")
    given = entry.figures
    confused = from_json(given["confused"])  # type: ignore[arg-type]
    assert (given["number"], given["misses"], sum(confused.values())) == (1, 5, 5)
    assert set(truths.values()) <= set(_label_weights(confused))

    wrong = next(label for label in LABELS if label != truths[1])
    graded = bench.judging.answer_training(judge, page.page, 1, wrong).feedback[0]
    assert (graded.right, graded.accepted) == (False, (truths[1],))
    assert graded.reason.endswith(f" is {truths[1]}")
    outcome = bench.judging.submit(judge, page.page, page.key, bench.answers(page)[1:])
    after = outcome.judge
    for name in ("stage", "gold_seen", "gold_right", "training_right", "pay", "judged", "pages"):
        assert getattr(after, name) == getattr(before, name), name
    assert after.notice == ("Thank you. Here your work goes on.",)
    assert bench.judging.outcome(judge, page.page).feedback == outcome.feedback
    bench.check()

    bench.turn(judge, right=True)
    bench.turn(judge, right=False)
    work = bench.page(judge)
    assert (work.kind, work.why) == ("work", ""), "one refresher is all the policy gives"
    (row,) = bench.services.judges.get(bench.slug, judge).refreshers
    assert (row.number, row.pairs, row.right) == (1, 6, 5)
    assert (row.before_seen, row.before_right, row.before) == (5, 0, 0.0)
    assert (row.after_seen, row.after_right, row.after) == (10, 5, 0.5)
    (arm,) = bench.services.arms.report(bench.slug, resamples=0).refreshers
    assert (arm.judges, arm.refreshers, arm.before, arm.after) == (1, 1, 0.0, 0.5)
    kinds = Counter(bench.services.exports.get_table(bench.slug)["kind"].to_pylist())
    assert kinds["training"] == 20 + 6
    bench.check()


def test_gold_that_was_wrong_takes_the_refresher_back(database: Database) -> None:
    bench = Bench(
        database, topics=20, golds=80, least_golds=50, refresher_pairs=4, refresher_after=5
    )
    judge = bench.trained()
    outcome = bench.turn(judge, right=False)
    gold = bench.rows(
        sa.select(schema.items.c.name)
        .join(schema.judgments, schema.judgments.c.item == schema.items.c.id)
        .where(schema.judgments.c.right.is_(False))
    )[0].name
    bench.services.gold.edit(bench.slug, gold, accepted=LABELS)
    assert bench.judging.state(judge).gold_right == outcome.judge.gold_right + 1
    page = bench.page(judge)
    assert page.kind == "work", "four misses are left, and five bring a refresher"
    bench.judging.submit(judge, page.page, page.key, bench.answers(page, right=False))
    page = bench.page(judge)
    assert page.why.startswith("Among your last results you missed 9 results")
    bench.judging.submit(judge, page.page, page.key, bench.answers(page))
    shown = bench.rows(
        sa.select(schema.items.c.name)
        .join(schema.page_rows, schema.page_rows.c.item == schema.items.c.id)
        .join(schema.pages, schema.pages.c.id == schema.page_rows.c.page)
        .where(schema.pages.c.public == page.page)
    )
    bench.services.gold.edit(bench.slug, shown[0].name, active=False)
    bench.services.gold.edit(bench.slug, shown[1].name, accepted=["can't judge"])
    bench.check()


def test_a_judge_who_stops_at_a_refresher_does_it_when_she_works_on(sqlite: Database) -> None:
    made = {"topics": 20, "golds": 80, "warn_below": 0.0, "block_below": 0.0}
    bench = Bench(sqlite, **made, least_golds=50, refresher_pairs=4, refresher_after=1)
    judge = bench.trained()
    bench.turn(judge, right=False)
    page = bench.page(judge)
    assert page.why
    assert bench.judging.finish(judge).stage == "finished"
    bench.check()
    back = bench.page(judge)
    assert back.kind == "work"
    bench.judging.submit(judge, back.page, back.key, bench.answers(back))
    assert bench.judging.page(judge).why  # type: ignore[union-attr]
    bench.check()


def test_models_and_judges_who_may_do_no_more_get_none(sqlite: Database) -> None:
    made = {"topics": 20, "golds": 60, "warn_below": 0.0, "block_below": 0.0}
    bench = Bench(sqlite, **made, refresher_pairs=4, refresher_after=1)
    model = bench.arrive("model", kind="model").judge
    bench.turn(model)
    bench.turn(model, right=False)
    page = bench.page(model)
    assert page.kind == "work"
    bench = Bench(sqlite, **made, refresher_pairs=4, refresher_after=1, max_pages=1)
    person = bench.trained()
    bench.turn(person, right=False)
    assert bench.judging.page(person) is None
    assert bench.judging.state(person).stage == "finished"
