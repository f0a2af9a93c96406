from __future__ import annotations

import pytest

from adjudge.collect.web._markup import render


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


def test_links_leave_without_telling_where_from() -> None:
    html = render("[x](https://example.com)")
    assert 'rel="noopener noreferrer nofollow"' in html
    assert 'target="_blank"' in html
