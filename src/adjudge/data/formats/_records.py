"""JSON exports: records with the place where each stands, and the table made of them.

Such exports are made for people and tools, not for millions of rows, so they are walked in Python.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File
from adjudge.data.scale import canonical
from adjudge.data.source import Source
from adjudge.errors import BadData, Remedy, shown


def read_parquet(
    file: File,
    columns: Callable[[list[str]], list[str]] | None = None,
    coded: Callable[[list[str]], list[str]] | None = None,
) -> Any:
    """A Parquet file as a table; with ``columns``, those of its columns that it chooses.

    ``coded`` picks those that are read as dictionaries where the file is large.
    """
    import pyarrow.parquet as pq

    from adjudge.data.formats.delimited import is_large

    try:
        parquet = pq.ParquetFile(file.for_arrow)
        names = parquet.schema_arrow.names
        chosen = columns and columns(names)
        if coded is None or not is_large(file):
            return parquet.read(columns=chosen)
        fields = [parquet.schema_arrow.field(name) for name in coded(names)]
        text = (pa.string(), pa.large_string())
        texts = [field.name for field in fields if field.type in text]
        table = pq.ParquetFile(file.for_arrow, read_dictionary=texts).read(columns=chosen)
        table = table.unify_dictionaries()
        pa.default_memory_pool().release_unused()  # the dictionaries of the row groups
        return table
    except (pa.ArrowInvalid, OSError) as error:
        raise BadData(
            f"is cut short, or no Parquet file ({str(error).splitlines()[0]})",
            source=file.name,
            expected="a whole Parquet file",
        ) from None


def read_json(file: File) -> Any:
    """What a JSON file holds; a fault is named with its line."""
    return _parsed(file.read_text(), file.name)


def as_object(value: Any) -> dict[str, Any]:
    """A JSON object as it is; nothing where another kind of value stands for it."""
    return value if isinstance(value, dict) else {}


def read_records(file: File, what: str) -> list[tuple[str, Any]]:
    """The records of a JSON array, or of a file with one JSON object a line, with their places.

    A place reads ``task 3`` where ``what`` is a task.
    """
    text = file.read_text()
    whole = text.lstrip()
    if whole.startswith("{"):
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and _is_json(lines[0]):
            return list(_by_line(text, file.name, what))
    found = _parsed(text, file.name)
    records = found if isinstance(found, list) else [found]
    return [(f"{what} {number}", record) for number, record in enumerate(records, start=1)]


def _parsed(text: str, name: str, first: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as fault:
        raise BadData(
            f"is no JSON: {fault.msg} at character {fault.colno}",
            source=name,
            line=fault.lineno + first - 1,
            expected="JSON",
        ) from None
    except RecursionError:
        raise BadData("is no JSON that can be read: nested too deep", source=name) from None
    except ValueError:  # Python takes no number of thousands of digits
        reason = "is no JSON that can be read: a number has too many digits"
        raise BadData(reason, source=name) from None


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _by_line(text: str, name: str, what: str) -> Iterator[tuple[str, Any]]:
    count = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            count += 1
            yield f"{what} {count}", _parsed(line, name, number)


class RecordRows:
    """Rows gathered from records: a table of text columns, and the source that knows their places.

    A fault in a record is raised, or with ``skip_bad`` noted, by ``fault``.
    """

    def __init__(self, file: File, options: Options) -> None:
        self._rows: list[dict[str, Any]] = []
        self._places: list[str] = []
        self.source = Source(
            file.name, skip_bad=options.skip_bad, place_of=self._place_of, notes=options.notes
        )

    def __len__(self) -> int:
        return len(self._rows)

    def _place_of(self, row: int) -> str:
        return self._places[row]

    def add(self, place: str, row: dict[str, Any]) -> None:
        """Keep a row, and the place of the record that it came from."""
        self._rows.append(row)
        self._places.append(place)

    def fault(
        self,
        place: str,
        problem: str,
        *,
        value: object = None,
        wanted: str = "",
        remedies: Iterable[Remedy] = (),
    ) -> None:
        """Refuse a record at a place, or note it where bad rows are skipped."""
        error = BadData(
            problem,
            source=self.source.name,
            record=place,
            value=value,
            expected=wanted or None,
            remedies=remedies,
        )
        if not self.source.skip_bad:
            raise error
        self.source.note(len(self._rows), error)

    def values(self, name: str) -> list[str]:
        """The texts of one column, those that are missing left out."""
        return [text for row in self._rows if (text := as_text(row.get(name))) is not None]

    def table(self, *names: str) -> Any:
        """The rows as a table: the columns named, then whatever else the rows hold."""
        every = dict.fromkeys([*names, *(name for row in self._rows for name in row)])
        return pa.table(
            {
                name: pa.array([as_text(row.get(name)) for row in self._rows], pa.large_string())
                for name in every
            }
        )


def as_text(value: object) -> str | None:
    """A JSON value as the text of a cell: null is missing, 3.0 is 3, true is true."""
    if value is None:
        return None
    if isinstance(value, str):
        # A lone half of a surrogate pair is legal in JSON and not in any text.
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return canonical(value)
    return json.dumps(value, ensure_ascii=False)


def scalars(record: object) -> dict[str, Any]:
    """The entries of an object that fit into a cell: text, numbers, truth values."""
    if not isinstance(record, dict):
        return {}
    return {str(k): v for k, v in record.items() if isinstance(v, str | int | float | bool)}


def single(value: object) -> tuple[str | None, str]:
    """The one label that an answer holds, and otherwise what is wrong with it.

    A list of one counts as its entry; an empty answer is no label and no fault.
    """
    if isinstance(value, list):
        if len(value) > 1:
            return None, f"{len(value)} labels ({shown(value)}) where one is wanted"
        value = value[0] if value else None
    if isinstance(value, dict | list):
        return None, f"{shown(value)} is no label; wanted a text or a number"
    text = as_text(value)
    return (text if text is not None and text.strip() else None), ""


def records_in(found: Any, name: str) -> tuple[str, list[Any]]:
    """The longest list of objects in JSON, and what to call one of them."""
    if isinstance(found, list):
        return "record", found
    lists = {
        key: value
        for key, value in (found.items() if isinstance(found, dict) else ())
        if isinstance(value, list) and value and isinstance(value[0], dict)
    }
    if not lists:
        keys = ", ".join(found) if isinstance(found, dict) else "none"
        raise BadData(f"there is no list of objects; its keys are {keys}", source=name)
    key = max(lists, key=lambda key: len(lists[key]))
    return f"{key} entry", lists[key]
