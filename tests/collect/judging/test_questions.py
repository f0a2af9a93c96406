"""Further questions: asked, required, stored, exported and fitted, on both databases."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.collect.consensus import refit
from adjudge.collect.services.archive import read_archive
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import CANNOT_JUDGE, LONGEST_COMMENT, Answer, Page
from adjudge.collect.values.questions import FurtherQuestion, read_questions
from adjudge.errors import BadSetting, Refused, UnknownName
from collecting import Bench, made_project

FRESH = FurtherQuestion(name="freshness", text="How fresh is it?", labels="Stale < Fresh")
WHY = FurtherQuestion(name="why", kind="words", text="Why?", share=0.4)
SURE = FurtherQuestion(name="sure", kind="confidence", required=False)


@pytest.fixture
def bench(database: Database) -> Bench:
    made = made_project(topics=6, golds=12, judgments_per_item=2, training=False, least_golds=50)
    return Bench(database, replace(made, questions=(FRESH, WHY, SURE)))


def answered(bench: Bench, page: Page, *, label: str = "Fresh", sure: str = "") -> list[Answer]:
    """Every question of every row answered."""
    by_name = {"freshness": label, "why": " I looked. ", "sure": sure}
    asked = {row.row: row.asked for row in page.rows}
    return [
        replace(one, answers={name: by_name[name] for name in asked[one.row] if by_name[name]})
        for one in bench.answers(page)
    ]


def sent(bench: Bench, key: str, *, label: str, sure: str = "", most: int = 100) -> None:
    judge = bench.trained(key)
    while most and (page := bench.judging.page(judge)) is not None:
        given = answered(bench, page, label=label, sure=sure)
        bench.judging.submit(judge, page.page, page.key, given)
        most -= 1


def test_a_page_shows_the_question_and_accepts_no_other_answer(bench: Bench) -> None:
    judge = bench.trained("anna")
    page = bench.page(judge)
    assert [(one.name, one.labels, one.required) for one in page.questions] == [
        ("freshness", ("Stale", "Fresh"), True),
        ("why", (), True),
        ("sure", ("Guessing", "Fairly sure", "Sure"), False),
    ]
    assert all({"freshness", "sure"} <= set(row.asked) for row in page.rows)
    bare = bench.answers(page)
    with pytest.raises(Refused) as refused:
        bench.judging.submit(judge, page.page, page.key, bare)
    assert refused.value.code == "rows-missing"
    assert refused.value.evidence["rows"] == [row.row for row in page.rows]
    shown = bench.page(judge)
    assert [one.label for one in shown.answers] == [one.label for one in bare], "nothing is lost"
    for answers, words in (
        ({"freshness": "Rotten"}, "row 1, freshness: 'Rotten' is not one of the labels"),
        ({"colour": "red"}, "row 1, colour: there is no such question"),
        (
            {"why": "x" * (LONGEST_COMMENT + 1)},
            "row 1, why: an answer has at most 2,000 characters",
        ),
    ):
        wrong = [replace(bare[0], answers=answers), *bare[1:]]
        with pytest.raises(Refused, match=words):
            bench.judging.submit(judge, page.page, page.key, wrong)
    given = answered(bench, page)
    assert bench.judging.save(judge, page.page, given) == len(given)
    kept = bench.page(judge)
    assert kept.answers == tuple(given)
    unable = [replace(given[0], label=CANNOT_JUDGE, answers={}), *given[1:]]
    assert bench.judging.submit(judge, page.page, page.key, unable).stored == len(given)
    bench.check()


def test_a_share_of_the_items_is_the_same_for_every_judge(bench: Bench) -> None:
    asked: dict[str, set[str]] = {}
    for key in ("anna", "berta"):
        sent(bench, key, label="Fresh")
    table = bench.services.exports.get_table(bench.slug)
    for item, why in zip(table["item"].to_pylist(), table["answer_why"].to_pylist(), strict=True):
        asked.setdefault(item, set()).add("" if why is None else why)
    assert all(len(said) == 1 for said in asked.values())
    share = sum(said == {" I looked. "} or said == {"I looked."} for said in asked.values())
    assert 0 < share < len(asked)


@given(st.floats(0.01, 1.0), st.integers(0, 2**53))
def test_a_share_is_about_the_share(share: float, seed: int) -> None:
    question = FurtherQuestion(name="why", kind="words", share=share)
    count = sum(question.is_asked(seed, item) for item in range(2_000))
    assert abs(count / 2_000 - share) < 0.08  # seven standard deviations


def test_answers_are_exported_and_fitted_by_question(bench: Bench, tmp_path: Path) -> None:
    sent(bench, "anna", label="Fresh", sure="Sure")
    sent(bench, "berta", label="Stale")
    exports = bench.services.exports
    table = exports.get_table(bench.slug)
    assert pc.value_counts(table["answer_freshness"]).to_pylist() == [
        {"values": "Fresh", "counts": len(table) // 2},
        {"values": "Stale", "counts": len(table) // 2},
    ]
    assert set(table["answer_sure"].to_pylist()) == {"Sure", None}
    first = exports.get_judgments(bench.slug)
    fresh = exports.get_judgments(bench.slug, question="freshness")
    assert first is not None
    assert fresh is not None
    assert fresh.scale.labels == ("Stale", "Fresh")
    assert fresh.scale.ordinal
    assert len(fresh) == len(first)
    out = io.BytesIO()
    exports.write(bench.slug, "judgments-csv", out, question="freshness")
    assert b"Stale" in out.getvalue()
    assert b"Matching" not in out.getvalue()
    with pytest.raises(UnknownName, match="freshness"):
        exports.get_judgments(bench.slug, question="freshnes")
    with pytest.raises(Refused, match="not answered with labels"):
        exports.get_judgments(bench.slug, question="why")
    services = bench.services
    fit = refit._fit_one(services, bench.slug, "majority-vote@freshness")
    assert (fit.state, fit.question) == ("ready", "freshness")
    rows = refit.read_labels(services, bench.slug, "majority-vote", 0, question="freshness")
    assert {row["label"] for row in rows} <= {"Stale", "Fresh"}
    assert {round(row["probability"], 6) for row in rows if row["judgments"] == 2} == {0.5}
    assert refit.read_labels(services, bench.slug, "majority-vote", 0) == []
    assert refit.list_fits(services, bench.slug) == []
    assert (bench.slug, "item-types@freshness") in refit.find_due(services)
    labels = refit.read_table(services, bench.slug, "majority-vote", question="freshness")
    out = io.BytesIO()
    exports.write(bench.slug, "labels-consensus", out, labels=labels, question="freshness")
    assert out.getvalue().count(b"\n") == len(rows) + 1
    offers = exports.get_offers(bench.slug, labels, question="freshness")
    assert {one.name: one.problem for one in offers.offers}["judgments-csv"] == ""
    path = tmp_path / "full.zip"
    with path.open("wb") as file:
        exports.write(bench.slug, "archive", file)
    assert read_archive(path).questions == (FRESH, WHY, SURE)


def test_questions_are_changed_until_somebody_has_judged(bench: Bench) -> None:
    projects = bench.services.projects
    projects.set_questions(bench.slug, [FRESH])
    assert projects.get_questions(bench.slug) == (FRESH,)
    assert projects.read(bench.slug).questions == (FRESH,)
    with pytest.raises(BadSetting, match="a name that no other question has"):
        projects.set_questions(bench.slug, [FRESH, FRESH])
    sent(bench, "anna", label="Fresh", most=1)
    with pytest.raises(Refused, match="answered these questions already"):
        projects.set_questions(bench.slug, [])


def test_a_model_may_leave_further_questions(bench: Bench) -> None:
    view = bench.arrive("llm", channel="api", kind="model")
    bench.judging.consent(view.judge)
    page = bench.page(view.judge)
    outcome = bench.judging.submit(view.judge, page.page, page.key, bench.answers(page))
    assert outcome.stored == len(page.rows)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "Fresh ness"}, "question = 'Fresh ness'"),
        ({"name": "label", "labels": "a,b"}, "question = 'label'"),
        ({"name": "q", "labels": "one"}, "two labels at least"),
        ({"name": "q", "kind": "grades"}, "kind of question 1"),
        ({"name": "q", "labels": "a,b", "share": 0}, "more than 0, at most 1"),
        ({"name": "q", "labels": "a,b", "share": "half"}, "share of question 1"),
        ({"name": "q", "kind": "words", "labels": "a,b"}, "none: it is asked in words"),
        ({"name": "q", "labels": "a,b", "needed": True}, "needed of question 1"),
        ({"name": "q", "labels": "a,b", "required": "no"}, "required of question 1"),
        ("freshness", " of question 1"),
        ({"text": "Which?"}, "name of question 1"),
    ],
)
def test_a_bad_question_is_named(given: object, words: str) -> None:
    with pytest.raises(BadSetting, match=words):
        read_questions([given])
