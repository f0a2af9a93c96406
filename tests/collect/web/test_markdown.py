from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import pytest

from adjudge.collect.values.project import Arm
from adjudge.collect.web._markup import render
from adjudge.errors import BadSetting
from sites import Site, small_project


def test_markdown_becomes_html_with_headings_below_the_pages_own() -> None:
    html = render("# Title\n\nSay **Good**.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<h2>Title</h2>" in html
    assert "<strong>Good</strong>" in html
    assert "<li>one</li>" in html
    assert '<div class="scroll" tabindex="0"><table>' in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "<a href='javascript:alert(1)'>x</a>",
        "<iframe src=https://example.com></iframe>",
        "<style>*{display:none}</style>",
        "![x](javascript:alert(1))",
        "<svg/onload=alert(1)>",
        '"><script>alert(1)</script>',
    ],
)
def test_nothing_in_markdown_can_run(text: str) -> None:
    html = str(render(text)).lower()
    for tag in (
        "<script",
        "<iframe",
        "<style",
        "<svg",
        'onerror="',
        'href="javascript',
        'src="javascript',
        'href="data',
    ):
        assert tag not in html
    assert "<img src=x" not in html


SLOW = "![" * 9_000


def test_a_text_that_takes_long_is_refused_when_saved_and_shown_as_it_is(site: Site) -> None:
    with pytest.raises(BadSetting):
        site.services.projects.create(replace(small_project(), guidelines=SLOW))
    slug = site.open_project()
    for text in (SLOW, "a" * 100_001):
        with pytest.raises(BadSetting):
            site.services.projects.set_guidelines(slug, text)
        with pytest.raises(BadSetting):
            site.services.arms.set_all(slug, [Arm(name="a", guidelines=text)])
        assert render(text) == f"<pre>{text}</pre>"
    file = io.BytesIO()
    site.services.exports.write(slug, "archive", file)
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(match="Duplicate name"):
        archive.writestr("guidelines.md", SLOW)
    ada = site.set_up()
    ada.get("/projects/new")
    ada.post("/projects/upload", files={"files": ("p.zip", file.getvalue())}, expect=422)


def test_links_send_no_referrer() -> None:
    html = render("[x](https://example.com)")
    assert 'rel="noopener noreferrer nofollow"' in html
    assert 'target="_blank"' in html
