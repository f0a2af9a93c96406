"""OpenSearch search relevance workbench: a judgment list, read as gold and written from labels."""

from __future__ import annotations

import json
from typing import IO, Any

from adjudge.data.formats.format import Content, Format, Options, need
from adjudge.data.formats.opening import File
from adjudge.data.formats.ratings import need_pairs, queries, ratings
from adjudge.data.formats.records import RecordRows, read_json
from adjudge.data.gold_table import gold_from_table
from adjudge.data.scale import as_number, canonical
from adjudge.errors import BadData, shown


def _read(file: File, options: Options) -> Content:
    """The rating of each pair of query and document, as gold."""
    found = read_json(file)
    listed = found.get("judgmentRatings") if isinstance(found, dict) else None
    if not isinstance(listed, list):
        raise BadData("there is no list judgmentRatings", source=file.name, wanted="ratings")
    rows = RecordRows(file, options)
    for at, entry in enumerate(listed, start=1):
        given = entry.get("ratings") if isinstance(entry, dict) else None
        if not isinstance(given, list):
            rows.fault(f"query {at}", f"{shown(entry)} has no list ratings", wanted="ratings")
            continue
        for number, pair in enumerate(given, start=1):
            place = f"query {at}, rating {number}"
            whole = isinstance(pair, dict) and pair.get("docId") is not None
            rating = canonical(str(pair.get("rating"))) if whole else ""
            if as_number(rating) is None:
                rows.fault(place, f"{shown(pair)}; wanted docId and a number as rating")
                continue
            query = str(entry.get("query", ""))
            rows.add(place, {"topic": query, "document": str(pair["docId"]), "gold": rating})
    if not len(rows):
        raise rows.source.error(None, "there is no rating in this file")
    table = rows.table("topic", "document", "gold")
    gold = gold_from_table(table, source=rows.source, scale=options.truths)
    return Content(gold=gold, bad=rows.source.skipped)


def _write(content: Content, file: IO[bytes]) -> None:
    """The label of each pair of query and document as a rating such as ``"3.000"``."""
    labels = need(content, "labels", "opensearch")
    need_pairs(labels.column_names, "opensearch")
    rated = ratings(labels["label"], content.known_scale, "opensearch").to_pylist()
    documents = labels["document"].to_pylist()
    found: dict[str, list[dict[str, str]]] = {}
    for query, document, rating in zip(
        queries(labels["topic"], content.texts).to_pylist(), documents, rated, strict=True
    ):
        found.setdefault(query, []).append({"docId": document, "rating": f"{rating:.3f}"})
    whole: dict[str, Any] = {
        "name": "adjudge",
        "description": "Labels that adjudge made of judgments",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [{"query": q, "ratings": entries} for q, entries in found.items()],
    }
    file.write((json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode())


FORMATS = (
    Format(
        name="opensearch",
        title="OpenSearch search relevance workbench: judgments to import, in JSON",
        reads=("gold",),
        writes=("labels",),
        extension=".json",
        read=_read,
        write=_write,
    ),
)
