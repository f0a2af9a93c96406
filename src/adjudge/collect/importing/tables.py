"""Items, pairs and gold in CSV, TSV or JSON Lines: one row per item.

Of a pair, ``left`` and ``right`` name the two results, and are their texts too where nothing else
is said of them; ``left_title``, ``left_text``, ``left_url`` and ``left_image`` are what judges see
of the left one. Gold of pairs is ``left``, ``right`` or ``tie``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from adjudge.collect.importing._preview import Gathering
from adjudge.collect.importing._upload import ImportLimits, Upload, unpack_all
from adjudge.collect.values.sides import LEFT, PAIR_SCALE, RIGHT
from adjudge.data.columns import letters_of, roles_of
from adjudge.data.comparisons import OUTCOMES, outcome_named
from adjudge.data.formats.delimited import Delimited
from adjudge.data.formats.opening import File
from adjudge.data.scale import canonical
from adjudge.data.source import count_of
from adjudge.data.synonyms import ITEM_SYNONYMS
from adjudge.errors import BadData, shown

_Row = tuple[int, dict[str, str]]
_Counted = TypeVar("_Counted")

_MARKS = "=+-@\t\r\n＝＋－＠"  # how formulas begin
_BRACKETS = 50_000  # in any text, however short
SHOWN = ("title", "text", "url", "image")
_SIDES = (LEFT, RIGHT)
_PAIR_PARTS = tuple(f"{side}{part}" for side in _SIDES for part in ("", *(f"_{p}" for p in SHOWN)))
PARTS = ("query", "title", "text", "url", "image", "need", "category", "document", "topic", "name",
         "gold", "reason", "role", *_PAIR_PARTS)  # fmt: skip
_TABLES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")
_QUERY = "Which of the two is better?"  # of pairs that come without a query
_FEW_PAIRS = 5  # of which anything can be said
_LONGEST = 80  # characters of a text that is its own id
_PARTS = ("name", "topic", "query", "need", "category", "document", *SHOWN)


@dataclass(frozen=True, slots=True)
class _FoundColumn:
    """A column, the part it plays (empty for none), and its first cells."""

    name: str
    part: str
    cells: tuple[str, ...]


def find_columns(
    files: Iterable[Upload], by_hand: Mapping[str, str], limits: ImportLimits
) -> list[_FoundColumn]:
    """The columns of every table among the files, each once; none of what is no table."""
    found: dict[str, _FoundColumn] = {}
    try:
        for upload in unpack_all(list(files), limits):
            if upload.suffix not in _TABLES:
                continue
            columns, rows = read_table(upload, limits)
            parts = {column: part for part, column in _assign(columns, by_hand).items()}
            first = [cells for _, cells in islice(rows, 3)]
            for name in columns:
                cells = tuple(row.get(name, "")[:80] for row in first)
                found.setdefault(name, _FoundColumn(name, parts.get(name, ""), cells))
    except BadData:
        return []  # whatever reads them in earnest says what is wrong
    return list(found.values())


def _holds_pairs(found: Mapping[str, str]) -> bool:
    """Whether the columns found are those of two results."""
    return all(any(part in found for part in _PAIR_PARTS if part.startswith(s)) for s in _SIDES)


def _read_pairs(
    upload: Upload,
    gathering: Gathering,
    columns: list[str],
    rows: Iterable[tuple[int, dict[str, str]]],
    found: Mapping[str, str],
) -> None:
    """The pairs of a file, and their gold where there is a column for it."""
    if gathering.scale is None:
        gathering.scale = PAIR_SCALE
    elif not {LEFT, RIGHT} <= set(gathering.scale.labels):
        problem = f"its items are pairs; expected the labels {PAIR_SCALE}, not {gathering.scale}"
        raise BadData(problem, source=upload.name, line=1, code="not-pair-labels")
    explained = _reason_columns(columns)
    rows = list(rows)
    _check_systems(upload, gathering, rows, found)
    for line, cells in rows:
        parts = {part: cells.get(column, "") for part, column in found.items()}
        query = parts.get("query") or parts.get("topic") or _QUERY
        topic = parts.get("topic") or gathering.topic_of(query)
        sides = {side: _side(parts, side) for side in _SIDES}
        left, right = sides[LEFT]["document"], sides[RIGHT]["document"]
        if not left or not right:
            side = RIGHT if left else LEFT
            problem = f"there is no {side} result"
            gathering.add_fault(problem, source=upload.name, line=line, code="missing-result")
            continue
        if left == right:
            problem = f"{shown(left)} is both results; expected two different ones"
            gathering.add_fault(
                problem, source=upload.name, line=line, value=left, code="same-result"
            )
            continue
        name = parts.get("name") or f"{topic}/{left}/{right}"
        own = {part: parts.get(part, "") for part in ("need", "category")}
        item = {"name": name, "topic": topic, "query": query, **own, **sides[LEFT]}
        if gathering.add(item, source=upload.name, line=line, other=sides[RIGHT]) is None:
            continue
        _add_gold(upload, gathering, (line, cells), name, found, explained, _outcome)


def _check_systems(
    upload: Upload, gathering: Gathering, rows: Sequence[_Row], found: Mapping[str, str]
) -> None:
    """Note what is ranked; ask where names hardly recur, since they may be texts."""
    named = [found[side] for side in _SIDES if side in found]
    names = Counter(cells.get(column, "") for _, cells in rows for column in named)
    by_hand = set(gathering.columns.values()) & set(_PAIR_PARTS)
    texts = any(part in found for part in _PAIR_PARTS if part not in _SIDES)
    once = len(rows) >= _FEW_PAIRS and len(names) > len(rows)
    if once and not texts and not by_hand:
        expected = (
            "the names of the systems in 'left' and 'right', and their texts in 'left_text' and "
            "'right_text'; choose what each column is, or rename the columns"
        )
        problem = (
            f"{' and '.join(named)} hold {len(names):,} different values in {len(rows):,} rows, "
            f"such as {shown(next(iter(names)))}: are they systems to rank, or texts? "
            f"Expected {expected}"
        )
        raise BadData(problem, source=upload.name, line=1, code="systems-or-texts")
    if names:
        listed = ", ".join(f"{shown(name)} ({times:,})" for name, times in names.most_common(5))
        more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
        recur = ". Hardly any of them comes twice" if once else ""
        ranked = count_of(len(names), "result")
        gathering.notes.append(f"The ranking will have {ranked}: {listed}{more}{recur}.")


def _side(parts: Mapping[str, str], side: str) -> dict[str, str]:
    """The texts of one of the two, with the id it has or gets."""
    seen = {part: parts.get(f"{side}_{part}", "") for part in SHOWN}
    name = parts.get(side, "")
    if not any(seen.values()):
        seen["text"] = name
    return {"document": _id_of(name or seen["title"] or seen["text"] or seen["url"]), **seen}


def _id_of(text: str) -> str:
    """A short text as it is; a long one by its beginning and a digest."""
    if len(text) <= _LONGEST:
        return text
    mark = hashlib.blake2s(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{' '.join(text[: _LONGEST // 2].split())}... {mark}"


def _outcome(text: str) -> str:
    """The side that a word of gold names: ``A``, ``model_a`` or ``1`` is left."""
    code = outcome_named(text)
    return text.strip() if code < 0 else OUTCOMES[code]


def read(upload: Upload, gathering: Gathering) -> None:
    """The items of a file, their gold where there is a column for it, or gold alone."""
    columns, some = read_table(upload, gathering.limits)
    rows = _at_least_one(upload, some)
    found = _assign(columns, gathering.columns)
    if _holds_pairs(found):
        _read_pairs(upload, gathering, columns, rows, found)
        return
    holds_items = any(part in found for part in SHOWN)
    if not holds_items and "gold" not in found:  # of gold alone, the label is the known answer
        found.update([("gold", label) for label in columns if letters_of(label) == "label"][:1])
    _check(upload, columns, found, holds_items)
    explained = _reason_columns(columns)
    empty = 0
    for line, cells in rows:
        if not holds_items and not cells.get(found["gold"]):
            empty += 1
            continue
        parts = {part: cells.get(found[part], "") for part in _PARTS if part in found}
        query = parts.get("query") or parts.get("topic", "")
        topic = parts.get("topic") or (gathering.topic_of(query) if query else "")
        if holds_items and "name" not in found and "document" not in found:
            parts["document"] = parts.get("url") or gathering.make_document()
        name = parts.get("name") or _join(topic, parts.get("document", ""))
        if not name:
            expected = "an item, or a topic and a document"
            expected = expected if query or "query" not in found else "a query"
            problem = f"expected {expected}"
            gathering.add_fault(problem, source=upload.name, line=line, code="missing-id")
            continue
        parts |= {"name": name, "query": query, "topic": topic}
        if holds_items and gathering.add(parts, source=upload.name, line=line) is None:
            continue
        _add_gold(upload, gathering, (line, cells), name, found, explained, str)
    if empty:
        gathering.notes.append(f"{count_of(empty, 'row')} of {upload.name} without gold skipped.")


def _add_gold(
    upload: Upload,
    gathering: Gathering,
    row: _Row,
    name: str,
    found: Mapping[str, str],
    explained: Mapping[str, str],
    as_label: Callable[[str], str],
) -> None:
    """The gold of a row, where it has some; ``explained`` are the columns with reasons."""
    line, cells = row
    given, reason, role = (
        cells.get(found.get(part, ""), "") for part in ("gold", "reason", "role")
    )
    if given:
        reasons = _reasons_of(cells, explained)
        gathering.add_gold(
            name, "|".join(map(as_label, given.split("|"))), source=upload.name, line=line,
            column=found["gold"], reason=reason, role=role.lower(),
            reasons={as_label(label): text for label, text in reasons.items()},
        )  # fmt: skip


def _assign(columns: list[str], by_hand: Mapping[str, str]) -> dict[str, str]:
    """Which column plays which part: as somebody said, and otherwise by their names."""
    found = find_roles([column for column in columns if column not in by_hand])
    said = {by_hand[column]: column for column in columns if by_hand.get(column)}
    return {**found, **said}


def _reason_columns(columns: list[str]) -> dict[str, str]:
    """Columns with the reason against one label, ``reason: Spam``, by their label."""
    found = {}
    for column in columns:
        word, rest = column[:6], column[6:].lstrip()
        label = rest[1:].strip()
        if word.lower() == "reason" and rest[:1] in (":", ".") and label:
            found[column] = canonical(label)
    return found


def _reasons_of(cells: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
    """The reasons against labels in a row: in columns of their own, or an object of JSON."""
    reasons = {label: cells[column] for column, label in columns.items() if cells.get(column)}
    if cells.get("reasons", "").startswith("{"):
        with contextlib.suppress(BadData):
            held = read_json_text(cells["reasons"])
            reasons |= {canonical(label): str(reason) for label, reason in held.items()}
    return reasons


def _at_least_one(upload: Upload, rows: Iterator[_Row]) -> Iterator[_Row]:
    """The rows; none at all is a fault."""
    row = None
    for row in rows:
        yield row
    if row is None:
        problem = "there is no row below the header"
        raise BadData(problem, source=upload.name, line=1, code="empty-file")


def _join(topic: str, document: str) -> str:
    """The id of an item that has none of its own, ``topic/document``."""
    return f"{topic}/{document}" if topic and document else ""


def _check(upload: Upload, columns: list[str], found: dict[str, str], holds_items: bool) -> None:
    """Refuse a header that has neither items nor gold."""
    named = "name" in found or ("document" in found and ("topic" in found or "query" in found))
    shown_parts = ", ".join(SHOWN)
    if not named and not holds_items:
        expected = (
            f"'query' and one of {shown_parts}; or, of gold alone, 'item' and 'gold' or 'label'"
        )
        raise refuse_columns(upload, columns, expected)
    if not holds_items and "gold" not in found:
        raise refuse_columns(upload, columns, f"something to judge by ({shown_parts}), or gold")
    if holds_items and "query" not in found and "topic" not in found:
        raise refuse_columns(upload, columns, "'query'")


def refuse_columns(upload: Upload, columns: list[str], needed: str) -> BadData:
    """The error about a table whose columns are others: the first of many, long names cut."""
    listed = [name if len(name) <= 60 else f"{name[:57]}..." for name in columns[:30]]
    if len(columns) > 30:
        listed.append(f"... ({len(columns):,} columns)")
    problem = f"the columns are {', '.join(listed)}; expected {needed}"
    return BadData(problem, source=upload.name, line=1, code="missing-column")


# -- rows, whatever the columns are called


def find_roles(columns: list[str]) -> dict[str, str]:
    """Which column plays which part in a table of items."""
    return roles_of(columns, ITEM_SYNONYMS)


def read_table(upload: Upload, limits: ImportLimits) -> tuple[list[str], Iterator[_Row]]:
    """The columns of a file and its rows, each with its line; no more of either than allowed."""
    file = upload.file()
    if not file.text.strip():
        raise BadData("there is nothing in the file", source=upload.name, code="empty-file")
    _check_line_lengths(upload, limits)
    if upload.suffix in (".jsonl", ".ndjson") or file.kind == "jsonl":
        records = list(_count(json_lines(upload), upload, limits))
        columns = list(dict.fromkeys(name for _, record in records for name in record))
        _check_columns(columns, upload, limits)
        return columns, ((line, {k: words(v) for k, v in r.items()}) for line, r in records)
    shape = Delimited(file, _delimiter(file), strict=True)
    header = shape.header
    _check_columns(header, upload, limits)
    twice, times = next(iter(Counter(header).most_common(1)), ("", 0))
    if times > 1:
        problem = f"the column {shown(twice)} is there twice"
        raise BadData(problem, source=upload.name, line=1, value=twice, code="repeated-column")
    return header, _count(_cells(shape), upload, limits)


def _check_columns(columns: list[str], upload: Upload, limits: ImportLimits) -> None:
    if len(columns) > limits.columns:
        problem = f"there are {len(columns):,} columns; expected at most {limits.columns:,}"
        raise BadData(problem, source=upload.name, line=1, code="too-large")


def _count(rows: Iterator[_Counted], upload: Upload, limits: ImportLimits) -> Iterator[_Counted]:
    """The rows, up to as many as are allowed."""
    for count, row in enumerate(rows, start=1):
        if count > limits.rows + 1:  # of items one more would be counted as items
            problem = f"there are more than {limits.rows:,} rows"
            raise BadData(problem, source=upload.name, code="too-large")
        yield row


def _delimiter(file: File) -> str:
    """A semicolon where there is no other mark in the header: some spreadsheets write it so."""
    plain = ";" in file.first and "," not in file.first and "\t" not in file.first
    return ";" if plain else file.delimiter


def _cells(shape: Delimited) -> Iterator[_Row]:
    for line, cells in shape.records():
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(shape.header):
            problem = f"{len(cells)} cells where the header has {len(shape.header)}"
            raise BadData(problem, source=shape.file.name, line=line, code="bad-row")
        yield line, {k: _free(v.strip()) for k, v in zip(shape.header, cells, strict=True)}


def _free(cell: str) -> str:
    """A cell without the apostrophe that our own exports put before a formula."""
    begins = cell.lstrip("'")[:1]
    return cell[1:] if cell[:1] == "'" and begins and begins in _MARKS else cell


def json_lines(upload: Upload) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON Lines, each with its line."""
    for line, part in upload.file().lines():
        record = read_json_text(part, upload.name, line)
        if not isinstance(record, dict):
            problem = f"{shown(record)} is not an object; expected one object per line"
            raise BadData(problem, source=upload.name, line=line, code="bad-json")
        yield line, record


