"""Marked words of a snippet are marked; nothing else of it is HTML."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.collect.web._markup import beginning, highlight, unmark
from adjudge.data.scale import Scale
from sites import Site

SCRAPS = ("<em>", "</em>", "<b>", "</b>", "<B>", "</strong>", "<script>", "<b onclick=x>", "<",
          ">", "&lt;em&gt;", '"', "x ", "<mark>", "</mark>", "\u05d0", "\n")  # fmt: skip


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a <em>red</em> lamp", "a <mark>red</mark> lamp"),
        ("<b>1</b> <STRONG>2</STRONG>", "<mark>1</mark> <mark>2</mark>"),
        ("5 < 6 & <em>7</em>", "5 &lt; 6 &amp; <mark>7</mark>"),
        ("use <b> for bold", "use &lt;b&gt; for bold"),
        ("<em>a</b>", "&lt;em&gt;a&lt;/b&gt;"),
        ("<em>a<b>c</b></em>", "&lt;em&gt;a&lt;b&gt;c&lt;/b&gt;&lt;/em&gt;"),
        ("<em onclick=x>a</em>", "&lt;em onclick=x&gt;a&lt;/em&gt;"),
        ("<img src=x onerror=y><em>a</em>", "&lt;img src=x onerror=y&gt;<mark>a</mark>"),
    ],
)
def test_only_marks_in_pairs_are_marked(text: str, html: str) -> None:
    assert str(highlight(text)) == html


@given(st.lists(st.sampled_from(SCRAPS), max_size=12).map("".join))
def test_no_tag_but_mark_comes_out_and_no_word_is_lost(text: str) -> None:
    html = str(highlight(text))
    assert set(re.findall(r"<[^>]*>", html)) <= {"<mark>", "</mark>"}
    assert unescape(html.replace("<mark>", "").replace("</mark>", "")) == unmark(text)
    assert html.count("<mark>") == html.count("</mark>")


def test_a_long_text_is_cut_between_words_with_closed_marks() -> None:
    assert beginning("short") is None
    text = "word " * 98 + "<em>" + "marked " * 60 + "</em>"
    start = str(beginning(text))
    assert start.startswith("word word")
    assert start.endswith("<mark>marked</mark> …")
    assert len(start) < 540
    assert beginning("x" * 701) == "x" * 500 + " …", "one word without end is cut"


def content(**policy: object) -> Project:
    items = [
        Item(name="a", topic="t", query="\u05de\u05e0\u05d5\u05e8\u05d4", title="A <em>lamp</em>",
             text="<script>alert(1)</script> " + "long " * 200, url="https://example.com/a",
             image="https://example.com/a.png"),
    ]  # fmt: skip
    scale = Scale(labels=("Good", "Bad"), relevant=("Good",))
    golds: tuple[GoldEntry, ...] = ()
    return Project(name="Content", scale=scale, items=tuple(items), golds=golds, policy=policy)


def test_a_page_shows_real_content_safely(site: Site) -> None:
    slug = site.open_project(content())
    judge = site.browser().join(slug)
    assert '<span dir="auto">\u05de\u05e0\u05d5\u05e8\u05d4</span>' in judge.text
    assert "A <mark>lamp</mark></a>" in judge.text
    assert "<script>alert" not in judge.text
    assert "The entire text of result 1 , 1,026 characters" in judge.words
    assert 'src="https://example.com/a.png"' in judge.text
    assert "iframe" not in judge.text
    response = judge.client.get(f"/j/{slug}")
    assert "frame-src" not in response.headers["content-security-policy"]


def test_pictures_and_previews_are_as_the_policy_says(site: Site) -> None:
    slug = site.open_project(content(images=False, previews=True))
    judge = site.browser().join(slug)
    assert "<img" not in judge.text.partition("<main")[2], "the logo is above"
    assert "Open the picture" in judge.words
    assert 'href="https://example.com/a" target="preview"' in judge.text
    assert '<iframe name="preview"' in judge.text
    assert 'sandbox="allow-scripts"' in judge.text, "never with allow-same-origin"
    policy = judge.client.get(f"/j/{slug}").headers["content-security-policy"]
    assert policy.endswith("; frame-src http: https:")
    assert "default-src 'none'" in policy
    other = judge.client.get(f"/j/{slug}/guidelines").headers["content-security-policy"]
    assert "frame-src" not in other
