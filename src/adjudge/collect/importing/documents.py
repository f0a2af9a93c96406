"""Documents: JSON Lines, tab-separated, or TREC's tagged text."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from adjudge.collect.importing.rows import json_lines, roles, table, words
from adjudge.collect.importing.upload import Upload
from adjudge.errors import BadData

_TEXT = 2_000  # characters of a document that a judge is shown


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


def read_documents(upload: Upload) -> dict[str, Document]:
    """The documents of a file by their ids."""
    head = upload.body[:200].lstrip()
    if head[:5].upper() == b"<DOC>":
        return _tagged(upload)
    if head[:1] == b"{":
        return _json(upload)
    columns, rows = table(upload)
    found = roles(columns)
    if "document" not in found:
        raise BadData(
            f"the columns are {', '.join(columns)}; wanted 'document', 'title', 'text'",
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
    for match in re.finditer(r"(?is)<DOC>(.*?)</DOC>", upload.text()):
        body = match.group(1)
        name = tag(body, "DOCNO")
        if not name:
            line = upload.text().count("\n", 0, match.start()) + 1
            raise BadData("there is no DOCNO in this DOC", source=upload.name, line=line)
        title = tag(body, "TITLE") or tag(body, "HEADLINE")
        inner = tag(body, "TEXT") or re.sub(r"(?is)<(DOCNO|TITLE|HEADLINE|URL)>.*?</\1>", " ", body)
        documents[name] = Document(title=title, text=_plain(inner), url=tag(body, "URL"))
    return documents


def tag(body: str, name: str) -> str:
    """The text within the first tag of that name."""
    match = re.search(rf"(?is)<{name}\b[^>]*>(.*?)</{name}>", body)
    return _plain(match.group(1)) if match else ""


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
