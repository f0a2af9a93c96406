"""Further questions and members in a real browser: by keys alone, and without scripts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from adjudge.collect.values.questions import FurtherQuestion
from sites import PASSWORD, Site, small_project
from visitors import Visitors, arrive, check, check_again, fits, follow, send

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


def test_every_question_is_answered_without_scripts(site: Site, visitors: Visitors) -> None:
    slug = project(site)
    page = visitors.come(
        java_script_enabled=False, viewport={"width": 360, "height": 740}, color_scheme="dark"
    )
    page.goto(f"{site.url}/j/{slug}")
    follow(page.get_by_role("button", name="I agree, begin"))
    rows = page.locator(".result").count()
    for number in range(1, rows + 1):
        page.locator(f"[name=label-{number}]").first.check()
        if number > 1:
            page.locator(f"[name=answer-{number}-freshness][value=Stale]").check()
        page.locator(f"[name=answer-{number}-why]").fill("Seen")
    follow(page.get_by_role("button", name="Send this page"))
    expect(page.get_by_text("there is no answer to every question about result 1.")).to_be_visible()
    page.locator("[name=answer-1-freshness][value=Fresh]").check()
    follow(page.get_by_role("button", name="Send this page"))
    table = site.services.exports.get_table(slug)
    assert table["answer_freshness"].to_pylist().count("Fresh") == 1
    assert set(table["answer_why"].to_pylist()) == {"Seen"}


def test_a_reviewer_sees_what_they_may(site: Site, visitors: Visitors) -> None:
    site.set_up()
    slug = project(site)
    later = datetime.now(UTC) + timedelta(days=1)
    link = site.services.members.invite(slug, "reviewer", note="Grace", expires=later)
    page = visitors.come(color_scheme="dark")
    page.goto(f"{site.url}/member/{link.link}")
    check(page, "join-dark")
    page.get_by_label("Name").fill("grace")
    page.get_by_label("Password", exact=False).first.fill(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)
    page.get_by_role("button", name="Make the account and join").focus()
    send(page)
    expect(page.get_by_text("you are a reviewer")).to_be_visible()
    expect(page.get_by_role("button", name="Try it out")).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    expect(page.get_by_text("Add or change items and gold")).to_be_hidden()
    for path in ("/members", "/judges", "/settings", "/consensus", "/export"):
        page.goto(f"{site.url}/projects/{slug}{path}")
        (check if path == "/settings" else check_again)(
            page, f"reviewer{path.replace('/', '-')}-dark"
        )
    page.goto(f"{site.url}/projects/{slug}/settings")
    expect(page.get_by_role("button", name="Change the policy")).to_be_hidden()
    expect(page.locator("#judgments_per_item")).to_be_disabled()
    ada = visitors.come(viewport={"width": 360, "height": 740})
    ada.goto(f"{site.url}/login")
    ada.get_by_label("Name").fill("ada")
    ada.get_by_label("Password").fill(PASSWORD)
    ada.get_by_role("button", name="Log in").click()
    ada.wait_for_url("**/projects")
    ada.goto(f"{site.url}/projects/{slug}/settings/members")
    fits(ada, "members-phone", check_again)
    assert not visitors.said
