"""The requester's pages in a real browser: on a desk and a phone, in light and in dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from sites import PASSWORD, Site, small_project
from visitors import Visitors, check, fits

pytestmark = pytest.mark.slow


def log_in(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/login")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/projects")


def worked(site: Site) -> str:
    """A project that two judges have finished."""
    slug = site.open_project(small_project(judgments_per_item=2, training=False, least_golds=50))
    site.services.judges.invite(slug, ["Grace Hopper", "Alan Turing"])
    for _ in range(2):
        judge = site.browser().join(slug)
        while judge.is_judging:
            judge.answer(slug).go_on(slug)
    return slug


def test_every_page_is_for_everybody(site: Site, visitors: Visitors) -> None:
    site.set_up()
    desk = visitors.come(color_scheme="dark")
    log_in(desk, site)
    check(desk, "look-empty-dark")
    slug = worked(site)
    phone = visitors.come(viewport={"width": 360, "height": 740})
    log_in(phone, site)
    for path in ("", "/judges", "/notices", "/settings"):
        name = path.strip("/") or "overview"
        desk.goto(f"{site.url}/projects/{slug}{path}")
        check(desk, f"look-{name}-dark")
        phone.goto(f"{site.url}/projects/{slug}{path}")
        fits(phone, f"look-{name}-phone")
    judge = site.services.judges.get_all(slug)[0].judge
    desk.goto(f"{site.url}/projects/{slug}/judges/{judge}")
    check(desk, "look-judge-dark")
    desk.goto(f"{site.url}/projects/{slug}")
    expect(desk.get_by_text("Everything is judged.")).to_be_visible()


def test_settings_are_searched_and_judges_chosen(site: Site, visitors: Visitors) -> None:
    site.set_up()
    slug = worked(site)
    page = visitors.come()
    log_in(page, site)
    page.goto(f"{site.url}/projects/{slug}/settings")
    page.get_by_text("Advanced: every other setting").click()
    page.get_by_label("Find a setting").fill("warn")
    expect(page.get_by_label("Warn below")).to_be_visible()
    expect(page.get_by_label("Golds between warning")).to_be_visible()
    expect(page.get_by_label("Currency")).to_be_hidden()
    page.goto(f"{site.url}/projects/{slug}/judges")
    page.locator("input[name=judge]").first.check()
    page.get_by_label("Message, or the reason").fill("Thank you both.")
    page.get_by_role("button", name="Send the message").click()
    expect(page.get_by_text("message not read")).to_have_count(1)
