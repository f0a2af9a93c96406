"""Tagged text, such as TREC's topics and documents, read in one pass whatever stands in it.

Anybody can send such a text, so that no part of it is looked at again and again: brackets are
walked from the first to the last, and blocks and the elements in them are found on the way.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from adjudge.errors import BadData

_BRACKET = re.compile("[<>]")
_LONG_REFERENCE = re.compile("&#[xX]?[0-9a-fA-F]{9,}+")  # is no character, and slow to find out


@dataclass(frozen=True, slots=True)
class _Tag:
    """A tag: its name in small letters, what else stands in it, and where it stands."""

    name: str
    closing: bool
    attributes: str
    start: int
    end: int


@dataclass(slots=True)
class _TaggedText:
    """What stands between a tag and the one that closes it, with the elements asked for."""

    text: str
    attributes: str
    start: int  # in the whole text
    opened: dict[str, int] = field(default_factory=dict)  # where the first tag of a name ends
    elements: dict[str, str] = field(default_factory=dict)  # the first of each name
    spans: list[tuple[str, int, int]] = field(default_factory=list)  # of every element, with tags

    def element(self, name: str) -> str:
        """The plain text within the first element of that name; empty where there is none."""
        return _plain(self.elements.get(name, ""))

    def after(self, name: str) -> str:
        """The text after the first tag of that name up to the next: old topics do not close them.

        White space is as single spaces.
        """
        if name not in self.opened:
            return ""
        start = self.opened[name]
        end = self.text.find("<", start)
        return " ".join(_unescape(self.text[start : end if end >= 0 else None]).split())

    def without(self, *names: str) -> str:
        """The plain text of the block without the elements of those names."""
        kept, reached = [], 0
        for name, start, end in sorted(self.spans, key=lambda span: span[1]):
            if name in names and end > reached:
                kept.append(self.text[reached : max(start, reached)])
                reached = end
        return _plain(" ".join([*kept, self.text[reached:]]))


def _walk_brackets(text: str) -> Iterator[tuple[int, int]]:
    """Where ``<...>`` begins and ends, with no other bracket and at least a character in it."""
    opened = -1
    for mark in _BRACKET.finditer(text):
        at = mark.start()
        if text[at] == "<":
            opened = at
        elif opened >= 0:
            if at > opened + 1:
                yield opened, at + 1
            opened = -1


def _walk_tags(text: str) -> Iterator[_Tag]:
    for start, end in _walk_brackets(text):
        inside = text[start + 1 : end - 1]
        closing = inside[0] == "/"
        words = inside[closing:].split(None, 1)
        if words and inside[closing].isalpha():
            attributes = words[1] if len(words) > 1 else ""
            yield _Tag(words[0].rstrip("/").lower(), closing, attributes, start, end)


def read_blocks(
    text: str, name: str, wanted: tuple[str, ...], source: str
) -> Iterator[_TaggedText]:
    """Every block ``<name> ... </name>`` of a text, with its elements of the names wanted.

    A block that is never closed is an error.
    """
    begun: _Tag | None = None
    inside: list[_Tag] = []
    for tag in _walk_tags(text):
        if begun is None:
            if tag.name == name and not tag.closing:
                begun, inside = tag, []
        elif tag.name == name and tag.closing:
            yield _make_block(text[begun.end : tag.start], begun, inside)
            begun = None
        elif tag.name in wanted:
            inside.append(tag)
    if begun is not None:
        line = text.count("\n", 0, begun.start) + 1
        raise BadData(f"<{name}> is never closed; wanted </{name}>", source=source, line=line)


def _make_block(text: str, begun: _Tag, tags: list[_Tag]) -> _TaggedText:
    block = _TaggedText(text, begun.attributes, begun.start)
    waiting: dict[str, tuple[int, int]] = {}
    for tag in tags:
        start, end = tag.start - begun.end, tag.end - begun.end
        if not tag.closing:
            waiting.setdefault(tag.name, (start, end))
            block.opened.setdefault(tag.name, end)
        elif tag.name in waiting:
            first = waiting.pop(tag.name)
            block.spans.append((tag.name, first[0], end))
            if tag.name not in block.elements:
                block.elements[tag.name] = text[first[1] : start]
    return block


def _plain(text: str) -> str:
    """Text without tags, with references such as ``&amp;`` spelt out and single spaces."""
    if "<" in text:
        parts, reached = [], 0
        for start, end in _walk_brackets(text):
            parts.append(text[reached:start])
            reached = end
        text = " ".join([*parts, text[reached:]])
    return " ".join(_unescape(text).split())


def _unescape(text: str) -> str:
    """Text with references spelt out; one with very many digits stands for no character."""
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", text)) if "&" in text else text
