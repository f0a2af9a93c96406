"""The look of the pages: a logo, one scale of type and one of spacing, a palette, one accent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

from adjudge.collect.web._pages import STATIC
from sites import Browser, Site

SHEET = re.sub(r"/\*.*?\*/", "", (STATIC / "adjudge.css").read_text("utf-8"), flags=re.DOTALL)
RULES = [(head.strip(), body) for head, body in re.findall(r"([^{}]+)\{([^{}]*)\}", SHEET)]
SCALES = {
    "type": ("small", "normal", "large", "larger", "largest"),
    "spacing": ("hair", "thin", "half", "near", "step", "wide", "apart", "far"),
}
LENGTH = r"-?[\d.]+(?:rem|em|px|pt|ch|vw|vh)\b"


def declared(pattern: str) -> Iterator[tuple[str, str, str]]:
    """Every declaration whose property is like that, but those of the properties themselves."""
    for head, body in RULES:
        for name, value in re.findall(r"(?:^|;)\s*([-\w]+)\s*:\s*([^;]+)", body):
            if re.fullmatch(pattern, name):
                yield head, name, value.strip()


def values_of(scale: str) -> list[float]:
    found = dict(re.findall(r"--([-\w]+):\s*([\d.]+)rem;", SHEET))
    return [float(found[step]) for step in SCALES[scale]]


def test_sizes_of_type_are_of_one_scale() -> None:
    steps = {f"var(--{step})" for step in SCALES["type"]}
    for head, name, value in declared("font-size|font"):
        size = value if name == "font-size" else (re.findall(r"(\S+?)/", value) or ["inherit"])[0]
        assert size in steps | {"inherit"}, (head, value)
    sizes = values_of("type")
    assert sizes == sorted(sizes)
    for smaller, size in pairwise(sizes[1:]):
        assert size / smaller == pytest.approx(1.2)


def test_spaces_are_of_one_scale() -> None:
    for head, name, value in declared(r"(margin|padding|gap|row-gap|column-gap)(-[a-z-]+)?"):
        assert not re.findall(LENGTH, value), (head, name, value)
        assert set(re.findall(r"var\(--([-\w]+)\)", value)) <= set(SCALES["spacing"]), (head, value)
    steps = values_of("spacing")
    assert steps == sorted(steps)


def test_colours_stand_in_one_palette_with_one_accent() -> None:
    """No rule has a colour of its own; what is to be clicked or has the focus has the accent."""
    for head, body in RULES:
        for name, value in re.findall(r"(?:^|;)\s*([-\w]+)\s*:\s*([^;]+)", body):
            if not name.startswith("--"):
                assert not re.search(r"#[0-9a-f]{3,8}\b|\b(rgb|hsl)a?\(", value), (
                    head,
                    name,
                    value,
                )
    accented = {head for head, body in RULES if "var(--accent)" in body}
    assert {"a", "button, .button", ":focus-visible", ".tabs a[aria-current]"} <= accented


def header(browser: Browser) -> str:
    found = re.search(r"<header.*?</header>", browser.text, re.DOTALL)
    assert found
    return found[0]


def test_every_page_has_the_logo(site: Site) -> None:
    ada, slug = site.set_up(), site.open_project()
    logo = ada.client.get("/static/icon.svg")
    assert logo.headers["content-type"].startswith("image/svg+xml")
    assert "<title>adjudge</title>" in logo.text
    shown = re.compile(r'<img src="/static/icon\.svg" alt="(adjudge)?" width="24" height="24">')
    for path in ("/projects", "/projects/new", "/account", f"/projects/{slug}/judges"):
        ada.get(path)
        assert shown.search(header(ada)), path
    stranger = site.browser()
    for path, expect in ((f"/j/{slug}", 200), ("/login", 200), ("/nowhere", 404)):
        stranger.get(path, expect=expect)
        assert shown.search(header(stranger)), path
    assert shown.search(header(stranger.join(slug))), "and that of the work"
