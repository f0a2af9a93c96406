"""People at pages in a real browser: how they come, train and judge, and that all may use them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from axe_core_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from sites import LABELS, PASSWORD, REASON, Site
from sites import Browser as PlainBrowser
from sizes import FULL

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "collect" / "images"
REFRESH = bool(os.environ.get("ADJUDGE_REFRESH"))  # of the pictures in the docs
SHOTS = os.environ.get("ADJUDGE_SHOTS")  # a folder, where somebody wants to look at the pages
PATIENCE = int(
    os.environ.get("ADJUDGE_PATIENCE", "120000")
)  # milliseconds, for what will never be: on a busy machine much takes long


class Watched:
    """A page, with what it wrote to its console and what it asked of whom."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))


class Visitors:
    """People with browsers of their own, whose consoles must stay clean."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.contexts: list[BrowserContext] = []
        self.said: list[str] = []

    def come(self, **settings: Any) -> Page:
        context = self.browser.new_context(
            **{"viewport": {"width": 1200, "height": 850}, **settings}
        )
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("console", self._hear)
        return page

    def _hear(self, message: Any) -> None:
        # What the browser and htmx say of a lost connection is no fault of the page, nor that axe
        # cannot ask a frame that is locked in; no page of ours posts messages.
        lost = ("Failed to load resource", "htmx:sendError", "htmx:afterRequest")
        expected = (*lost, "Failed to execute 'postMessage' on 'DOMWindow'")
        if message.type in ("error", "warning") and not message.text.startswith(expected):
            self.said.append(message.text)


def log_in(site: Site, name: str = "ada") -> PlainBrowser:
    browser = site.browser()
    browser.get("/login")
    browser.post("/login", name=name, password=PASSWORD)
    return browser


def as_logged_in(visitors: Visitors, site: Site, name: str = "ada") -> Page:
    """A page of somebody's who is logged in."""
    page = visitors.come()
    session = log_in(site, name).client.cookies["adjudge_session"]
    page.context.add_cookies([{"name": "adjudge_session", "value": session, "url": site.url}])
    return page


# What is of no serious rule is not looked for, nor the style sheets fetched for a rule of none.
_LESS = (
    "region", "heading-order", "page-has-heading-one", "landmark-one-main", "landmark-unique",
    "landmark-banner-is-top-level", "landmark-contentinfo-is-top-level",
    "landmark-complementary-is-top-level", "landmark-main-is-top-level",
)  # fmt: skip
_OPTIONS = {
    "resultTypes": ["violations"],
    "preload": False,
    "rules": {name: {"enabled": False} for name in _LESS},
}
_FAULTS = """([context, options]) => axe.run(context || document, options).then(found =>
    found.violations.filter(fault => ["serious", "critical"].includes(fault.impact)).flatMap(
        fault => fault.nodes.map(node => `${fault.id}: ${node.html.slice(0, 200)}`)))"""


def find_faults(page: Page, context: dict[str, Any] | None = None) -> list[str]:
    """What axe-core finds in a page, or a part of it, that is serious or worse.

    It is asked for nothing else: what it finds in order is long, and takes long to report.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(_FAULTS, [context, _OPTIONS])
    return found


def follow(link: Locator) -> None:
    """Click what leads to another page, and wait until that is there with its scripts.

    After a click alone, the page that is left may still be the one that answers.
    """
    with link.page.expect_navigation():
        link.click()


def open_row(page: Page) -> None:
    """Open the first row of a table in the drawer, and from there as a page of its own."""
    page.locator("tbody a[data-drawer]").first.click()
    follow(page.get_by_role("link", name="Open as a page"))


def send(page: Page) -> None:
    """Press Enter where that leads to another page, and wait until it is there."""
    with page.expect_navigation():
        page.keyboard.press("Enter")


def arrive(page: Page, kind: str) -> None:
    """Wait for a page to be judged, and for the scripts that answer to its keys."""
    page.wait_for_selector(f"#page[data-kind={kind}]")
    page.wait_for_load_state()


def check(page: Page, name: str) -> None:
    """No serious fault of accessibility, and a picture for who wants one."""
    page.wait_for_load_state()
    faults = find_faults(page)
    assert not faults, json.dumps(faults, indent=1)
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=page.locator("#page").count() == 0)


def picture(page: Page, name: str) -> None:
    """The picture that the docs have, written again where somebody asks for it."""
    if REFRESH:
        page.screenshot(path=IMAGES / f"{name}.png")


def check_again(page: Page, name: str) -> None:
    """The same, where all is run, of a page of requesters that test_every_page always checks."""
    page.wait_for_load_state()
    if FULL or SHOTS:
        check(page, name)


def right_keys(page: Page) -> list[str]:
    """The key of the right label of each row without an answer: its title gives it away."""
    titles = page.evaluate(
        """() => [...document.querySelectorAll('.result')]
            .filter(row => !row.querySelector('input:checked'))
            .map(row => row.querySelector('h3').textContent)"""
    )
    return [str(1 + LABELS.index("Good" if "good" in title else "Bad")) for title in titles]


def other(key: str) -> str:
    return "2" if key == "1" else "1"


def begin(page: Page, site: Site, slug: str) -> None:
    """Come, agree: by keys only."""
    page.goto(f"{site.url}/j/{slug}")
    page.get_by_role("button", name="I agree, begin").focus()
    send(page)
    arrive(page, "training")


def train(page: Page, *, mistakes: int = 0) -> None:
    """Through the training by keys only; each answer gets feedback at once."""
    for place, key in enumerate(right_keys(page)):
        row = page.locator(".result").nth(place)
        if place < mistakes:
            page.keyboard.press(other(key))
            expect(row.get_by_role("alert")).to_contain_text(REASON)
            expect(row.get_by_role("button", name="Next result")).to_be_focused()
            page.keyboard.press("Enter")
        else:
            page.keyboard.press(key)
            expect(row.locator(".feedback.good")).to_contain_text("Right")
    expect(page.get_by_role("button", name="Send this page")).to_be_focused()
    send(page)


def judge(page: Page, *, wrong: bool = False) -> None:
    """Answer a page of work by keys only, and send it."""
    arrive(page, "work")
    for key in right_keys(page):
        page.keyboard.press(other(key) if wrong else key)
    expect(page.get_by_role("button", name="Send this page")).to_be_focused()
    send(page)


def fits(page: Page, name: str, checked: Callable[[Page, str], None] = check) -> None:
    checked(page, name)
    assert page.evaluate("Math.max(window.innerWidth, document.body.scrollWidth)") == 360, name
