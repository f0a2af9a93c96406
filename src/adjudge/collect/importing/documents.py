"""Documents: JSON Lines, tab-separated, or TREC's tagged text."""

from __future__ import annotations

from dataclasses import dataclass, replace

from adjudge.collect.importing.rows import json_lines, list_columns, roles, table, words
from adjudge.collect.importing.tags import read_blocks
from adjudge.collect.importing.upload import ImportLimits, Upload
from adjudge.errors import BadData

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
    columns, rows = table(upload, replace(limits, rows=limits.lines))
    found = roles(columns)
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


def _json(upload: Upload) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    for line, record in json_lines(upload):
        name = next(
            (words(record[key]) for key in ("_id", "id", "docid", "doc_id", "docno", "document")
             if record.get(key) is not None), "",
        )  # fmt: skip
        if not name:
            raise BadData("there is no _id, id, docid or docno", source=upload.name, line=line)
        found = roles([key for key in record if key not in ("_id", "id")])
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
