"""Documents: JSON Lines, tab-separated, or TREC's tagged text.

Anybody can send tagged text, so that the time to read it grows no faster than its length.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from adjudge.collect.importing._upload import ImportLimits, Upload
from adjudge.collect.importing.tables import (
    SHOWN,
    find_roles,
    json_lines,
    read_table,
    refuse_columns,
    words,
)
from adjudge.errors import BadData

# No two tags can share a character, and no part of one can be taken in two ways.
_TAG = re.compile(r"<(/?)([A-Za-z][^\s<>/]*+)([^<>]*+)>")
_MARKUP = re.compile("<[^<>]++>")
_LONG_REFERENCE = re.compile("&#[xX]?[0-9a-fA-F]{9,}+")  # is no character, and slow to find out
_TEXT = 2_000  # characters of a document that a judge is shown
_ELEMENTS = ("docno", "title", "headline", "text", "url")


Cells: TypeAlias = dict[str, str]  # parts of an item, such as its title, by their names


def read_documents(upload: Upload, limits: ImportLimits) -> dict[str, Cells]:
    """The documents of a file by their ids; a long text is cut where a word ends."""
    documents = _read_documents(upload, limits)
    for cells in documents.values():
        if len(cells.get("text", "")) > _TEXT:
            cells["text"] = cells["text"][:_TEXT].rsplit(None, 1)[0] + " ..."
    return documents


def _read_documents(upload: Upload, limits: ImportLimits) -> dict[str, Cells]:
    head = upload.body[:200].lstrip()
    if head[:5].upper() == b"<DOC>":
        return _read_tagged(upload)
    if head[:1] == b"{":
        return _json(upload)
    # Not every document becomes an item: there may be more of them than rows.
    columns, rows = read_table(upload, replace(limits, rows=limits.lines))
    found = find_roles(columns)
    if "document" not in found:
        raise refuse_columns(upload, columns, "'document', 'title', 'text'")
    parts = [part for part in SHOWN if part in found]
    return {
        cells[found["document"]]: {part: cells[found[part]] for part in parts} for _, cells in rows
    }


@dataclass(slots=True)
class _TaggedText:
    """The text between a tag and the one that closes it, with the elements asked for."""

    text: str
    attributes: str
    start: int  # in the entire text
    opened: dict[str, int] = field(default_factory=dict)  # where the first tag of a name ends
    spans: list[tuple[str, int, int, int, int]] = field(default_factory=list)
    # of every element: its name, where it begins, its inside begins and ends, and it ends

    def find_elements(self, names: tuple[str, ...]) -> None:
        """Find the elements of these names."""
        waiting: dict[str, re.Match[str]] = {}
        for tag in _TAG.finditer(self.text):
            name = tag[2].lower()
            if name not in names:
                continue
            if not tag[1]:
                waiting.setdefault(name, tag)
                self.opened.setdefault(name, tag.end())
            elif name in waiting:
                first = waiting.pop(name)
                self.spans.append((name, first.start(), first.end(), tag.start(), tag.end()))

    def element(self, name: str) -> str:
        """The plain text within the first element of that name; empty where there is none."""
        span = next((one for one in self.spans if one[0] == name), None)
        return "" if span is None else _plain(self.text[span[2] : span[3]])

    def after(self, name: str) -> str:
        """The text after the first tag of that name up to the next: old topics do not close them.

        White space is as single spaces.
        """
        if name not in self.opened:
            return ""
        start = self.opened[name]
        end = self.text.find("<", start)
        return _plain(self.text[start : end if end >= 0 else None])

    def without(self, *names: str) -> str:
        """The plain text of the block without the elements of those names."""
        kept, reached = [], 0
        for name, start, _, _, end in sorted(self.spans, key=lambda span: span[1]):
            if name in names and end > reached:
                kept.append(self.text[reached : max(start, reached)])
                reached = end
        return _plain(" ".join([*kept, self.text[reached:]]))


def read_blocks(
    text: str, name: str, inside: tuple[str, ...], source: str
) -> Iterator[_TaggedText]:
    """Every block ``<name> ... </name>`` of a text, with the elements of these names.

    A block that is never closed is an error.
    """
    begun: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if tag[2].lower() != name:
            continue
        if begun is None and not tag[1]:
            begun = tag
        elif begun is not None and tag[1]:
            block = _TaggedText(text[begun.end() : tag.start()], begun[3], begun.start())
            block.find_elements(inside)
            yield block
            begun = None
    if begun is not None:
        line = text.count("\n", 0, begun.start()) + 1
        problem = f"<{name}> is never closed; expected </{name}>"
        raise BadData(problem, source=source, line=line, code="unclosed-tag")


def _plain(text: str) -> str:
    """Text without tags, with references such as ``&amp;`` spelt out and single spaces."""
    return " ".join(_unescape(_MARKUP.sub(" ", text)).split())


def _unescape(text: str) -> str:
    """Text with references spelt out; one with very many digits is not a character."""
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", text)) if "&" in text else text


def _json(upload: Upload) -> dict[str, Cells]:
    documents: dict[str, Cells] = {}
    for line, record in json_lines(upload):
        name = next(
            (words(record[key]) for key in ("_id", "id", "docid", "doc_id", "docno", "document")
             if record.get(key) is not None), "",
        )  # fmt: skip
        if not name:
            raise BadData("there is no _id, id, docid or docno", source=upload.name, line=line)
        found = find_roles([key for key in record if key not in ("_id", "id")])
        documents[name] = {p: words(record[found[p]]) for p in SHOWN if p in found}
    return documents


def _read_tagged(upload: Upload) -> dict[str, Cells]:
    documents: dict[str, Cells] = {}
    text = upload.text()
    for block in read_blocks(text, "doc", _ELEMENTS, upload.name):
        name = block.element("docno")
        if not name:
            line = text.count("\n", 0, block.start) + 1
            raise BadData("there is no DOCNO in this DOC", source=upload.name, line=line)
        documents[name] = {
            "title": block.element("title") or block.element("headline"),
            "text": block.element("text") or block.without("docno", "title", "headline", "url"),
            "url": block.element("url"),
        }
    return documents
