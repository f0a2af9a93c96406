"""Further questions on pages without scripts, in the wizard, and over the API."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from adjudge.collect.consensus import refit
from adjudge.collect.values.questions import FurtherQuestion
from sites import Browser, Site, small_project

QUESTIONS = (
    FurtherQuestion(name="freshness", text="How fresh?", labels="Stale < Fresh"),
    FurtherQuestion(name="why", kind="words", text="Why?", required=False),
)


@pytest.fixture
def asked(site: Site) -> tuple[Site, str, Browser]:
    ada = site.set_up()
    made = replace(small_project(training=False, least_golds=50), questions=QUESTIONS)
    return site, site.open_project(made), ada


def everything(judge: Browser, label: str) -> dict[str, str]:
    given = judge.answers()
    return given | {f"answer-{row}-freshness": label for row in judge.rows}


def test_a_judge_answers_every_question_without_scripts(asked: tuple[Site, str, Browser]) -> None:
    site, slug, ada = asked
    for label in ("Fresh", "Stale"):
        judge = site.browser().join(slug)
        first = True
        while judge.is_judging:
            if first:  # with one answer missing nothing is lost
                short = everything(judge, label)
                row = judge.rows[0]
                short.pop(f"answer-{row}-freshness")
                short[f"answer-{row}-why"] = "It looks <new>"
                judge.post(f"/j/{slug}/pages/{judge.page}", expect=422, **short)
                message = f"there is no answer to every question about result {row}."
                assert message in judge.words
                assert judge.text.count(f'value="{label}" checked') == len(judge.rows) - 1
                assert "It looks &lt;new&gt;</textarea>" in judge.text
                first = False
            response = judge.post(f"/j/{slug}/pages/{judge.page}", **everything(judge, label))
            judge.get(response.headers["location"])
            judge.go_on(slug)
    refit._fit_one(site.services, slug, "majority-vote@freshness", with_report=True)
    ada.get(f"/projects/{slug}/results?question=freshness&model=majority-vote")
    assert "How fresh?" in ada.words
    assert re.search(r'class="label-of ">(Stale|Fresh)<', ada.text)
    ada.get(f"/projects/{slug}/results/report?model=majority-vote&question=freshness")
    assert "Lamps: freshness" in ada.words
    ada.get(f"/projects/{slug}/results/export?question=freshness")
    links = re.findall(r'href="(/projects/[^"]+/export/[^"]+question=freshness)"', ada.text)
    assert len(links) > 5
    for link in links:
        response = ada.client.get(link.replace("&amp;", "&"))
        assert response.status_code == 200, (link, response.text)
    table = ada.client.get(f"/projects/{slug}/results/export/labels-consensus?model=majority-vote"
                           "&question=freshness")  # fmt: skip
    assert "freshness" in table.headers["content-disposition"]
    assert set(re.findall(r"Stale|Fresh|Good|Bad", table.text)) <= {"Stale", "Fresh"}
    ada.get(f"/projects/{slug}/results?question=colour", expect=404)
    ada.get(f"/projects/{slug}/item?item=q0/d0")
    assert "freshness : Fresh" in ada.words


def test_questions_are_created_in_the_wizard(site: Site) -> None:
    ada = site.set_up()
    slug = site.services.projects.create(small_project()).slug
    ada.get(f"/projects/{slug}/begin")
    form = {
        "do": "questions",
        "q-name": ["freshness", "reason", ""],
        "q-text": ["How fresh?", "", ""],
        "q-kind": ["labels", "words", "labels"],
        "q-labels": ["Stale < Fresh", "left over", ""],
        "q-share": ["1", "0.2", "1"],
        "q-required": ["yes", "no", "yes"],
    }
    ada.post(f"/projects/{slug}/begin", **form)
    found = site.services.projects.get_questions(slug)
    assert [(one.name, one.kind, one.share, one.required) for one in found] == [
        ("freshness", "labels", 1.0, True),
        ("reason", "words", 0.2, False),
    ]
    ada.get(f"/projects/{slug}/begin")
    assert "How fresh?" in ada.words, "the preview is as a judge sees it"
    bad = {**form, "q-labels": ["only one", "", ""]}
    ada.post(f"/projects/{slug}/begin", expect=422, **bad)
    assert "two labels at least" in ada.words
