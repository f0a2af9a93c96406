"""A real browser for tests of pages: Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from sites import Site, served
from visitors import PATIENCE, Visitors, Watched

# The shell has no desktop around it, and takes half the time.
INSTALLED = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
CHROMIUM = Path(os.environ.get("ADJUDGE_CHROMIUM", INSTALLED))
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",  # nor in a second process
    "--renderer-process-limit=1",  # none is started ahead for a page that never comes
    "--js-flags=--no-opt",  # no page lives long enough to gain by it
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


Open = Callable[..., Watched]

expect.set_options(timeout=PATIENCE)  # five seconds otherwise


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, started once; skipped, with the reason, where there is none."""
    if not CHROMIUM.is_file():
        pytest.skip(f"no Chromium at {CHROMIUM}; set ADJUDGE_CHROMIUM to its path")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Open an address in a page of its own: light or dark, on a screen of any width."""
    contexts = []

    def open_(
        address: str, *, scheme: str = "light", width: int = 1280, height: int = 900
    ) -> Watched:
        context = browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]
            viewport={"width": width, "height": height},
            service_workers="block",
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        watched = Watched(context.new_page())
        watched.page.goto(address)
        return watched

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A server with an empty store."""
    with served(tmp_path) as running:
        yield running


@pytest.fixture
def visitors(browser: Browser) -> Iterator[Visitors]:
    """People with browsers of their own."""
    made = Visitors(browser)
    yield made
    for context in made.contexts:
        context.close()
    assert not made.said
