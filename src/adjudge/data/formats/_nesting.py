"""Where the judgments of an item stand inside its record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from adjudge.data.columns import letters_of, roles_of
from adjudge.data.formats.opening import File
from adjudge.data.synonyms import SYNONYMS

_Form = Literal["list", "by judge", "lists"]


@dataclass(frozen=True, slots=True)
class Nest:
    """A place of judgments in a record: the keys that lead there, and how they stand in it."""

    name: str
    path: tuple[str, ...]
    form: _Form
    judges: tuple[str, ...] = ()  # the path to the judges, where they are a list of their own

    def judgments(self, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The judgments at a place of a record, each as columns and values."""
        held = _at(record, self.path)
        if self.form == "list":
            for one in held if isinstance(held, list) else []:
                yield spelt_out(one) if isinstance(one, dict) else {"value": one}
        elif self.form == "by judge":
            for judge, label in held.items() if isinstance(held, dict) else ():
                yield {"judge": judge, "label": label}
        else:
            judges, labels = _at(record, self.judges) or [], held or []
            same = len(judges) == len(labels)
            for at, judge in enumerate(judges):
                yield {"judge": judge, "label": labels[at]} if same else {"judge": judge}


def nests_in(file: File) -> dict[str, Nest]:
    """The places of judgments in the records of a file, by name, as its first record has them."""
    return _nests_of(_first_record(file))


def _first_record(file: File) -> dict[str, Any]:
    """The first object of a file that may be an item; an empty one where there is none."""
    if file.kind == "parquet":
        return _first_row(file)
    text = file.text.lstrip()
    start = 0 if text.startswith("{") and not file.is_json_list else text.find("{", 1)
    if file.is_json_list and text.startswith("{"):
        whole = _object(text)
        lists = [v for v in whole.values() if isinstance(v, list) and v and isinstance(v[0], dict)]
        return max(lists, key=len)[0] if lists else {}
    return _object(text[max(start, 0) :])


def _object(text: str) -> dict[str, Any]:
    try:
        record, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _first_row(file: File) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        parquet = pq.ParquetFile(file.for_arrow)
        if not any(pa.types.is_nested(kind) for kind in parquet.schema_arrow.types):
            return {}
        rows = next(iter(parquet.iter_batches(batch_size=1))).to_pylist()
    except (pa.ArrowException, OSError, StopIteration):
        return {}
    return rows[0] if rows else {}


def _nests_of(record: dict[str, Any]) -> dict[str, Nest]:
    """The places of judgments in a record, by name; none in one that is a judgment itself."""
    plain = {k: v for k, v in record.items() if not isinstance(v, list | dict)}
    if {"judge", "label"} <= roles_of(list(plain)).keys():
        return {}
    found: dict[str, Nest] = {}
    for path, held in _inside(record):
        nest = _nest(path, held)
        if nest is not None:
            found[nest.name] = nest
    return found or _parallel(record)


def _inside(record: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What is nested in a record, and in the objects in it."""
    for key, value in record.items():
        yield (key,), value
        if isinstance(value, dict):
            yield from (((key, inner), held) for inner, held in value.items())


def _nest(path: tuple[str, ...], held: Any) -> Nest | None:
    name = path[-1]
    if isinstance(held, list) and held and all(isinstance(one, dict) for one in held):
        if "judge" in roles_of(list(spelt_out(held[0]))):
            return Nest(name, path, "list")
    elif isinstance(held, dict) and len(held) > 1 and _is_plural(name, "label"):
        nested = any(isinstance(one, list | dict) for one in held.values())
        return None if nested else Nest(name, path, "by judge")
    return None


def _parallel(record: dict[str, Any]) -> dict[str, Nest]:
    """Two lists of one length, of judges and of their labels."""
    lists = {
        key: value
        for key, value in record.items()
        if isinstance(value, list) and not any(isinstance(one, list | dict) for one in value)
    }
    judges = [key for key in lists if _is_plural(key, "judge")]
    labels = [key for key in lists if _is_plural(key, "label")]
    if len(judges) != 1:
        return {}
    own = lists[judges[0]]
    return {
        key: Nest(key, (key,), "lists", (judges[0],))
        for key in labels
        if len(lists[key]) == len(own)
    }


def _is_plural(name: str, role: str) -> bool:
    """Whether a key says in the plural, perhaps with ids, what plays a role."""
    letters = letters_of(name)
    return any(letters in (f"{word}s", f"{word}es", f"{word}ids") for word in SYNONYMS[role])


def _at(record: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def spelt_out(record: dict[str, Any], before: str = "") -> dict[str, Any]:
    """An object whose nested objects are spelt out by their paths."""
    cells: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            cells |= spelt_out(value, f"{before}{key}.")
        else:
            cells[f"{before}{key}"] = value
    return cells
