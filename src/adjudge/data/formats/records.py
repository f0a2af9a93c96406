"""Judgments in JSON by description: where the records are, and which field has which role.

``Records`` reads a list of objects, lists of objects in objects, or objects by key, from JSON, JSON
Lines or a delimited table with the same fields. A format whose records are not flat gives a
function, ``rows``, from one record to rows by role. Such exports are made for people and tools, not
for millions of rows, so they are walked in Python.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from adjudge.data._gold_table import gold_from_table
from adjudge.data._reshaping import kind_of_word
from adjudge.data.columns import letters_of
from adjudge.data.comparisons import load_comparisons
from adjudge.data.formats.delimited import is_large, read_delimited
from adjudge.data.formats.format import Content, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.tables import (
    choose_question,
    judge_name,
    judged_content,
    left_out,
    pair_columns,
    scale_of,
    without_repeats,
)
from adjudge.data.gold import Gold
from adjudge.data.scale import as_number, canonical
from adjudge.errors import BadData, Remedy, shown

FILE = "<file>"  # a judge who is called as the file
INPUT = "input."  # how the columns begin that describe an item
Row = dict[str, Any]  # the value of each role, and of the inputs


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something in a record that is not a judgment: what it is called, and the reason."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A value that a record must not hold; ``place`` is where it is in the record."""

    problem: str
    code: str
    value: object = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """One step on the path to the records: a list under a key, or an object by key.

    At the first level, the key is empty for a file that is a list, and ``*`` for the longest list
    in it. With ``by``, an object may replace the list: its keys are the field ``by``, its values
    the field ``value``. ``optional``: a record without the key is a judgment itself. Places in
    error messages count by ``unit``.
    """

    unit: str = "record"
    key: str = ""
    by: str = ""
    value: str = "label"
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class Records:
    """How judgments are found in JSON.

    ``roles``: the fields of each role, of which the first that holds something counts, with a dot
    between the keys of nested objects; with ``+`` between fields, their values are joined by ``/``.
    A field is looked up in the record, then in those around it. ``loose``: the names of fields are
    compared by their letters. ``judge``: who judged where no judge is named, or ``FILE``.

    ``skips``: fields, a test of their value, and why such a record is not a judgment.
    ``unlabelled``: the reason where there is no label; empty to leave it out without a note.
    ``inputs``: a field with an object that describes the item. ``questions``: the questions in a
    record, where a file may hold several, each called a ``question``. ``several``: labels are lists
    of options. ``load``: what a file holds, where that is not its JSON as it is.

    ``gold_of``: ratings by this judge alone are gold, unless judgments are asked for (``*``: by
    any one judge). A topic, a document and a label are then required.
    """

    levels: tuple[Level, ...] = (Level(),)
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: Callable[[Row, str], Iterable[Row | LeftOut | Fault]] | None = None
    loose: bool = False
    judge: str = ""
    skips: tuple[tuple[str, Callable[[Any], object], str], ...] = ()
    unlabelled: str = "no answer"
    inputs: str = ""
    questions: Callable[[Row], Iterable[str]] | None = None
    question: str = "question"
    several: bool = False
    load: Callable[[File], Any] | None = None
    rated: bool = False
    gold_of: str = ""

    def read(self, file: File, options: Options) -> Content:
        """Read what a file holds."""
        found = self.load(file) if self.load is not None else self._load(file, options)
        return self.content(found, file, options)

    def _load(self, file: File, options: Options) -> Any:
        """Return the JSON in a file, the records of JSON Lines, or the rows of a table."""
        if not file.is_json:
            return read_delimited(file, options)[0].to_pylist()
        records = [record for _, record in read_records(file, "")]
        return records[0] if len(records) == 1 and not file.is_listed else records

    def content(self, found: Any, file: File, options: Options) -> Content:
        """Return the judgments, gold or comparisons in JSON."""
        rows, golds = RecordRows(file, options), RecordRows(file, options)
        name = ""
        if self.questions is not None:
            known = (record for _, record in self._walk(found) if isinstance(record, dict))
            names = [name for record in known for name in self.questions(record)]
            name = choose_question(names, options, file.name, self.question)
        gone = Counter[LeftOut]()
        for place, record in self.records(found, rows):
            given = self.rows(record, name) if self.rows else [self._make_row(record, name)]
            for row in given:
                if row is not None:
                    self._keep(row, place, rows, golds, gone)
        notes = tuple(left_out(n, gap.what, gap.reason) for gap, n in gone.items() if gap.reason)
        if not len(rows) and not len(golds):
            reason = f": {'; '.join(notes)}" if notes else ""
            raise BadData(f"there is no judgment{reason}", source=file.name, code="no-judgments")
        content = self._content(rows, golds, options)
        bad = (*rows.source.skipped, *golds.source.skipped)
        return replace(content, notes=(*content.notes, *notes), bad=bad)

    def records(self, found: Any, rows: RecordRows) -> Iterator[tuple[str, Row]]:
        """Return the records with their places; an entry that is not an object is refused."""
        for place, record in self._walk(found):
            if isinstance(record, dict):
                yield place, record
            else:
                rows.refuse(place, record)

    def _walk(self, found: Any) -> list[tuple[str, Any]]:
        """Walk down to the records, each with the fields of those around it."""
        top = found if isinstance(found, dict) and self.levels[0].key not in ("", "*") else {}
        parts: list[tuple[str, Any]] = [("", top)]
        for number, level in enumerate(self.levels):
            below: list[tuple[str, Any]] = []
            for before, around in parts:
                if not isinstance(around, dict):
                    below.append((before, around))
                    continue
                held = around.get(level.key) if number or top else _top(found, level)
                if held is None and level.optional:
                    below.append((before, around))
                    continue
                for where, entry in _entries(held, level):
                    place = ", ".join(part for part in (before, where) if part)
                    below.append((place, around | entry if isinstance(entry, dict) else entry))
            parts = below
        if self.loose:
            return [(p, {letters_of(k): v for k, v in as_object(r).items()}) for p, r in parts]
        return parts

    def _make_row(self, record: Row, name: str) -> Row | LeftOut | Fault | None:
        """Return the row that the fields of a record make; none where the question is another."""
        if self.questions is not None and name not in self.questions(record):
            return None
        for path, test, reason in self.skips:
            if test(_value_at(record, path)):
                return LeftOut(self.levels[-1].unit, reason)
        row: Row = {role: _first_text(record, paths) for role, paths in self.roles.items()}
        labels = (_value_at(record, path) for path in self.roles["label"])
        row["label"] = next((label for label in labels if label not in (None, "")), None)
        missing = [role for role in ("document", "label") if row.get(role) is None]
        if self.gold_of == "*" and missing:
            expected = " and ".join(self.roles[role][0] for role in missing)
            return Fault(f"expected {expected}, got {shown(record)}", "missing-field")
        return row | (inputs_of(record.get(self.inputs)) if self.inputs else {})

    def _keep(
        self,
        row: Row | LeftOut | Fault,
        place: str,
        rows: RecordRows,
        golds: RecordRows,
        gone: Counter[LeftOut],
    ) -> None:
        """Keep a row, count what is left out, or refuse a fault."""
        if isinstance(row, LeftOut):
            gone[row] += 1
            return
        if isinstance(row, Fault):
            where = f"{place}, {row.place}" if row.place else place
            rows.fault(where, row.problem, code=row.code, value=row.value)
            return
        where = ", ".join(part for part in (place, row.pop("place", "")) if part)
        key, kept = ("gold", golds) if "gold" in row else ("label", rows)
        row = _with_model(row, gone)
        if key == "label" and row.get("judge") in (None, ""):
            name = rows.source.name
            row["judge"] = judge_name(name) if self.judge == FILE else self.judge or None
        given = row[key]
        if self.several and isinstance(given, list):
            kept.add(where, row | {key: json.dumps(given, ensure_ascii=False)})
            return
        label, problem = single(given)
        if problem:
            kept.fault(where, problem, code="not-one-label", value=given)
        elif label is None:
            gone[LeftOut(row.get("what", self.levels[-1].unit), self.unlabelled)] += 1
        else:
            row.pop("what", None)
            kept.add(where, row | {key: label})

    def _content(self, rows: RecordRows, golds: RecordRows, options: Options) -> Content:
        """Return what the rows hold."""
        table, source = rows.table("judge", "label"), rows.source
        if "left" in table.column_names:
            return Content(comparisons=load_comparisons(table, source=source))
        roles = _roles_of(table.column_names)
        notes: tuple[str, ...] = ()
        if self.rated:
            table, again = without_repeats(table, source)
            notes = (left_out(again, "rating", "repeated word for word"),) if again else ()
            people = set(rows.values("judge"))
            alone = len(people) == 1 and options.kind != "judgments"
            if alone and (options.kind is not None or self.gold_of in ("*", *people)):
                places = {role: roles[role] for role in ("topic", "document")}
                rated = gold_from_table(
                    table, source=source, roles={**places, "gold": "label"}, scale=options.truths
                )
                return Content(gold=rated, notes=notes)
        gold = _gold(golds, options) if len(golds) else None
        if not len(rows):
            return Content(gold=gold)
        scale = options.scale
        if scale is None and gold is not None:
            scale = scale_of([*rows.values("label"), *golds.values("gold")])
        inputs = tuple(name for name in table.column_names if name.startswith(INPUT))
        content = judged_content(
            table,
            source,
            roles,
            replace(options, scale=scale),
            inputs=inputs,
            prefix=INPUT,
            choices="lists" if self.several else "",
        )
        if set(_ANSWERED) & set(table.column_names):
            content = replace(content, answers=table)
        if gold is not None and content.judgments is not None:
            gold.codes(content.judgments.scale)  # refuses gold of another kind than the labels
            content = replace(content, gold=gold)
        return replace(content, notes=notes)


