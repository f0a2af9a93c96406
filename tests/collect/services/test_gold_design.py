"""Gold by design: sets to a mix, forecasts worked out by hand, suggestions a person approves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge import Consensus, Judgments, MajorityVote, Scale
from adjudge.collect.rules.golds import GoldCard, quota
from adjudge.collect.rules.policy import Policy
from adjudge.collect.services._gold_design import design, expect_mix, forecast
from adjudge.collect.services.gold import choose_lacking, sure_items
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.store.request import lock_judge
from adjudge.collect.values.gold import Suggestion
from adjudge.errors import AdjudgeError, NotFound
from collecting import LABELS, Bench, made_project, refused, sqlite_first


def cards(**counts: int) -> list[GoldCard[str]]:
    """So many golds of each label."""
    return [
        GoldCard(f"{label}{number}", f"t{number}", label)
        for label, count in counts.items()
        for number in range(count)
    ]


def labels_of(chosen: tuple[str, ...]) -> Counter[str]:
    return Counter(item.rstrip("0123456789") for item in chosen)


def test_sets_have_the_requested_mix_and_nothing_in_common() -> None:
    made = design(
        cards(a=40, b=40, c=40),
        training=20,
        training_mix="uniform",
        labels=("a", "b", "c"),
    )
    # 20 over three labels is 6 each, and the two left go to the first labels
    assert labels_of(made.training) == {"a": 7, "b": 7, "c": 6}
    assert labels_of(made.screening) == {"a": 33, "b": 33, "c": 34}
    assert not set(made.training) & set(made.screening)
    assert made.missing == {"training": {}, "screening": {}}
    assert made.warnings == ()


@given(
    counts=st.dictionaries(st.sampled_from("abcd"), st.integers(0, 30), min_size=1),
    shares=st.fixed_dictionaries({label: st.integers(0, 9) for label in "abcd"}),
    training=st.integers(0, 40),
    seed=st.integers(0, 99),
)
@settings(deadline=None)
def test_any_design_meets_its_quota_if_there_is_enough_gold(
    counts: dict[str, int], shares: dict[str, int], training: int, seed: int
) -> None:
    shares = shares if any(shares.values()) else {"a": 1}
    pool = cards(**counts)
    made = design(pool, training=training, training_mix=shares, labels=tuple("abcd"), seed=seed)  # type: ignore[arg-type]
    assert len(made.training) == min(training, len(pool))
    assert sorted(made.training + made.screening) == sorted(card.item for card in pool)
    have = labels_of(made.training)
    for label, needed in quota(shares, "abcd", training).items():
        assert have[label] >= min(needed, counts.get(label, 0))
        assert made.missing["training"].get(label, 0) == max(0, needed - have[label])
    again = design(pool, training=training, training_mix=shares, labels=tuple("abcd"), seed=seed)  # type: ignore[arg-type]
    assert again == made
    drawn = expect_mix(pool, training, shares, "abcd")
    assert sum(drawn.values()) == pytest.approx(len(made.training))


def test_a_forecast_worked_out_by_hand() -> None:
    """The paper's task: 1,280 results, 5 judgments each, pages of 20 and 5 golds, 20 judges."""
    made = forecast(Policy(), items=1280, labels=LABELS, judges=20)
    assert (made.judgments, made.pages) == (6400, 320)
    assert (made.pages_a_judge, made.pages_at_most) == (16.0, 64)
    assert (made.training, made.screening) == (20, 80)
    assert (made.typical, made.busiest, made.have) == (100, 340, 0)
    assert made.warnings == (
        "A typical judge meets 100 golds and there are 0: then gold repeats. 100 more are needed.",
    )


def test_a_forecast_counts_the_gold_there_is_label_by_label() -> None:
    policy = Policy(
        training_mix="uniform", screening_mix={"a": 3, "b": 1}, max_pages=4, training_tries=2,
        judgments_per_item=2, gold_runs_out="none",
    )  # fmt: skip
    pool = cards(a=70, b=20)
    made = forecast(policy, items=125, labels=("a", "b"), judges=2, training=pool, screening=pool)
    # 250 judgments in 13 pages; a judge does 4 at most
    assert (made.judgments, made.pages, made.pages_a_judge) == (250, 13, 4.0)
    assert (made.training, made.screening, made.typical, made.busiest) == (40, 20, 60, 60)
    assert made.by_label == {"a": (35, 70), "b": (25, 20)}
    assert made.shown_each == pytest.approx(2 * 60 / 90)
    assert made.warnings == (
        "The label mix lacks gold: 5 b.",
        "2 judges can give 160 judgments at most, and 250 are needed: nobody judges an item twice.",
    )


def judged(votes: dict[str, str]) -> Judgments:
    """Judgments from strings of one-letter labels, an item each."""
    rows = [
        (item, f"j{number}", label)
        for item, given in votes.items()
        for number, label in enumerate(given)
    ]
    item, judge, label = zip(*rows, strict=True)
    import pyarrow as pa

    table = pa.table({"item": list(item), "judge": list(judge), "label": list(label)})
    return Judgments.from_table(table, scale=Scale(labels=("a", "b", "c")))


def _suggest(
    consensus: Consensus,
    count: int,
    *,
    known: Sequence[str] = (),
    least_judgments: int = 3,
    **conditions: Any,
) -> list[Suggestion]:
    sure = sure_items(consensus, known=known, least_judgments=least_judgments)
    return choose_lacking(sure, count, labels=consensus.scale.truths, **conditions)


