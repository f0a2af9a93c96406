"""UMBRELA: judgments of query and passage by a language model, one JSON object a line.

The topic and the document are those of ``qid`` and ``docid`` where they are given, else the texts;
the label is ``judgment``; the judge is ``model``, else the file. Pooled results of RAGnarök's kind
have a query with its candidates, each with a judgment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from adjudge.data.formats._ratings import judge_name, rated_content
from adjudge.data.formats._records import RecordRows, as_text, read_records
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.source import count_of
from adjudge.errors import BadData

_NAMES = ("query", "passage", "model", "judgment")


def _read(file: File, options: Options) -> Content:
    """The judgments of one model, or of several."""
    rows, failed = RecordRows(file, options), 0
    for place, record in read_records(file, "judgment"):
        for query, document, entry in _judged(record):
            label = as_text(entry.get("judgment", entry.get("judgement")))
            if label is None or not label.strip() or entry.get("result_status") in (0, False):
                failed += 1
                continue
            judge = as_text(entry.get("model")) or judge_name(file.name)
            rows.add(place, dict(zip(_NAMES, (query, document, judge, label), strict=True)))
    if failed:
        rows.source.remark(f"{count_of(failed, 'judgment')} left out: the model gave no grade")
    if not len(rows):
        raise BadData("there is no judgment in it", source=file.name)
    if options.wanted is None:
        options = replace(options, wanted="judgments")
    return rated_content(rows, options, _NAMES)


def _judged(record: Any) -> Iterator[tuple[str | None, str | None, dict[str, Any]]]:
    """The judgments of a line, each with its query and passage."""
    if not isinstance(record, dict):
        return
    query = record.get("query")
    topic = _id(record, query, ("qid", "query_id", "topic_id"))
    candidates = record.get("candidates")
    if isinstance(candidates, list):
        for entry in candidates:
            if isinstance(entry, dict):
                yield topic, _id(entry, entry.get("doc"), ("docid", "doc_id", "pid")), entry
        return
    passage = record.get("passage", record.get("doc"))
    yield topic, _id(record, passage, ("docid", "doc_id", "pid", "passage_id")), record


def _id(record: dict[str, Any], value: Any, keys: tuple[str, ...]) -> str | None:
    """The id of a query or passage, or its text where it has none."""
    found = next((text for key in keys if (text := as_text(record.get(key)))), None)
    if found is None and isinstance(value, dict):
        inner = (value.get(key) for key in (*keys, "id", "text", "segment"))
        found = next((text for one in inner if (text := as_text(one))), None)
    return found or (as_text(value) if not isinstance(value, dict) else None)


FORMATS = (
    Format(
        name="umbrela",
        title="UMBRELA: query, passage, judgment of a model, one JSON object a line",
        reads=("judgments", "gold"),
        extension=".jsonl",
        read=_read,
    ),
)
