"""How formats of JSON are known by the beginning of a file that is some."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from adjudge.data.columns import comparison_roles, roles_of
from adjudge.data.formats._nesting import nests_in
from adjudge.data.formats.opening import File

_BY_JUDGE = re.compile(
    r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*'
    r'("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null)\s*[,}]'
)
_RECORD = re.compile(r"\[\s*\{")  # where the first object of a list begins
_LABEL_STUDIO = ('"result"', '"completed_by"', '"from_name"', '"data"')


def _first_record(text: str) -> dict[str, Any]:
    """The first object of a file; an empty one if it begins with something else."""
    try:
        record, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def columns_of(file: File) -> list[str]:
    """The columns of a Parquet file, or the keys of the first record of JSON."""
    if file.kind != "parquet":
        return list(_first_record(file.text))
    import pyarrow as pa
    import pyarrow.parquet

    try:
        return list(pa.parquet.read_schema(file.path).names)
    except (pa.ArrowInvalid, OSError):
        return []


def _has(*patterns: str) -> Callable[[File], bool]:
    """Text in which all of these patterns are found."""
    return lambda file: all(re.search(pattern, file.text) for pattern in patterns)


def _keys(*keys: str) -> Callable[[File], bool]:
    """JSON in whose beginning all of these keys stand."""
    return _has(*(rf'"{re.escape(key)}"\s*:' for key in keys))


def _label_studio(file: File) -> bool:
    """Annotations, and what Label Studio writes into or beside them."""
    text = file.text
    return '"annotations"' in text and any(mark in text for mark in _LABEL_STUDIO)


def _label_studio_flat(file: File) -> bool:
    """A list of annotations, an object each, with their annotator."""
    text = file.text.lstrip()
    keys = _first_record(text[text.find("{") :]).keys()
    return text.startswith("[") and {"id", "annotator", "annotation_id"} <= keys


def _doccano(file: File) -> bool:
    """Documents with annotations by users, or with a list of labels beside the text."""
    text = file.text.lstrip()
    record = _first_record(text[text.find("{") :])
    keys, given = list(record), record.get("annotations")
    if "annotations" in keys:
        entries = given if isinstance(given, list) else [None]
        return all(isinstance(one, dict) and _is_doccano(one) for one in entries[:1])
    lists = re.search(r'"(label|labels|cats)"\s*:\s*\[', text) is not None
    return lists and {"id", "text"} <= set(keys) and "judge" not in roles_of(keys)


def _is_doccano(entry: dict[str, Any]) -> bool:
    """An annotation with its user; or with a label, and no name of its own for item or judge."""
    other = {"item", "judge", "document"} & roles_of(list(entry)).keys()
    return "user" in entry or ("label" in entry and not other)


def _promptfoo(file: File) -> bool:
    """Results with how each was graded."""
    return _keys("gradingResult")(file) or _keys("evalId", "results")(file)


def _umbrela(file: File) -> bool:
    """Lines of judgments with query and passage, or of candidates with judgments."""
    rated = '"judgment"' in file.text and _keys("query")(file)
    return rated and (_keys("passage")(file) or _keys("candidates")(file))


def _quepid_book(file: File) -> bool:
    """An object with pairs of query and document."""
    return file.text.lstrip().startswith("{") and '"query_doc_pairs"' in file.text


def _pairs(file: File) -> bool:
    """A list whose first object is a comparison."""
    text = file.text.lstrip()
    return text.startswith("[") and bool(comparison_roles(list(_first_record(text[1:]))))


def listed_columns(file: File) -> list[str]:
    """The keys of the first object of a list, which may be in an object; none where is no list."""
    found = _RECORD.search(file.text)
    if found is None or not file.is_json_list:
        return []
    return list(_first_record(file.text[found.end() - 1 :]))


def _alt_test(file: File) -> bool:
    """An object of objects, the first of which begins with an item and its label."""
    text = file.text.lstrip()
    if _BY_JUDGE.match(text) is None:
        return False
    judges = [judge for judge in _first_record(text).values() if isinstance(judge, dict)]
    labels = [label for judge in judges for label in judge.values()]
    return not any(isinstance(one, list) and one and isinstance(one[0], dict) for one in labels)


RULES: dict[str, Callable[[File], bool]] = {
    "potato": _has(r'"(instance_id_to_label_to_value|label_annotations)"\s*:'),
    "inspect": _has(r'"eval"\s*:\s*\{', '"status"', '"task"'),
    "promptfoo": _promptfoo,
    "label-studio": _label_studio,
    "label-studio-flat": _label_studio_flat,
    "doccano": _doccano,
    "prodigy": _keys("_input_hash", "_task_hash", "answer"),
    "langfuse": _has(r'"trace_?[iI]d"\s*:', r'"name"\s*:', r'"value"\s*:', r'"source"\s*:'),
    "umbrela": _umbrela,
    "argilla": _has(r'"[^"\n]+\.(responses\.users|responses\.status|responses|suggestion)"\s*:'),
    "quepid-book-json": _quepid_book,
    "quepid-case-json": _keys("queries", "ratings", "query_text"),
    "opensearch": _keys("judgmentRatings"),
    "rank-eval": _keys("requests", "ratings", "_id"),
    "mt-bench": _has('"model_1"', '"g1_winner"'),
    "pairs": _pairs,
    "nested": lambda file: bool(nests_in(file)),
    "alt-test": _alt_test,
}
