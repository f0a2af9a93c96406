"""A participant of a panel in a real browser: a refresher, and the way back with the code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from sites import LABELS, REASON, Site, served
from visitors import PATIENCE, arrive, find_faults, follow, send

pytestmark = pytest.mark.slow

SHOTS = os.environ.get("ADJUDGE_SHOTS")  # a folder, where somebody wants to look at the pages
BACK = "https://panel.example/done?cc={code}&who={PROLIFIC_PID}&session={SESSION_ID}"


@pytest.fixture
def lamps(tmp_path: Path) -> Iterator[Site]:
    with served(tmp_path) as running:
        yield running


def looked_at(page: Page, name: str) -> None:
    """No serious fault of accessibility, and a picture for who wants one."""
    assert find_faults(page) == []
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def press_all(page: Page, kind: str, *, wrong: int = 0) -> None:
    """Answer a page by keys, the first ones wrong, and send it."""
    arrive(page, kind)
    rows = page.locator(".result")
    for place in range(rows.count()):
        good = ("good" in rows.nth(place).locator("h3").inner_text()) is not (place < wrong)
        page.keyboard.press(str(1 + LABELS.index("Good" if good else "Bad")))
        if kind == "training":
            told = rows.nth(place).locator(".told")
            expect(told).to_be_visible()
            if place < wrong:
                expect(told).to_contain_text(REASON)
                page.keyboard.press("Enter")  # the button "Next result" has the focus
    expect(page.get_by_role("button", name="Send this page")).to_be_focused()
    send(page)


def test_a_participant_is_refreshed_and_goes_back_with_her_code(
    lamps: Site, browser: Browser
) -> None:
    slug = lamps.open_project(
        queries=12, golds=40, screening_golds=2, least_golds=50, max_pages=2, return_link=BACK,
        warn_below=0.0, block_below=0.0,
        panel="prolific", pay_failed="0.30", refresher_pairs=4, refresher_after=2,
    )  # fmt: skip
    context = browser.new_context(viewport={"width": 1100, "height": 850})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{lamps.url}/j/{slug}?PROLIFIC_PID=p-1&STUDY_ID=s&SESSION_ID=x%2Fy")
    expect(page.get_by_text("is paid 0.30 USD for the time.")).to_be_visible()
    looked_at(page, "panel-welcome")
    follow(page.get_by_role("button", name="I agree, begin"))
    press_all(page, "training")
    follow(page.get_by_role("link", name="Go on"))
    press_all(page, "work", wrong=9)
    follow(page.get_by_role("link", name="Go on"))
    notice = page.get_by_text("A short refresher.")
    expect(notice).to_be_visible()
    looked_at(page, "refresher")
    press_all(page, "training", wrong=1)
    expect(page.get_by_role("heading", name="How the refresher went")).to_be_visible()
    expect(page.get_by_text("3 of 4 answers on this page were right.")).to_be_visible()
    looked_at(page, "refreshed")
    follow(page.get_by_role("link", name="Go on"))
    press_all(page, "work")
    expect(page.locator("#completion")).to_have_text("DONE-1")
    looked_at(page, "panel-end")
    page.route("https://panel.example/**", lambda route: route.fulfill(body="thank you"))
    page.get_by_role("link", name="Go back to the panel").click()
    page.wait_for_url("https://panel.example/**")
    assert page.url == "https://panel.example/done?cc=DONE-1&who=p-1&session=x%2Fy"
    if SHOTS:
        ada = lamps.set_up()
        cookie = ada.client.cookies["adjudge_session"]
        context.add_cookies([{"name": "adjudge_session", "value": cookie, "url": lamps.url}])
        judge = lamps.services.judges.get_all(slug)[0].judge
        for name, path in (("", ""), ("judge", f"/judges/{judge}"), ("arms", "/arms")):
            page.goto(f"{lamps.url}/projects/{slug}{path}")
            looked_at(page, f"panel-requester-{name}")
        page.goto(f"{lamps.url}/projects/{slug}/settings")
        looked_at(page, "panel-settings")
    context.close()
    assert not said