def test_suggestions_are_sure_and_even_out_the_gold() -> None:
    votes = {"w": "aaaa", "x": "aaa", "y": "bbb", "z": "ab", "few": "bb", "c1": "ccc", "old": "ccc"}
    consensus = MajorityVote().fit(judged(votes))
    found = _suggest(consensus, 9, known=["old"])
    # one of each label in turn; of two that are as sure, the one of more judgments first
    assert [(one.item, one.label) for one in found] == [
        ("w", "a"), ("y", "b"), ("c1", "c"), ("x", "a"),
    ]  # fmt: skip
    assert (found[0].probability, found[0].judgments, found[0].agreement) == (1.0, 4, 1.0)
    lacking = _suggest(consensus, 2, known=["old"], have={"a": 5, "b": 5, "c": 0})
    assert [one.label for one in lacking[:1]] == ["c"]
    only = _suggest(consensus, 9, mix={"b": 1.0}, least_judgments=2)
    assert [one.item for one in only] == ["y", "few"]
    assert _suggest(consensus, 0) == []
    torn = MajorityVote().fit(judged({"x": "aabbc", "y": "aab"}))
    sure = replace(torn, posterior=np.array([[0.999, 0.0005, 0.0005], [0.99, 0.01, 0.0]]))
    sure = replace(sure, choice=np.zeros(2, dtype=np.int16))
    assert [one.item for one in _suggest(sure, 9)] == ["y"]  # two of five agree on x


@sqlite_first
def test_an_approved_suggestion_becomes_gold_and_is_work_no_more(database: Database) -> None:
    bench = Bench(database, made_project(topics=2, golds=8, training=False, screening_golds=0))
    for number in range(3):
        judge = bench.arrive(f"j{number}").judge
        bench.turn(judge, label="Spam")
    judgments = bench.services.exports.get_judgments(bench.slug)
    assert judgments is not None
    consensus = MajorityVote().fit(judgments)
    (found,) = bench.services.gold.suggest(bench.slug, consensus, 1)
    assert (found.label, found.judgments) == ("Spam", 3)
    before = bench.services.projects.get_progress(bench.slug)
    done = bench.services.gold.approve(
        bench.slug, found.item, accepted=["Spam"], reason="It is advertising."
    )
    assert done.golds_added == 1
    row = next(row for row in bench.services.gold.get_all(bench.slug) if row.item == found.item)
    assert (row.accepted, row.role, row.reason) == (("Spam",), "screening", "It is advertising.")
    after = bench.services.projects.get_progress(bench.slug)
    assert after.items == before.items - 1
    assert len(bench.services.exports.get_judgments(bench.slug)) == len(judgments)  # type: ignore[arg-type]
    bench.check()
    again = bench.services.gold.suggest(bench.slug, consensus, 99)
    assert found.item not in {one.item for one in again}
    with refused("gold-already"):
        bench.services.gold.approve(bench.slug, found.item, accepted=["Spam"])
    with pytest.raises(NotFound):
        bench.services.gold.approve(bench.slug, "nowhere", accepted=["Spam"])
    with pytest.raises(AdjudgeError, match="'Nonsense' is not on the scale"):
        bench.services.gold.approve(bench.slug, again[0].item, accepted=["Nonsense"])


def test_an_approval_waits_for_answers_before_it_locks_the_item(postgresql: Database) -> None:
    bench = Bench(postgresql, made_project(topics=2, golds=8, training=False))
    judge = bench.arrive().judge
    item = "t0d0"
    row = sa.select(schema.items.c.id).where(schema.items.c.name == item)
    with ThreadPoolExecutor(1) as pool:
        with postgresql.engine.begin() as on:
            lock_judge(on, judge)  # she is answering a page
            done = pool.submit(bench.services.gold.approve, bench.slug, item, accepted=["Spam"])
            with pytest.raises(TimeoutError):
                done.result(0.3)
            on.execute(sa.text("SET LOCAL lock_timeout = '200ms'"))
            assert on.execute(row.with_for_update(key_share=True)).all(), "she waits for nobody"
        assert done.result().golds_added == 1


def test_gold_is_split_by_design_and_judges_are_trained_by_it(database: Database) -> None:
    bench = Bench(database, made_project(topics=4, golds=40, training_pairs=8))
    mix = {"Matching": 3.0, "Spam": 1.0}
    made = bench.services.gold.design(bench.slug, training_mix=mix)
    roles = Counter((row.role, row.accepted[0]) for row in bench.services.gold.get_all(bench.slug))
    assert roles == {
        ("training", "Matching"): 6, ("training", "Spam"): 2,
        ("screening", "Matching"): 4, ("screening", "Spam"): 8,
        ("screening", "Not Matching"): 10, ("screening", "Off Topic"): 10,
    }  # fmt: skip
    assert len(made.training) == 8
    judge = bench.arrive().judge
    shown: Counter[str] = Counter()
    while bench.judging.state(judge).stage == "training":
        page = bench.page(judge)
        shown.update(bench.truths(page).values())
        bench.turn(judge)
    assert shown == {"Matching": 6, "Spam": 2}
    bench.check()


def test_the_forecast_of_a_project_takes_judges_from_those_who_worked(sqlite: Database) -> None:
    bench = Bench(sqlite, made_project(topics=16, golds=40, training_pairs=4))
    # 80 items, 5 judgments, 20 a page: 20 pages; nobody has come, so five judges at least
    assert bench.services.gold.forecast(bench.slug).judges == 5
    assert bench.services.gold.forecast(bench.slug, judges=8).pages_a_judge == 2.5
    dry = bench.arrive("tester", kind="dry-run").judge
    for _ in range(2):
        bench.turn(dry)
    assert bench.services.gold.forecast(bench.slug).judges == 5, "a dry run counts nowhere"
    judge = bench.trained()
    bench.turn(judge)
    assert bench.services.gold.forecast(bench.slug).judges == 20
