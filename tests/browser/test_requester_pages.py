"""Items adjudicated by keys, lists filtered, settings searched, judges chosen, systems compared."""

from __future__ import annotations

import time

from playwright.sync_api import Page, expect

from adjudge.collect.consensus import systems
from sites import Site, small_project
from visitors import Visitors, as_logged_in, check, follow, picture, send

ITEMS = 16


def disputed(site: Site) -> str:
    """A project of 18 items, on each of which its two judges differ."""
    given = small_project(queries=6, training=False, warn_below=0.0, block_below=0.0)
    slug = site.open_project(given)
    for wrong in (False, True):
        judge = site.browser().join(slug)
        while judge.is_judging:
            judge.answer(slug, wrong=wrong).go_on(slug)
    assert len(site.services.items.list_undecided(slug)) == ITEMS + 2
    return slug


def decide(page: Page, key: str) -> None:
    page.keyboard.press(key)
    send(page)


def test_items_are_adjudicated_by_keys_alone(site: Site, visitors: Visitors) -> None:
    site.set_up()
    slug = disputed(site)
    page = as_logged_in(visitors, site)
    page.goto(f"{site.url}/projects/{slug}/items/adjudicate")
    expect(page.locator("#votes")).to_be_hidden()
    expect(page.locator("[aria-pressed=true]")).to_have_count(0)
    page.keyboard.press("Enter")  # nothing is chosen, so nothing is decided
    page.keyboard.press("2")
    expect(page.locator("#votes")).to_be_visible()
    check(page, "adjudicate")
    picture(page, "adjudicate")
    began = time.process_time()  # of the server and of the script: not of a busy machine
    for number in range(ITEMS):
        decide(page, "1")
        expect(page.get_by_text(f"{number + 1} of {ITEMS + 2} items decided")).to_be_visible()
    assert time.process_time() - began < 20
    finals = site.services.items.get_final(slug)
    assert {final.label for final in finals.values()} == {"Good"}
    with page.expect_navigation():
        page.keyboard.press("u")
    expect(page.get_by_text(f"{ITEMS - 1} of {ITEMS + 2} items decided")).to_be_visible()
    for _ in range(3):
        decide(page, "2")
    expect(page.get_by_text("Nothing to adjudicate")).to_be_visible()
    assert not site.services.items.list_undecided(slug)


def test_a_list_is_filtered_while_somebody_types(site: Site, visitors: Visitors) -> None:
    site.set_up()
    slug = disputed(site)
    page = as_logged_in(visitors, site)
    page.goto(f"{site.url}/projects/{slug}/items")
    page.get_by_label("Search query").fill("lamp number 3")
    expect(page.locator("#items tbody tr")).to_have_count(3)
    page.locator("a[data-drawer]").first.click()
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("heading", name="Judgments")).to_be_visible()
    check(page, "drawer")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(page.locator("a[data-drawer]").first).to_be_focused()


def test_settings_are_searched_and_judges_chosen(site: Site, visitors: Visitors) -> None:
    site.set_up()
    slug = disputed(site)
    site.services.judges.invite(slug, ["Grace Hopper", "Alan Turing"])
    page = as_logged_in(visitors, site)
    page.goto(f"{site.url}/projects/{slug}")
    expect(page.get_by_text(f"Adjudicate {ITEMS + 2} items")).to_be_visible()
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


def test_systems_are_compared_by_the_labels(site: Site, visitors: Visitors) -> None:
    site.set_up()
    slug = site.open_project(small_project(training=False, least_golds=50))
    judge = site.browser().join(slug)
    while judge.is_judging:
        judge.answer(slug).go_on(slug)
    page = as_logged_in(visitors, site)
    page.goto(f"{site.url}/projects/{slug}/results/systems")
    items = [one for one in site.services.projects.read(slug).items if one.topic.startswith("q")]
    runs = [
        {"name": f"{name}.run", "mimeType": "text/plain", "buffer": run_of(items, good, name)}
        for name, good in (("best", True), ("worst", False))
    ]
    page.get_by_label("Runs").set_input_files(runs[:1])
    with page.expect_navigation():
        page.get_by_role("button", name="Compare the systems").click()
    expect(page.get_by_role("alert")).to_contain_text("two runs at least")
    page.get_by_label("Runs").set_input_files(runs)
    with page.expect_navigation():
        page.get_by_role("button", name="Compare the systems").click()
    assert systems.find_due(site.services) == [slug]
    assert systems._main(site.services, slug)
    expect(page.get_by_role("heading", name="nDCG@10")).to_be_visible()  # it asks by itself
    first = page.locator("section tbody tr").first
    expect(first).to_contain_text("best")
    check(page, "systems")
    picture(page, "systems")


def run_of(items: list, good_first: bool, name: str) -> bytes:  # type: ignore[type-arg]
    """A run that ranks good items first, or last."""
    ranked = sorted(items, key=lambda one: ("good" in one.title) is not good_first)
    lines = [
        f"{one.topic} Q0 {one.document or one.name} {rank} {100 - rank} {name}"
        for rank, one in enumerate(ranked)
    ]
    return "\n".join(lines).encode()
