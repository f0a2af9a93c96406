"""Texts as HTML: guidelines in Markdown, and results with the words that a search engine marked.

Guidelines may hold nothing that could run.

Snippets come with the words of the query in ``<em>`` or ``<b>``. These become ``<mark>``; all else
is text, whatever it looks like. Where the marks are not in pairs they are text too: the result may
be about HTML.
"""

from __future__ import annotations

import re
from functools import lru_cache
from threading import Lock

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from adjudge.collect.values.texts import is_bounded_markdown

_TAGS = {
    "a", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h2", "h3", "h4", "h5",
    "hr", "i", "img", "kbd", "li", "ol", "p", "pre", "s", "strong", "sub", "sup", "table", "tbody",
    "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}, "ol": {"start"}}
_parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_DEEPER = {"h1": "h2", "h2": "h3", "h3": "h4", "h4": "h5", "h5": "h5", "h6": "h5"}
_TAG = re.compile(r"<(/?)(em|b|strong|mark)>", re.IGNORECASE)
_FOLDED = 700  # characters from which on a text is folded
_START = 500  # characters of it that are shown before it is unfolded


_rendering = Lock()  # a text is rendered once, however many ask for it at a time


def render(text: str) -> Markup:
    """The HTML of a Markdown text: headings one level down, below the page's own.

    A text that would take long to render, as earlier versions stored some, is shown as it is.
    """
    with _rendering:
        return _render(text)


@lru_cache(maxsize=256)
def _render(text: str) -> Markup:
    if not is_bounded_markdown(text):
        return Markup("<pre>{}</pre>").format(text)
    tokens = _parser.parse(text)
    for token in tokens:
        if token.tag in _DEEPER:
            token.tag = _DEEPER[token.tag]
    html = _parser.renderer.render(tokens, _parser.options, {})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    # A wide table scrolls by itself rather than make a phone's entire page scroll.
    clean = clean.replace("<table>", '<div class="scroll" tabindex="0"><table>')
    clean = clean.replace("</table>", "</table></div>")
    return Markup(clean)  # noqa: S704 - just sanitised


@lru_cache(maxsize=4_096)
def _pieces(text: str) -> tuple[tuple[str, bool], ...]:
    """A text in pieces, each with whether it is marked."""
    pieces: list[tuple[str, bool]] = []
    open_tag, place = "", 0
    for found in _TAG.finditer(text):
        closing, name = bool(found[1]), found[2].lower()
        if closing != bool(open_tag) or (closing and name != open_tag):
            return ((text, False),)
        pieces.append((text[place : found.start()], bool(open_tag)))
        open_tag, place = ("", found.end()) if closing else (name, found.end())
    if open_tag:
        return ((text, False),)
    pieces.append((text[place:], False))
    return tuple(piece for piece in pieces if piece[0])


def highlight(text: str) -> Markup:
    """A text with its marked words marked, and all else as it is written."""
    return _markup(_pieces(text))


def unmark(text: str) -> str:
    """A text without the marks, for titles and names."""
    return "".join(piece for piece, _ in _pieces(text))


def beginning(text: str) -> Markup | None:
    """The first words of a text that is long enough to be folded; None for others."""
    if len(unmark(text)) <= _FOLDED:
        return None
    kept: list[tuple[str, bool]] = []
    room = _START
    for piece, marked in _pieces(text):
        if len(piece) >= room:
            cut = piece[:room]
            words = cut.rsplit(None, 1)[0] if len(cut.split()) > 1 else cut
            kept.append((words, marked))
            break
        kept.append((piece, marked))
        room -= len(piece)
    return _markup(tuple(kept)) + " …"


def _markup(pieces: tuple[tuple[str, bool], ...]) -> Markup:
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if marked else escape(piece)
        for piece, marked in pieces
    )