def _with_model(row: Row, gone: Counter[LeftOut]) -> Row:
    """Return the row of a judge named by model and prompt, without what is not known of it."""
    row = {name: value for name, value in row.items() if value is not None or name not in _ABOUT}
    for name in ("confidence", "cost", "tokens"):
        if name in row and as_number(str(row[name])) is None:
            del row[name]
            gone[LeftOut(name, "not a number")] += 1
    model, judge = row.get("model"), row.get("judge") or None
    if model and judge != model:
        own = {"prompt": judge} if judge else {}
        row = {**own, **row, "judge": f"{model}/{judge}" if judge else model}
    known = kind_of_word(row.get("kind", "")) is not None
    return {**row, "kind": "model"} if model and not known else row


def _top(found: Any, level: Level) -> Any:
    """Return the records of a file whose first level has no key of its own."""
    if level.key == "*":
        return longest_list(found) or [found]
    return found if isinstance(found, list) or level.by else [found]


def _entries(held: Any, level: Level) -> Iterator[tuple[str, Any]]:
    """Return the entries at a level, each with its place."""
    if isinstance(held, dict) and level.by:
        for key, value in held.items():
            inner = value if isinstance(value, dict) else {}
            place = f"{level.unit} {shown(key)}" if level.unit else ""
            yield place, {**inner, level.by: key, level.value: value}
    elif held is not None:
        for number, entry in enumerate(held if isinstance(held, list) else [held], start=1):
            yield f"{level.unit} {number}" if level.unit else "", entry


