"""Documents: JSON Lines, tab-separated, or TREC's tagged text.

Anybody can send tagged text, so that no part of it is looked at again and again: brackets are
walked from the first to the last, and blocks and the elements in them are found on the way.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from adjudge.collect.importing._rows import find_roles, json_lines, list_columns, read_table, words
from adjudge.collect.importing._upload import ImportLimits, Upload
from adjudge.errors import BadData

_BRACKET = re.compile("[<>]")
_LONG_REFERENCE = re.compile("&#[xX]?[0-9a-fA-F]{9,}+")  # is no character, and slow to find out
_TEXT = 2_000  # characters of a document that a judge is shown
_ELEMENTS = ("docno", "title", "headline", "text", "url")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a judge can be shown of one document."""

    title: str = ""
    text: str = ""
    url: str = ""
    image: str = ""

    def cells(self) -> dict[str, str]:
        """As the cells of an item; a long text is cut where a word ends."""
        text = self.text
        if len(text) > _TEXT:
            text = text[:_TEXT].rsplit(None, 1)[0] + " ..."
        return {"title": self.title, "text": text, "url": self.url, "image": self.image}


def read_documents(upload: Upload, limits: ImportLimits) -> dict[str, Document]:
    """The documents of a file by their ids."""
    head = upload.body[:200].lstrip()
    if head[:5].upper() == b"<DOC>":
        return _tagged(upload)
    if head[:1] == b"{":
        return _json(upload)
    # Not every document becomes an item: there may be more of them than rows.
    columns, rows = read_table(upload, replace(limits, rows=limits.lines))
    found = find_roles(columns)
    if "document" not in found:
        raise BadData(
            f"the columns are {list_columns(columns)}; wanted 'document', 'title', 'text'",
            source=upload.name,
            line=1,
        )
    parts = [part for part in ("title", "text", "url", "image") if part in found]
    return {
        cells[found["document"]]: Document(**{part: cells[found[part]] for part in parts})
        for _, cells in rows
    }


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


def _json(upload: Upload) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    for line, record in json_lines(upload):
        name = next(
            (words(record[key]) for key in ("_id", "id", "docid", "doc_id", "docno", "document")
             if record.get(key) is not None), "",
        )  # fmt: skip
        if not name:
            raise BadData("there is no _id, id, docid or docno", source=upload.name, line=line)
        found = find_roles([key for key in record if key not in ("_id", "id")])
        parts = {
            part: words(record[found[part]])
            for part in ("title", "text", "url", "image")
            if part in found
        }
        documents[name] = Document(**parts)
    return documents


def _tagged(upload: Upload) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    text = upload.text()
    for block in read_blocks(text, "doc", _ELEMENTS, upload.name):
        name = block.element("docno")
        if not name:
            line = text.count("\n", 0, block.start) + 1
            raise BadData("there is no DOCNO in this DOC", source=upload.name, line=line)
        documents[name] = Document(
            title=block.element("title") or block.element("headline"),
            text=block.element("text") or block.without("docno", "title", "headline", "url"),
            url=block.element("url"),
        )
    return documents