def read_json_text(text: str, source: str | None = None, line: int | None = None) -> Any:
    """What a text in JSON says; whatever is wrong with it is an error with its place."""
    # Each bracket becomes an object of a hundred bytes and more: three characters of text.
    brackets = text.count("{") + text.count("[")
    if brackets > max(_BRACKETS, len(text) // 30):
        problem = f"holds {brackets:,} objects and lists; expected fewer"
        raise BadData(problem, source=source, line=line, code="too-large")
    try:
        return json.loads(text)
    except RecursionError:
        reason = "nested too deep"
    except ValueError as fault:  # also a number of thousands of digits
        reason = getattr(fault, "msg", "a number has too many digits")
    raise BadData(f"is not JSON ({reason})", source=source, line=line, code="bad-json")


def words(value: Any) -> str:
    """A value of JSON as text: lists with ``|`` between their parts, null as nothing."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "|".join(words(part) for part in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value).strip()


def _check_line_lengths(upload: Upload, limits: ImportLimits) -> None:
    """Refuse a line that is longer than a row of a table can be.

    Such a line is one cell, or millions, which a reader would take in without a pause.
    """
    body, at = upload.body, 0
    while len(body) - at > limits.line:
        window = (at, at + limits.line + 1)
        end = max(body.rfind(b"\n", *window), body.rfind(b"\r", *window))
        if end < 0:
            problem = f"a line is longer than {limits.line:,} bytes; expected shorter ones"
            line = body.count(b"\n", 0, at) + 1
            raise BadData(problem, source=upload.name, line=line, code="too-large")
        at = end + 1
