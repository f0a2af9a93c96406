"""A participant of a panel in a real browser: a refresher, and the way back with the code."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from sites import LABELS, REASON, Site
from visitors import Visitors, arrive, check, follow, send

pytestmark = pytest.mark.slow

BACK = "https://panel.example/done?cc={code}&who={PROLIFIC_PID}&session={SESSION_ID}"


def press_all(page: Page, kind: str, *, wrong: int = 0) -> None:
    """Answer a page by keys, the first ones wrong, and send it."""
    arrive(page, kind)
    rows = page.locator(".result")
    for place in range(rows.count()):
        good = ("good" in rows.nth(place).locator("h3").inner_text()) is not (place < wrong)
        page.keyboard.press(str(1 + LABELS.index("Good" if good else "Bad")))
        if kind == "training":
            feedback = rows.nth(place).locator(".feedback")
            expect(feedback).to_be_visible()
            if place < wrong:
                expect(feedback).to_contain_text(REASON)
                page.keyboard.press("Enter")  # the button "Next result" has the focus
    expect(page.get_by_role("button", name="Send this page")).to_be_focused()
    send(page)


def test_a_participant_is_refreshed_and_goes_back_with_a_code(
    site: Site, visitors: Visitors
) -> None:
    slug = site.open_project(
        queries=12, golds=40, screening_golds=2, least_golds=50, max_pages=2, return_link=BACK,
        warn_below=0.0, block_below=0.0,
        panel="prolific", pay_failed="0.30", refresher_pairs=4, refresher_after=2,
    )  # fmt: skip
    page = visitors.come()
    page.goto(f"{site.url}/j/{slug}?PROLIFIC_PID=p-1&STUDY_ID=s&SESSION_ID=x%2Fy")
    expect(page.get_by_text("you get 0.30 USD for your time.")).to_be_visible()
    check(page, "panel-welcome")
    follow(page.get_by_role("button", name="I agree, begin"))
    press_all(page, "training")
    follow(page.get_by_role("link", name="Go on"))
    press_all(page, "work", wrong=9)
    follow(page.get_by_role("link", name="Go on"))
    notice = page.get_by_text("A short refresher.")
    expect(notice).to_be_visible()
    check(page, "refresher")
    press_all(page, "training", wrong=1)
    expect(page.get_by_role("heading", name="How the refresher went")).to_be_visible()
    expect(page.get_by_text("3 of 4 answers on this page were right.")).to_be_visible()
    check(page, "refreshed")
    follow(page.get_by_role("link", name="Go on"))
    press_all(page, "work")
    expect(page.locator("#completion")).to_have_text("DONE-1")
    check(page, "panel-end")
    page.route("https://panel.example/**", lambda route: route.fulfill(body="thank you"))
    page.get_by_role("link", name="Go back to the panel").click()
    page.wait_for_url("https://panel.example/**")
    assert page.url == "https://panel.example/done?cc=DONE-1&who=p-1&session=x%2Fy"
