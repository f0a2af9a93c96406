"""A full run in a real browser: judges who use only the keyboard, a requester who watches."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from sites import PASSWORD, REASON, Site
from visitors import (
    Visitors,
    arrive,
    begin,
    check,
    follow,
    judge,
    open_row,
    other,
    right_keys,
    train,
)

pytestmark = pytest.mark.slow

POLICY = {"queries": 12, "screening_golds": 2, "judgments_per_item": 2, "max_pages": 2}


def test_a_judge_is_trained_misses_is_warned_and_blocked_and_the_requester_undoes_it(
    site: Site, visitors: Visitors, tmp_path: Path
) -> None:
    slug = site.open_project(**{**POLICY, "max_pages": 9})
    token = site.services.accounts.make_setup_token()
    page = visitors.come()
    page.goto(f"{site.url}/j/{slug}")
    check(page, "welcome")
    begin(page, site, slug)
    check(page, "training")
    train(page, mistakes=1)
    page.wait_for_url(f"**/j/{slug}/pages/*")
    expect(page.get_by_role("heading", name="How the training went")).to_be_visible()
    expect(page.get_by_text("You passed the training.")).to_be_visible()
    check(page, "trained")
    page.get_by_role("link", name="Go on").press("Enter")
    arrive(page, "work")
    check(page, "work")
    judge(page, wrong=True)
    page.wait_for_url(f"**/j/{slug}/pages/*")
    expect(page.get_by_text(REASON).first).to_be_visible()
    page.get_by_text("I disagree").first.press("Enter")
    check(page, "missed")
    page.get_by_label("Why is your answer right?").first.fill("I saw it shine.")
    page.get_by_role("button", name="Send").first.press("Enter")
    expect(page.get_by_text("You disagreed.").first).to_be_visible()
    page.get_by_role("link", name="Go on").press("Enter")
    expect(page.get_by_text("This is a warning.")).to_be_visible()
    expect(page.get_by_text("Say Good of a good lamp")).to_be_visible()
    check(page, "warned")
    page.get_by_role("button", name="I have read them, go on").press("Enter")
    judge(page, wrong=True)
    page.wait_for_url(f"**/j/{slug}/pages/*")
    page.get_by_role("link", name="See how it ended").press("Enter")
    expect(page.get_by_role("heading", name="Your work here has ended")).to_be_visible()
    expect(page.locator("#completion")).to_have_text("BLOCKED-1")
    check(page, "blocked")

    ada = visitors.come(accept_downloads=True)
    ada.goto(f"{site.url}/setup/{token}")
    check(ada, "setup")
    ada.get_by_label("Name").fill("ada")
    ada.get_by_label("Password", exact=False).first.fill(PASSWORD)
    ada.get_by_label("The same password again").fill(PASSWORD)
    ada.get_by_role("button", name="Set up").click()
    ada.get_by_role("link", name="Lamps").click()
    expect(ada.get_by_text("judged by blocked judges only")).to_be_visible()
    follow(ada.get_by_role("navigation", name="Project").get_by_role("link", name="Judges"))
    open_row(ada)
    ada.get_by_role("button", name="Unblock").click()
    expect(ada.get_by_text("The judge is unblocked")).to_be_visible()
    ada.goto(f"{site.url}/projects/{slug}/results/export")
    ada.locator("#more summary").click()
    with ada.expect_download() as download:
        ada.get_by_role("link", name="in format answers", exact=False).first.click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert len(text.splitlines()) > 12

    # The judge goes on where she was, while the requester's page counts by itself.
    ada.clock.install()
    ada.goto(f"{site.url}/projects/{slug}")
    before = ada.locator("#progress").inner_text()
    page.goto(f"{site.url}/j/{slug}")
    judge(page)
    ada.clock.fast_forward("00:05")  # after which it asks again
    ada.wait_for_function(
        "before => document.getElementById('progress').innerText !== before", arg=before
    )


def test_a_reload_a_crash_and_a_lost_connection_lose_nothing(
    site: Site, visitors: Visitors
) -> None:
    slug = site.open_project(**POLICY)
    page = visitors.come()
    begin(page, site, slug)
    train(page)
    page.get_by_role("link", name="Go on").press("Enter")
    arrive(page, "work")
    keys = right_keys(page)
    for key in keys[:3]:
        page.keyboard.press(key)
    page.keyboard.press("m")
    page.keyboard.type("half a thought")
    page.reload()
    expect(page.locator("input:checked")).to_have_count(3)
    expect(page.locator("textarea").nth(3)).to_have_value("half a thought")
    page.keyboard.press("Escape")
    for key in right_keys(page):
        page.keyboard.press(key)
    page.context.set_offline(True)
    page.keyboard.press("Enter")
    expect(page.get_by_text("The connection is lost.")).to_be_visible()
    check(page, "offline")
    assert site.services.projects.get_progress(slug).trusted == 0
    page.context.set_offline(False)
    page.wait_for_function("() => document.body.innerText.includes('6 judged')", timeout=120_000)
    assert site.services.projects.get_progress(slug).trusted > 0


def test_on_a_phone_labels_are_tapped(site: Site, visitors: Visitors) -> None:
    slug = site.open_project(**POLICY)
    phone = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2}
    page = visitors.come(**phone, is_mobile=True, has_touch=True)
    page.goto(f"{site.url}/j/{slug}")
    page.get_by_role("button", name="I agree, begin").tap()
    arrive(page, "training")
    for place, key in enumerate(right_keys(page)):
        row = page.locator(".result").nth(place)
        row.locator("label").nth(int(key if place else other(key)) - 1).tap()
        expect(row.locator(".feedback")).to_be_visible()
        if not place:
            check(page, "phone-feedback")
    page.get_by_role("button", name="Send this page").tap()
    page.get_by_role("link", name="Go on").tap()
    arrive(page, "work")
    check(page, "phone-work")
    box = page.locator(".choices label").first.bounding_box()
    assert box is not None
    assert box["height"] >= 44, "large enough for a thumb"