def _value_at(record: Row, path: str) -> Any:
    """Return the value of a field; a dot separates the keys of nested objects."""
    if path in record or "." not in path:
        return record.get(path)
    key, _, rest = path.partition(".")
    return _value_at(_object_in(record.get(key)), rest)


def _first_text(record: Row, paths: Iterable[str]) -> str | None:
    """Return the first of several fields that holds text or a number."""
    for path in paths:
        values = (_value_at(record, part) for part in path.split("+"))
        texts = [as_text(value) for value in values if not isinstance(value, list | dict)]
        if joined := "/".join(text for text in texts if text):
            return joined
    return None


def inputs_of(record: object, leave: Callable[[str], bool] = lambda _: False) -> Row:
    """Return what describes an item: the text, numbers and truth values of an object."""
    return {
        f"{INPUT}{name}": value
        for name, value in _object_in(record).items()
        if isinstance(value, str | int | float | bool) and not leave(str(name))
    }


def _object_in(value: object) -> Row:
    """Return an object, also one that is written as JSON in a text, and otherwise an empty one."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return as_object(value)


_OF_JUDGES = ("kind", "prompt", "version")
_ANSWERED = ("model", "confidence", "cost", "tokens")  # what ModelAnswers takes from a table
_ABOUT = (*_OF_JUDGES, *_ANSWERED)
_ROLES = ("item", "topic", "document", "judge", "label", "gold", "time", "seconds", *_OF_JUDGES)


def _roles_of(columns: list[str]) -> dict[str, str]:
    """Return the column of each role; inputs are topic and document where their names say so."""
    roles = {role: role for role in _ROLES if role in columns}
    inputs = [name.removeprefix(INPUT) for name in columns if name.startswith(INPUT)]
    pair = {} if "topic" in roles else pair_columns(inputs)
    roles |= {"family": "model"} if "model" in columns else {}
    return roles | {role: f"{INPUT}{name}" for role, name in pair.items()}


def _gold(golds: RecordRows, options: Options) -> Gold | None:
    """Return the gold in rows of it, if any is left."""
    table = golds.table()
    roles = _roles_of(table.column_names)
    gold = gold_from_table(table, source=golds.source, roles=roles, scale=options.scale)
    return gold if len(gold) else None


def json_records(file: File, rows: RecordRows) -> Iterator[tuple[str, Row]]:
    """Return the objects of JSON with their places: by key, listed somewhere, or line by line.

    Of objects by key, the key is the item. Anything but an object among them is refused.
    """
    if file.keyed:
        for key, value in as_object(read_json(file)).items():
            yield f"record {shown(key)}", {"item": key, **as_object(value)}
    elif file.is_json_list:
        yield from Records(levels=(Level("record", "*"),)).records(read_json(file), rows)
    else:
        yield from Records().records([record for _, record in read_records(file, "")], rows)


def rows_of_json(file: File, options: Options) -> RecordRows:
    """Return the objects in JSON as rows."""
    rows = RecordRows(file, options)
    for place, record in json_records(file, rows):
        rows.add(place, record)
    return rows


class RecordRows:
    """Rows gathered from records: a table of text columns, and the source that knows their places.

    A fault in a record is raised, or with ``skip_bad`` noted, by ``fault``.
    """

    def __init__(self, file: File, options: Options) -> None:
        self._rows: list[Row] = []
        self._places: list[str] = []
        self.source = options.source(file.name, place_of=self._places.__getitem__)

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, place: str, row: Row) -> None:
        """Keep a row, and the place of the record that it came from."""
        self._rows.append(row)
        self._places.append(place)

    def refuse(self, place: str, entry: object) -> None:
        """Refuse an entry that is not an object."""
        problem = f"expected an object, got {shown(entry)}"
        self.fault(place, problem, code="not-an-object", value=entry)

    def fault(
        self,
        place: str,
        problem: str,
        *,
        code: str,
        value: object = None,
        remedies: Iterable[Remedy] = (),
    ) -> None:
        """Refuse a record at a place, or note it where bad rows are skipped."""
        error = BadData.at(
            self.source.name, code, problem, record=place, value=value, remedies=remedies
        )
        self.source.refuse(len(self._rows), error)

    def values(self, name: str) -> list[str]:
        """Return the texts of one column without those that are missing."""
        return [text for row in self._rows if (text := as_text(row.get(name))) is not None]

    def table(self, *names: str) -> Any:
        """Return the rows as a table: the columns named, then the others in the rows."""
        every = dict.fromkeys([*names, *(name for row in self._rows for name in row)])
        return pa.table(
            {
                name: pa.array([as_text(row.get(name)) for row in self._rows], pa.large_string())
                for name in every
            }
        )


def as_text(value: object) -> str | None:
    """Return a JSON value as the text of a cell: null is missing, 3.0 is 3, true is true."""
    if value is None:
        return None
    if isinstance(value, str):
        # A lone half of a surrogate pair is legal in JSON and not in any text.
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return canonical(value)
    return json.dumps(value, ensure_ascii=False)


def single(value: object) -> tuple[str | None, str]:
    """Return the one label in an answer, and otherwise what is wrong with it.

    A list of one counts as its entry; an empty answer is neither a label nor an error.
    """
    if isinstance(value, list):
        if len(value) > 1:
            return None, f"expected one label, got {len(value)}: {shown(value)}"
        value = value[0] if value else None
    if isinstance(value, dict | list):
        return None, f"expected text or a number as the label, got {shown(value)}"
    text = as_text(value)
    return (text if text is not None and text.strip() else None), ""


def as_object(value: Any) -> Row:
    """Return a JSON object as it is, and an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a JSON list as it is, and an empty one for any other value."""
    return value if isinstance(value, list) else []


def read_json(file: File) -> Any:
    """Return the JSON in a file."""
    return _parsed(file.read_text(), file.name)


def read_records(file: File, unit: str) -> list[tuple[str, Any]]:
    """Return the records of a JSON array or of JSON Lines, with places such as ``task 3``."""
    text = file.read_text()
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if text.lstrip().startswith("{") and len(lines) > 1 and _is_json(lines[0][1]):
        found: Any = [_parsed(line, file.name, number) for number, line in lines]
    else:
        found = _parsed(text, file.name)
    records = found if isinstance(found, list) else [found]
    return [(f"{unit} {number}", record) for number, record in enumerate(records, start=1)]


def longest_list(found: Any) -> list[Any]:
    """Return the longest list of objects in JSON, be it the file or under a key."""
    if isinstance(found, list):
        return found
    lists = [as_list(value) for value in as_object(found).values()]
    return max((v for v in lists if v and isinstance(v[0], dict)), key=len, default=[])


def _parsed(text: str, name: str, first: int = 1) -> Any:
    line = None
    try:
        return json.loads(text)
    except json.JSONDecodeError as fault:
        line, reason = fault.lineno + first - 1, f"{fault.msg} at character {fault.colno}"
    except RecursionError:
        reason = "nested too deep"
    except ValueError:  # Python takes no number of thousands of digits
        reason = "a number has too many digits"
    raise BadData.at(name, "invalid-json", f"this is not valid JSON: {reason}", line=line)


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def read_parquet(
    file: File,
    columns: Callable[[list[str]], list[str]] | None = None,
    coded: Callable[[list[str]], list[str]] | None = None,
) -> Any:
    """Return a Parquet file as a table; with ``columns``, those of its columns that it chooses.

    ``coded`` picks those that are read as dictionaries where the file is large.
    """
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
        problem = f"this is not a complete Parquet file ({str(error).splitlines()[0]})"
        raise BadData.at(file.name, "broken-file", problem) from None
