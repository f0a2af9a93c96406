"""Variants of every real export, as other programs save them: read alike, or reported."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adjudge.data.formats import Content, read
from adjudge.errors import BadData
from sizes import sized

Rows = list[list[str]]
ROWS = sized(50, full=150)  # of a table
MORE = {"get-another-label.txt": 1500}  # before the column of judges can be recognised

HEADED = {  # tables with a header, by their delimiter
    "beir-scifact-test.tsv": "\t",
    "crowdflower-binary.csv": ",",
    "crowdflower-multi-select.csv": ",",
    "doccano.csv": ",",
    "item-worker-label-truth.csv": ",",
    "item-worker-label.csv": ",",
    "label-studio-export.csv": "\t",
    "mturk-batch.csv": ",",
    "mturk-minimal.csv": ",",
    "own-platform-multiple-choice.csv": ",",
    "promptfoo.csv": ",",
    "quepid-static.csv": ",",
}
BARE = {  # without one
    "get-another-label-gold.txt": "\t",
    "get-another-label.txt": "\t",
    "headerless.csv": ",",
    "mace-example.csv": ",",
    "mace-wsd.csv": ",",
}
SPACED = ("qrels-groups.txt", "qrels-odd.txt", "qrels.txt", "trec-run.txt")
NUMBERED = ("mace-example.csv", "mace-wsd.csv", "promptfoo.csv")  # a column goes by its place
JSON = (
    "doccano.jsonl",
    "label-studio.json",
    "opensearch-judgments.json",
    "promptfoo.json",
    "quepid-book.json.zip",
    "quepid-case.json.zip",
)


@cache
def rows_of(path: Path, delimiter: str) -> Rows:
    body = path.read_bytes()
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = body.decode("cp1252")
    if delimiter == " ":
        rows: Iterator[list[str]] = (line.split() for line in text.splitlines())
    else:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return [row for row in rows if row][: MORE.get(path.name, ROWS)]


def written(rows: Rows, delimiter: str, end: str = "\n") -> str:
    if delimiter == " ":
        return "".join(" ".join(row) + end for row in rows)
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(rows)
    return text.getvalue()


def held(content: Content) -> dict[str, Any]:
    """What a content holds, whatever the order of its rows and columns."""

    def counted(table: Any) -> Counter[Any] | None:
        if table is None:
            return None
        records = table.to_pylist()
        return Counter(
            tuple(sorted((k, str(v)) for k, v in one.items() if k != "line")) for one in records
        )

    judgments, gold = content.judgments, content.gold
    return {
        "format": {"tsv": "csv"}.get(content.format, content.format),  # one table, by its marks
        "judgments": None if judgments is None else counted(judgments.to_table()),
        "scale": None if judgments is None else judgments.scale,
        "gold": None if gold is None else counted(gold.to_table()),
        "run": counted(content.run),
        "labels": counted(content.labels),
    }


class Reader:
    """Reads bodies under a name, and what a body holds or the error that it is."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / name

    def __call__(self, body: bytes) -> tuple[dict[str, Any] | str, tuple[str, ...]]:
        self.path.write_bytes(body)
        try:
            content = read(self.path)
        except BadData as fault:
            return str(fault), ()
        return held(content), content.notes


def same(given: tuple[Any, Any], expected: tuple[Any, Any]) -> None:
    """Equal in what is held; or an error where the original is one too."""
    if isinstance(expected[0], str):
        assert isinstance(given[0], str)
    else:
        assert given[0] == expected[0]


def check_same_or_reported(given: tuple[Any, Any], expected: tuple[Any, Any]) -> None:
    """Equal, an error, or a remark that the original has not."""
    assert given[0] == expected[0] or isinstance(given[0], str) or set(given[1]) - set(expected[1])


def with_accents(rows: Rows, header: bool) -> Rows:
    start = 1 if header else 0
    return rows[:start] + [[f"{row[0]}é", *row[1:]] for row in rows[start:]]


def with_column(rows: Rows, at: int, header: bool, cell: Callable[[int], str]) -> Rows:
    return [
        [*row[:at], "note" if header and not number else cell(number), *row[at:]]
        for number, row in enumerate(rows)
    ]


def added(rows: Rows) -> list[tuple[int, Callable[[int], str]]]:
    """Columns that are put in: where, and what is in them; in every run each kind at one end."""
    first, last = 0, len(rows[0])
    numbered, same_, empty = "n{}".format, lambda _: "same", lambda _: ""
    usual = [(first, numbered), (last, same_), (last, empty)]
    return usual + sized([], full=[(last, numbered), (first, same_), (first, empty)])


def shuffled(rows: Rows) -> Rows:
    order = list(range(len(rows[0])))
    random.Random(3).shuffle(order)
    return [[row[at] for at in order] for row in rows]


@pytest.mark.parametrize("name", [*HEADED, *BARE, *SPACED])
def test_encodings_and_ends_of_lines_change_nothing(
    shared_data: Path, tmp_path: Path, name: str
) -> None:
    delimiter = {**HEADED, **BARE}.get(name, " ")
    rows, reader = rows_of(shared_data / "files" / name, delimiter), Reader(tmp_path, name)
    text = written(rows, delimiter)
    original = reader(text.encode())
    same(reader(b"\xef\xbb\xbf" + text.encode()), original)
    same(reader(text.encode("utf-16")), original)
    if not name.endswith("-multi-select.csv"):  # its cells hold ends of lines themselves
        same(reader(written(rows, delimiter, "\r\n").encode()), original)
    same(reader(b"\n" + text.encode()), original)
    accents = written(with_accents(rows, name in HEADED), delimiter)
    same(reader(accents.encode("cp1252", errors="replace")), reader(accents.encode()))


