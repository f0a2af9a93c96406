"""People at pages in a real browser: how they come, train and judge, and that all may use them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

from axe_core_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect

from sites import LABELS, PASSWORD, REASON, Site
from sites import Browser as PlainBrowser

DOCS = Path(__file__).resolve().parents[1] / "docs"
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


# Rules that are never serious are left out, and no style sheet is fetched for any rule.
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
_COLOURS = {**_OPTIONS, "rules": {}, "runOnly": ["color-contrast", "link-in-text-block"]}
# Charts are images with a text alternative; what is folded is hidden, which axe does not see.
_FAULTS = """options => axe.run(
    {exclude: [[".chart svg"], ["details:not([open]) > :not(summary)"]]}, options).then(found =>
    found.violations.filter(fault => ["serious", "critical"].includes(fault.impact)).flatMap(
        fault => fault.nodes.map(node => `${fault.id}: ${node.html.slice(0, 200)}`)))"""
# What is beyond the right edge and cannot be scrolled to, and text that its own box cuts.
_BEYOND = """() => {
    const found = [];
    const edge = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > edge) found.push("wider than the screen");
    for (const one of document.querySelectorAll("main *, header *")) {
        const box = one.getBoundingClientRect();
        if (!box.width || one.closest(".unseen, .skip, .scroll, .pan, .tabs, pre, svg")) continue;
        if (box.right > edge + 1) found.push(`beyond the edge: ${one.outerHTML.slice(0, 120)}`);
        const cut = ["hidden", "clip"].includes(getComputedStyle(one).overflowX);
        if (cut && one.scrollWidth > one.clientWidth + 1 && one.innerText)
            found.push(`cut: ${one.outerHTML.slice(0, 120)}`);
    }
    for (const one of document.querySelectorAll("#main .scroll"))
        if (one.scrollWidth > one.clientWidth + 1 && !one.querySelector(".matrix"))
            found.push(`a table that is cut: ${one.outerHTML.slice(0, 120)}`);
    return found;
}"""

Scheme = Literal["dark", "light"]
_IS_DARK = "matchMedia('(prefers-color-scheme: dark)').matches"
# Colours that axe reads are those of the moment: a drawer fades in.
_SETTLE = """() => Promise.allSettled(
    document.getAnimations()
        .filter((one) => one.effect.getComputedTiming().iterations !== Infinity)
        .map((one) => one.finished),
)"""
_FORMS: tuple[tuple[str, ViewportSize, tuple[Scheme, Scheme]], ...] = (
    ("wide", {"width": 1200, "height": 850}, ("dark", "light")),
    ("narrow", {"width": 360, "height": 740}, ("light", "dark")),
)


def check(page: Page, name: str) -> None:
    """Assert that a page has no fault, wide and narrow, light and dark; take pictures if asked.

    axe checks each layout by all rules in one scheme, and in the other by those that read colours.
    """
    page.wait_for_load_state()
    size = page.viewport_size
    scheme: Scheme = "dark" if page.evaluate(_IS_DARK) else "light"
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    faults = []
    for width, viewport, schemes in _FORMS:
        page.set_viewport_size(viewport)
        for options, colours in zip((_COLOURS, _OPTIONS), schemes, strict=True):
            page.emulate_media(color_scheme=colours)
            if SHOTS:
                Path(SHOTS).mkdir(parents=True, exist_ok=True)
                entire = page.locator("#page").count() == 0
                page.screenshot(path=f"{SHOTS}/{name}-{width}-{colours}.png", full_page=entire)
            page.evaluate(_SETTLE)
            found = page.evaluate(_FAULTS, options)
            faults += [f"{width}, {colours}: {one}" for one in found]
        faults += [f"{width}: {one}" for one in page.evaluate(_BEYOND)]
    page.emulate_media(color_scheme=scheme)
    if size:
        page.set_viewport_size(size)
    assert not faults, f"{name}: {json.dumps(faults, indent=1)}"


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


def picture(shown: Page | Locator, name: str, folder: str = "collect/images") -> None:
    """The picture that the docs have, written again where somebody asks for it."""
    if REFRESH:
        shown.screenshot(path=DOCS / folder / f"{name}.png")


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
