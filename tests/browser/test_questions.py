"""Further questions and members in a real browser: by keys alone, and without scripts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from adjudge.collect.values.questions import FurtherQuestion
from sites import Site, small_project
from visitors import Visitors, arrive, check, send

pytestmark = pytest.mark.slow

QUESTIONS = (
    FurtherQuestion(name="freshness", text="How fresh is it?", labels="Stale < Fresh"),
    FurtherQuestion(name="why", kind="words", text="Why?"),
    FurtherQuestion(name="sure", kind="confidence", text="How sure are you?", required=False),
)


def project(site: Site) -> str:
    made = small_project(training=False, least_golds=50, judgments_per_item=1, queries=2)
    return site.open_project(replace(made, questions=QUESTIONS))


def come(page: Page, site: Site, slug: str) -> None:
    page.goto(f"{site.url}/j/{slug}")
    page.get_by_role("button", name="I agree, begin").press("Enter")
    arrive(page, "work")


def test_every_question_is_answered_by_keys_alone(site: Site, visitors: Visitors) -> None:
    slug = project(site)
    page = visitors.come()
    come(page, site, slug)
    check(page, "questions-work")
    rows = page.locator(".result").count()
    for number in range(rows):
        page.keyboard.press("1")  # the label
        page.keyboard.press("2")  # Fresh
        if number == 1:
            page.keyboard.press("Escape")  # words cannot be left, but gone past
            page.keyboard.press("3")
            continue
        page.keyboard.type("It says 2 of 3")
        page.keyboard.press("Escape")
        page.keyboard.press("3")  # Sure
    expect(page.locator("#count")).to_have_text(f"{rows - 1} of {rows} answered")
    expect(page.locator("textarea[name=answer-2-why]")).to_be_focused()
    page.keyboard.type("Because")
    page.reload()  # what was answered is kept
    expect(page.locator("textarea[name=answer-2-why]")).to_have_value("Because")
    expect(page.locator("#count")).to_have_text(f"{rows} of {rows} answered")
    send(page)
    table = site.services.exports.get_table(slug)
    assert set(table["answer_freshness"].to_pylist()) == {"Fresh"}
    assert sorted(set(table["answer_why"].to_pylist())) == ["Because", "It says 2 of 3"]
    assert set(table["answer_sure"].to_pylist()) == {"Sure"}
    assert not visitors.said
