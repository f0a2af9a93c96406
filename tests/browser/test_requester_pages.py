"""Settings that are searched, and judges that are chosen, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from sites import Site, small_project
from visitors import Visitors, as_logged_in, follow

pytestmark = pytest.mark.slow


def worked(site: Site) -> str:
    """A project that two judges have finished."""
    slug = site.open_project(small_project(judgments_per_item=2, training=False, least_golds=50))
    site.services.judges.invite(slug, ["Grace Hopper", "Alan Turing"])
    for _ in range(2):
        judge = site.browser().join(slug)
        while judge.is_judging:
            judge.answer(slug).go_on(slug)
    return slug


def test_settings_are_searched_and_judges_chosen(site: Site, visitors: Visitors) -> None:
    site.set_up()
    slug = worked(site)
    page = as_logged_in(visitors, site)
    page.goto(f"{site.url}/projects/{slug}")
    expect(page.get_by_text("Everything is judged")).to_be_visible()
    page.goto(f"{site.url}/projects/{slug}/settings")
    page.get_by_label("Find a setting").fill("warn")
    expect(page.get_by_label("Warn below")).to_be_visible()
    expect(page.get_by_label("Gold items between warning and block")).to_be_visible()
    expect(page.get_by_label("Currency")).to_be_hidden()
    page.goto(f"{site.url}/projects/{slug}/judges")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the link for Grace Hopper").click()
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('/i/')")
    copied = page.evaluate("navigator.clipboard.readText()")
    (grace,) = [one for one in site.services.judges.get_invites(slug) if one.note.startswith("Gr")]
    assert copied == f"{site.url}/i/{grace.invite}"
    page.locator("input[name=judge]").first.check()
    page.get_by_label("Message, or the reason").fill("Thank you both.")
    follow(page.get_by_role("button", name="Send the message"))
    expect(page.get_by_text("message not read")).to_have_count(1)