@pytest.mark.parametrize("name", [*HEADED, *BARE])
def test_another_delimiter_changes_nothing(shared_data: Path, tmp_path: Path, name: str) -> None:
    delimiter = {**HEADED, **BARE}[name]
    rows, reader = rows_of(shared_data / "files" / name, delimiter), Reader(tmp_path, name)
    original = reader(written(rows, delimiter).encode())
    for mark in set("\t,;|") - {delimiter}:
        same(reader(written(rows, mark).encode()), original)


@pytest.mark.parametrize("name", HEADED)
def test_columns_of_a_header_may_be_in_any_order(
    shared_data: Path, tmp_path: Path, name: str
) -> None:
    delimiter = HEADED[name]
    rows, reader = rows_of(shared_data / "files" / name, delimiter), Reader(tmp_path, name)
    original = reader(written(rows, delimiter).encode())
    if name not in NUMBERED:
        same(reader(written(shuffled(rows), delimiter).encode()), original)
    for at, cell in added(rows):
        more = with_column(rows, at, True, cell)
        same(reader(written(more, delimiter).encode()), original)
    for case in (str.upper, str.lower, str.title, " {} ".format):
        header = [case(cell) for cell in rows[0]]
        same(reader(written([header, *rows[1:]], delimiter).encode()), original)


@pytest.mark.parametrize("name", [*BARE, *SPACED, "promptfoo.csv"])
def test_columns_without_names_are_asked_about(
    shared_data: Path, tmp_path: Path, name: str
) -> None:
    delimiter = {**HEADED, **BARE}.get(name, " ")
    rows, reader = rows_of(shared_data / "files" / name, delimiter), Reader(tmp_path, name)
    original = reader(written(rows, delimiter).encode())
    if name in NUMBERED:
        found, notes = reader(written(shuffled(rows), delimiter).encode())
        assert isinstance(found, dict)
        assert any("by their numbers" in note or "no names here" in note for note in notes)
    else:
        check_same_or_reported(reader(written(shuffled(rows), delimiter).encode()), original)
        check_same_or_reported(
            reader(written([row[::-1] for row in rows], delimiter).encode()), original
        )
    for at, cell in added(rows):
        if name.startswith("mace") and not at and not cell(0):
            continue  # a judge more, who judged nothing: the others' numbers are one more
        more = with_column(rows, at, False, cell)
        check_same_or_reported(reader(written(more, delimiter).encode()), original)


def loaded(path: Path) -> Any:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if not n.startswith("__"))
            return json.loads(archive.read(name))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    return json.loads(path.read_text())


def remade(value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """JSON each of whose objects is changed."""
    if isinstance(value, dict):
        return change({key: remade(inner, change) for key, inner in value.items()})
    return [remade(inner, change) for inner in value] if isinstance(value, list) else value


def accented(value: Any) -> Any:
    """JSON whose words end in an accent."""
    if isinstance(value, dict):
        return {key: accented(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [accented(inner) for inner in value]
    wordy = isinstance(value, str) and len(value) > 3 and value.replace(" ", "").isalpha()
    return f"{value}é" if wordy else value


def spelt(value: Any, name: str, end: str = "\n", **how: Any) -> str:
    if name.endswith(".jsonl"):
        return "".join(json.dumps(one, ensure_ascii=False) + end for one in value)
    return json.dumps(value, ensure_ascii=False, **how).replace("\n", end)


@pytest.mark.parametrize("name", JSON)
def test_json_may_be_formatted_differently(shared_data: Path, tmp_path: Path, name: str) -> None:
    value, bare = loaded(shared_data / "files" / name), name.removesuffix(".zip")
    reader = Reader(tmp_path, bare)
    original = reader(spelt(value, bare).encode())
    assert isinstance(original[0], dict)
    same(reader(b"\xef\xbb\xbf" + spelt(value, bare).encode()), original)
    same(reader(spelt(value, bare, "\r\n", indent=2).encode()), original)
    for change in (
        lambda one: dict(reversed(one.items())),
        lambda one: dict(sorted(one.items())),
        lambda one: {**one, "note": "x"},
        lambda one: {"note": {"by": 1}, **one},
    ):
        same(reader(spelt(remade(value, change), bare).encode()), original)
    words = spelt(accented(value), bare)
    same(reader(words.encode("cp1252", errors="replace")), reader(words.encode()))


@pytest.mark.parametrize("kind", ["binary", "cont", "multi"])
@pytest.mark.parametrize("part", ["ann", "gt"])
def test_parquet_may_be_written_differently(
    shared_data: Path, tmp_path: Path, kind: str, part: str
) -> None:
    table = pq.read_table(shared_data / "files" / f"spark-crowd-{kind}-{part}.parquet")[:ROWS]
    reader = Reader(tmp_path, "like.parquet")

    def body(made: Any) -> bytes:
        file = io.BytesIO()
        pq.write_table(made, file)
        return file.getvalue()

    names = table.column_names
    original = reader(body(table))
    same(reader(body(table.select(names[::-1]))), original)
    same(reader(body(table.rename_columns([name.upper() for name in names]))), original)
    texts = [column.cast(pa.string()) for column in table.columns]
    same(reader(body(pa.table(texts, names=names))), original)
    coded = [column.dictionary_encode() for column in texts]
    same(reader(body(pa.table(coded, names=names))), original)
    more = table.append_column("note", pa.array([f"n{row}" for row in range(len(table))]))
    check_same_or_reported(reader(body(more)), original)
