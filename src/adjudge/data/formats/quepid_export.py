"""Quepid: a whole case in JSON, with who rated what, and the static file of a snapshot in CSV.

A case in JSON names for each rating the person who gave it last, if it is known: then its ratings
are judgments, else gold. The static file lists for each query the documents that were found, in
order and without ratings: it is a run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data.columns import letters_of
from adjudge.data.formats._exports import left_out
from adjudge.data.formats._ratings import rated_content
from adjudge.data.formats._records import RecordRows, read_json, single
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.names import as_names
from adjudge.errors import BadData, shown

_NAMES = ("query_text", "doc_id", "user_email", "rating")


def _read_case(file: File, options: Options) -> Content:
    """The ratings of a case."""
    found = read_json(file)
    queries = found.get("queries") if isinstance(found, dict) else None
    if not isinstance(queries, list):
        raise BadData("there is no list of queries", source=file.name, expected="a case")
    rows, unrated = RecordRows(file, options), 0
    for number, query in enumerate(queries, start=1):
        if not isinstance(query, dict):
            rows.fault(f"query {number}", f"{shown(query)} is no query; wanted an object")
            continue
        for place, entry in enumerate(_ratings(query), start=1):
            where = f"query {number}, rating {place}"
            label, problem = single(entry.get("rating"))
            if problem:
                rows.fault(where, problem, value=entry.get("rating"), wanted="one rating")
            elif label is None:
                unrated += 1
            else:
                document = entry.get("doc_id", entry.get("docid"))
                person = entry.get("user_email") or entry.get("user_name") or "Unknown"
                cells = (query.get("query_text"), document, person, label)
                rows.add(where, dict(zip(_NAMES, cells, strict=True)))
    if not len(rows):
        raise BadData("there is no rating in this case", source=file.name)
    named = set(rows.values("user_email")) != {"Unknown"}
    if named and options.wanted is None:
        options = replace(options, wanted="judgments")
    content = rated_content(rows, options, _NAMES)
    more = (left_out(unrated, "rating", "no value"),) if unrated else ()
    return Content(
        judgments=content.judgments,
        gold=content.gold,
        bad=content.bad,
        notes=content.notes + more,
    )


def _ratings(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The ratings of a query: a list with who gave them, or an object of documents."""
    given = query.get("ratings")
    if isinstance(given, dict):
        return [{"doc_id": document, "rating": rating} for document, rating in given.items()]
    return [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []


def _read_static(file: File, options: Options) -> Content:
    """The documents of each query in their order, as a run."""
    table, source = read_delimited(file, options)
    names = {letters_of(name): name for name in table.column_names}
    position = pc.utf8_trim_whitespace(table[names["docposition"]])
    try:
        rank = np.asarray(position.cast(pa.int64()), dtype=np.int64)
    except pa.ArrowInvalid:
        raise source.error(
            None, "a position is no whole number", column=names["docposition"]
        ) from None
    source.remark("documents as they were found, without ratings: nobody judged them yet")
    columns = {
        "topic": as_names(table[names["querytext"]]),
        "document": as_names(table[names["docid"]]),
        "rank": pa.array(rank),
        "score": pa.array(-rank.astype(np.float64)),
        "tag": pa.array(["quepid"] * len(rank), pa.large_string()),
        "line": pa.array([source.error(row, "").line or 0 for row in range(len(rank))]),
    }
    return Content(run=pa.table(columns), bad=source.skipped)


FORMATS = (
    Format(
        name="quepid-case-json",
        title="Quepid case in JSON: queries with the ratings of their documents, and by whom",
        reads=("judgments", "gold"),
        extension=".json",
        read=_read_case,
    ),
    Format(
        name="quepid-static",
        title="Quepid static file: Query Text, Doc ID, Doc Position, as they were found",
        reads=("run",),
        read=_read_static,
    ),
)
