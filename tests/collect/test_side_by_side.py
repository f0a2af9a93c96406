"""Two results side by side: random sides, answers as the pair is stored, a ranking."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from adjudge.collect.consensus import refit
from adjudge.collect.consensus.reports import read_ranking, read_ranking_report
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer, Page
from adjudge.collect.values.project import Item, OtherResult
from adjudge.collect.values.sides import PAIR_SCALE_WITHOUT_TIES, mirror, toss
from adjudge.data.comparisons import Comparisons
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting, Refused
from adjudge.models.pairs.bradley_terry import BradleyTerry
from collecting import Bench, made_item, sqlite_first
from compared import ENGINES, better, paired_project, pairs_csv, read_pairs


def seen(page: Page) -> dict[int, str]:
    """The better side of each row, as it is shown."""
    found = {}
    for row in page.rows:
        assert row.beside is not None
        found[row.row] = better(row.text, row.beside.text)
    return found


def work(bench: Bench, key: str, *, wrong: bool = False) -> int:
    """One judge who answers all they are given by what they see; how many pages."""
    judge, pages = bench.arrive(key).judge, 0
    while (page := bench.judging.page(judge)) is not None:
        answers = [Answer(row=r, label=mirror(side, wrong)) for r, side in seen(page).items()]
        bench.judging.submit(judge, page.page, page.key, answers)
        pages += 1
    return pages


def test_a_coin_sets_the_sides_and_answers_are_stored_as_the_pair_is(database: Database) -> None:
    bench = Bench(database, paired_project())
    for key in ("anna", "ben"):
        work(bench, key)
    with database.read() as on:
        rows = on.execute(
            sa.select(schema.judgments.c.label, schema.judgments.c.swapped, schema.judgments.c.gold,
                      schema.judgments.c.right, schema.items.c.text, schema.items.c.beside)
            .join(schema.items, schema.items.c.id == schema.judgments.c.item)
            .where(schema.judgments.c.project == bench.project)
        ).all()  # fmt: skip
    assert len([row for row in rows if row.gold is None]) == 2 * 4 * 10
    assert all(row.label == better(row.text, row.beside["text"]) for row in rows)
    assert all(row.right for row in rows if row.gold is not None)
    swapped = np.mean([row.swapped for row in rows])
    assert 0.3 < swapped < 0.7


def test_the_coin_is_even_and_the_same_for_the_same_page() -> None:
    tossed = np.concatenate([toss(7, judge, page, 25) for judge in range(40) for page in range(8)])
    assert abs(tossed.mean() - 0.5) < 0.03
    assert toss(7, 3, 2, 25).tolist() == toss(7, 3, 2, 25).tolist()
    assert toss(7, 3, 2, 25).tolist() != toss(8, 3, 2, 25).tolist()


def test_a_reload_shows_the_same_sides_with_the_saved_answers(database: Database) -> None:
    bench = Bench(database, paired_project())
    judge = bench.arrive().judge
    page = bench.page(judge)
    expected = seen(page)
    bench.judging.save(judge, page.page, [Answer(row=r, label=s) for r, s in expected.items()])
    again = bench.page(judge)
    assert again.groups == page.groups
    assert {answer.row: answer.label for answer in again.answers} == expected
    answers = [Answer(row=row, label=side) for row, side in expected.items()]
    bench.judging.submit(judge, page.page, page.key, answers)
    repeated = bench.judging.submit(judge, page.page, page.key, answers)
    assert (repeated.again, repeated.differing) == (True, 0)


@sqlite_first
def test_feedback_on_gold_names_the_sides_that_were_seen(database: Database) -> None:
    bench = Bench(database, paired_project(training=True, training_pairs=8, training_pass=0.5))
    judge = bench.arrive().judge
    page = bench.page(judge)
    assert page.kind == "training"
    for row, side in seen(page).items():
        outcome = bench.judging.answer_training(judge, page.page, row, mirror(side))
        (graded,) = outcome.feedback
        assert (graded.given, graded.accepted, graded.right) == (mirror(side), (side,), False)
        assert graded.of_pairs
    assert bench.judging.answered(judge, page.page).answers  # as shown, and not as stored
    shown = {a.row: a.label for a in bench.judging.answered(judge, page.page).answers}
    assert shown == {row: mirror(side) for row, side in seen(page).items()}


def test_who_is_wrong_on_gold_pairs_is_blocked_as_anywhere(database: Database) -> None:
    bench = Bench(database, paired_project(queries=8, screening_golds=1, screening_pairs=2))
    work(bench, "rogue", wrong=True)
    (row,) = bench.services.judges.get_all(bench.slug)
    assert row.stage == "blocked"
    assert bench.services.exports.get_comparisons(bench.slug) is None  # none is trusted
    every = bench.services.exports.get_comparisons(bench.slug, trusted=False)
    assert every is not None
    assert len(every)


@sqlite_first
def test_the_export_is_read_back_and_ranks_the_engines(database: Database, tmp_path: Path) -> None:
    bench = Bench(database, paired_project())
    for key in ("anna", "ben"):
        work(bench, key)
    path = tmp_path / "comparisons.csv"
    with path.open("wb") as file:
        bench.services.exports.write(bench.slug, "comparisons", file)
    back = Comparisons.read(path)
    own = bench.services.exports.get_comparisons(bench.slug)
    assert own is not None
    assert back.to_table().equals(own.to_table())
    assert (len(back), back.item_count, back.judge_count) == (80, ENGINES, 2)
    assert {0, 1} == set(back.shown_first.tolist())
    ranking = BradleyTerry().fit(back).ranking
    assert ranking["item"].to_pylist() == [f"engine {n}" for n in reversed(range(ENGINES))]


@sqlite_first
def test_a_fit_keeps_the_ranking_and_its_report(database: Database) -> None:
    bench = Bench(database, paired_project(gold_before_closing=False))
    for key in ("anna", "ben"):
        work(bench, key)
    assert read_ranking(bench.services, bench.slug) is None
    assert refit._fit_one(bench.services, bench.slug, refit.DEFAULT).state == "ready"
    kept = read_ranking(bench.services, bench.slug)
    assert kept is not None
    assert [row["item"] for row in kept.rows] == [f"engine {n}" for n in reversed(range(ENGINES))]
    assert kept.comparisons == 80
    assert [row["agreement"] for row in kept.judges] == [1.0, 1.0]
    assert "agree more than the other judges explain" in "".join(kept.notes)
    assert "--family" not in "".join(kept.notes), "a page has no options of a command"
    report = read_ranking_report(bench.services, bench.slug)
    assert report is not None
    assert "engine 4" in report.html
    assert "--family" not in report.html


def test_an_adaptive_project_asks_what_is_most_informative_about_the_ranking(
    database: Database,
) -> None:
    project = paired_project(queries=6, closing="adaptive", least_judgments=1, most_judgments=3)
    bench = Bench(database, project)
    judge = bench.arrive("anna").judge
    for _ in range(4):
        page = bench.page(judge)
        answers = [Answer(row=row, label=side) for row, side in seen(page).items()]
        bench.judging.submit(judge, page.page, page.key, answers)
    refit._fit_one(bench.services, bench.slug, refit.DEFAULT)
    with database.read() as on:
        rows = on.execute(
            sa.select(schema.items.c.document, schema.items.c.beside)
            .where(schema.items.c.project == bench.project, schema.items.c.state == "open",
                   schema.items.c.gold.is_(False))
            .order_by(schema.items.c.rank)
        ).all()  # fmt: skip
    apart = [abs(int(row.document[-1]) - int(row.beside["document"][-1])) for row in rows]
    assert np.mean(apart[: len(apart) // 2]) < np.mean(apart[len(apart) // 2 :])


def test_pairs_and_single_results_do_not_mix(sqlite: Database) -> None:
    bench = Bench(sqlite, paired_project())
    single = made_item("alone", "t1")
    with pytest.raises(BadData, match="this project is of pairs, and these items are not"):
        bench.services.projects.add_items(bench.slug, (single,), ())
    pair = bench.value.items[0]
    with pytest.raises(BadData, match="'alone' has only one result, and the others have two"):
        bench.services.projects.create(replace(bench.value, items=(pair, single), golds=()))
    wrong = replace(bench.value, scale=Scale(labels=("Good", "Bad")), golds=())
    with pytest.raises(BadData, match="pairs are judged by left, tie and right"):
        bench.services.projects.create(wrong)
    plain = Bench(sqlite)
    with pytest.raises(BadData, match="pairs are judged by left, tie and right"):
        plain.services.projects.add_items(plain.slug, (pair,), ())
    with pytest.raises(BadData, match="are no pairs"):
        plain.services.exports.write(plain.slug, "comparisons", io.BytesIO())


def test_ties_can_be_refused_and_other_labels_cannot_be_set(sqlite: Database) -> None:
    bench = Bench(sqlite, paired_project())
    with pytest.raises(BadSetting, match="left, right and perhaps tie: items are pairs"):
        bench.services.projects.set_scale(bench.slug, Scale(labels=("Good", "Bad")))
    bench.services.projects.set_scale(bench.slug, PAIR_SCALE_WITHOUT_TIES)
    judge = bench.arrive().judge
    page = bench.page(judge)
    assert page.labels == ("left", "right")
    answers = [Answer(row=row.row, label="tie") for row in page.rows]
    with pytest.raises(Refused, match="'tie' is not one of the labels"):
        bench.judging.submit(judge, page.page, page.key, answers)


def test_pairs_of_a_file() -> None:
    found = read_pairs(pairs_csv(queries=1, golds=2)).check()
    first = found.items[0]
    assert first == Item(
        name=f"{first.topic}/engine 1/engine 0",
        topic=first.topic,
        query="lamp number 0",
        document="engine 1",
        text="Worth 1 of 4 for lamp number 0",
        beside=OtherResult(document="engine 0", text="Worth 0 of 4 for lamp number 0"),
    )
    assert [gold.accepted for gold in found.golds] == [("left",), ("right",)]


def test_texts_are_not_taken_for_systems_without_a_question() -> None:
    texts = "query,left,right\n" + "".join(f"q{n},text {n},other {n}\n" for n in range(20))
    (fault,) = read_pairs(texts).errors
    assert (fault.code, fault.line) == ("systems-or-texts", 1)
    by_hand = {"left": "left_text", "right": "right_text"}
    found = read_pairs(texts, columns=by_hand).check()
    assert found.items[0].text == "text 0"
    systems = "query,left,right\n" + "".join(f"q{n},engine A,engine B\n" for n in range(20))
    assert len(read_pairs(systems).check().items) == 20


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("q,same,same,", "same-result"),
        ("q,,other,", "missing-result"),
        ("q,one,two,both of them", "label-off-scale"),
    ],
)
def test_bad_pairs_are_named(row: str, code: str) -> None:
    found = read_pairs(f"query,left,right,gold\n{row}\n")
    assert (found.errors[0].line, found.errors[0].code) == (2, code)
    twice = read_pairs("query,left,right\nq,a,b\nq,a,b\n")
    assert twice.errors[0].code == "repeated-item"
