"""Quepid: a book in JSON, with the fields of its documents to show."""

from __future__ import annotations

from typing import Any

from adjudge.collect.importing._preview import Gathering
from adjudge.collect.importing._rows import find_roles, read_json_text, words
from adjudge.collect.importing._upload import Upload
from adjudge.data.source import count_of
from adjudge.errors import BadData


def read(upload: Upload, gathering: Gathering) -> None:
    """Every pair of the book as an item; the judgments in it are left out, and counted."""
    book = read_json_text(upload.text(), upload.name)
    pairs = book.get("query_doc_pairs")
    if not isinstance(pairs, list):
        raise BadData("query_doc_pairs is no list", source=upload.name)
    judged = 0
    for at, pair in enumerate(pairs, start=1):
        place = f"{upload.name}, pair {at}"
        if not isinstance(pair, dict):
            gathering.add_fault("is no object", source=place)
            continue
        query, document = words(pair.get("query_text")), words(pair.get("doc_id"))
        if not query or not document:
            gathering.add_fault("wanted query_text and doc_id", source=place)
            continue
        topic = gathering.topic_of(query)
        given = pair.get("judgements")
        judged += len(given) if isinstance(given, list) else 0
        cells = {
            "name": f"{topic}/{document}", "topic": topic, "query": query, "document": document,
            "need": words(pair.get("information_need") or pair.get("notes")),
            **_shown(pair.get("document_fields")),
        }  # fmt: skip
        gathering.add(cells, source=place, line=None)
    if judged:
        gathering.notes.append(
            f"{count_of(judged, 'judgment')} in the book {'was' if judged == 1 else 'were'} "
            f"left out: "
            "'adjudge consensus' reads them."
        )


def _shown(fields: Any) -> dict[str, str]:
    """The fields of a document that a judge can be shown; others become lines of the text."""
    if isinstance(fields, str):
        try:
            fields = read_json_text(fields)
        except BadData:
            return {"text": fields}
    if not isinstance(fields, dict):
        return {}
    found = find_roles(list(fields))
    shown = ("title", "text", "url", "image")
    parts: dict[str, str] = {p: words(fields[found[p]]) for p in shown if p in found}
    used = {found[part] for part in parts}
    rest = [f"{name}: {words(v)}" for name, v in fields.items() if name not in used and v]
    if rest:
        parts["text"] = "\n".join([*filter(None, [parts.get("text")]), *rest])
    for part in ("url", "image"):  # Quepid often holds a path or an id there
        if not parts.get(part, "").lower().startswith(("http://", "https://")):
            parts.pop(part, None)
    return parts
