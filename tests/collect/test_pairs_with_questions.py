"""Further questions about two results side by side, on both databases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adjudge.collect.consensus import refit
from adjudge.collect.consensus.reports import read_ranking
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.errors import BadSetting
from collecting import Bench
from compared import ENGINES, better, paired_project

CLEAR = FurtherQuestion(name="clear", text="Was it clear?", labels="Close < Clear")
WHY = FurtherQuestion(name="why", kind="words", text="Why?", share=0.5)


def test_pairs_are_compared_and_asked_about(database: Database) -> None:
    bench = Bench(database, replace(paired_project(), questions=(CLEAR, WHY)))
    for key in ("anna", "ben"):
        judge = bench.arrive(key).judge
        while (page := bench.judging.page(judge)) is not None:
            answers = []
            for row in page.rows:
                assert row.beside is not None
                side = better(row.text, row.beside.text)
                said = {"clear": "Clear", "why": f"The {side} one is worth more."}
                given = {name: said[name] for name in row.asked}
                answers.append(Answer(row=row.row, label=side, answers=given))
            bench.judging.submit(judge, page.page, page.key, answers)
    table = bench.services.exports.get_table(bench.slug).to_pylist()
    assert {row["answer_clear"] for row in table} == {"Clear"}
    words = [row for row in table if row["answer_why"]]
    assert 0.2 < len(words) / len(table) < 0.8
    assert {row["swapped"] for row in words} == {True, False}
    for row in words:  # what was said of a side is read by how the coin fell
        seen = "left" if "left" in row["answer_why"] else "right"
        assert (seen == row["label"]) is not row["swapped"]
    item = bench.services.items.get(bench.slug, words[0]["item"])
    assert {one.swapped for one in item.judgments} <= {True, False}

    fit = refit._fit_one(bench.services, bench.slug, "majority-vote@clear")
    assert (fit.state, fit.problem) == ("ready", "")
    rows = refit.read_labels(bench.services, bench.slug, "majority-vote", 0, question="clear")
    assert {row["label"] for row in rows} == {"Clear"}
    refit._fit_one(bench.services, bench.slug, refit.DEFAULT)
    ranking = read_ranking(bench.services, bench.slug)
    assert ranking is not None
    best = [f"engine {n}" for n in reversed(range(ENGINES))]
    assert [row["item"] for row in ranking.rows] == best


@pytest.mark.parametrize("labels", ["left, right", "Left < Neither < Right"])
def test_a_question_about_pairs_names_no_side(sqlite: Database, labels: str) -> None:
    asked = FurtherQuestion(name="fresher", labels=labels)
    note = "labels that name no side: each judge sees the two by a coin of their own"
    with pytest.raises(BadSetting, match=note):
        Bench(sqlite, replace(paired_project(), questions=(asked,)))
    bench = Bench(sqlite, paired_project())
    with pytest.raises(BadSetting, match=note):
        bench.services.projects.set_questions(bench.slug, [asked])
    bench.services.projects.set_questions(bench.slug, [CLEAR])
    assert bench.services.projects.get_questions(bench.slug) == (CLEAR,)
