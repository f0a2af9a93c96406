"""BEIR: a folder of ``qrels/*.tsv``, ``corpus.jsonl`` and ``queries.jsonl``; or one qrels file.

The qrels have a header, ``query-id corpus-id score``, and are tab separated.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data.formats import BEIR as HEADER
from adjudge.data.formats._ratings import graded
from adjudge.data.formats._spaced import check_rows, numbers_of
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.writing import write_csv, write_table, written_folder
from adjudge.data.gold import Gold
from adjudge.data.names import as_names, look_up
from adjudge.data.source import BadRow
from adjudge.errors import BadData, shown

_FILES = frozenset({"qrels/test.tsv", "corpus.jsonl", "queries.jsonl"})


def _read(file: File, options: Options) -> Content:
    """Gold from the qrels; from a folder also the texts of the judged pairs.

    Of several files of qrels in a folder all are read, or the one that ``question`` names.
    """
    path = file.path
    if not path.is_dir():
        gold, bad = _read_qrels(file, options)
        return Content(gold=gold, bad=bad)
    files = sorted((path / "qrels").glob("*.tsv"))
    if options.question is not None:
        files = [file for file in files if file.stem == options.question]
    if not files:
        wanted = f"qrels/{options.question or '*'}.tsv"
        raise BadData(f"there is no {wanted} in this folder", source=str(path), expected=wanted)
    parts = [_read_qrels(File.at(file, options.encoding), options) for file in files]
    gold = _merged([part for part, _ in parts])
    return Content(
        gold=gold,
        texts=_read_texts(path, gold, options),
        bad=tuple(row for _, rows in parts for row in rows),
    )


def _spelt(name: str) -> str:
    """A column's name as BEIR has it, whatever its case."""
    return name.lower() if name.lower() in HEADER else name


def _read_qrels(file: File, options: Options) -> tuple[Gold, tuple[BadRow, ...]]:
    """The gold of one file of qrels, and the rows of it that were skipped."""
    table, source = read_delimited(file, options, spelt=_spelt, guarded=True)
    missing = [name for name in HEADER if name not in table.column_names]
    if missing:
        raise source.error(
            None,
            f"no column {missing[0]!r}; the columns are {', '.join(table.column_names)}",
            column=missing[0],
            expected=missing[0],
        )
    _, wrong = numbers_of(table["score"], whole=True)
    table = check_rows(
        table, source, [(wrong, "score", lambda _, value: f"{shown(value)} is no whole number")]
    )
    roles = {"topic": "query-id", "document": "corpus-id", "gold": "score"}
    gold = gold_from_table(table, source=source, roles=roles, scale=options.truths)
    return gold, source.skipped


def _merged(parts: list[Gold]) -> Gold:
    """The gold of several files as one; two scores for a pair are an error that names both."""
    if len(parts) == 1:
        return parts[0]
    tables = [part.to_table() for part in parts]
    for at, (part, table) in enumerate(zip(parts, tables, strict=True)):
        for other, before in zip(parts[:at], tables[:at], strict=True):
            where = look_up(table["item"], before["item"].combine_chunks())
            known = np.flatnonzero(where >= 0)
            here = table["gold"].take(pa.array(known))
            there = before["gold"].take(pa.array(where[known]))
            row = pc.index(pc.not_equal(here, there), True).as_py()
            if row >= 0:
                item = table["item"][int(known[row])].as_py()
                raise BadData(
                    f"item {shown(item)} has score {shown(here[row].as_py())} here but "
                    f"{shown(there[row].as_py())} in {other.source}; wanted one",
                    source=part.source,
                    column="score",
                )
    return gold_from_table(pa.concat_tables(tables), source="qrels")


def _read_texts(folder: Path, gold: Gold, options: Options) -> Any:
    """The words of the judged pairs: topic, document, query, title, text; None without any."""
    corpus, queries = folder / "corpus.jsonl", folder / "queries.jsonl"
    if not corpus.exists() and not queries.exists():
        return None
    pairs = gold.to_table()
    topics, documents = pairs["topic"].to_pylist(), pairs["document"].to_pylist()
    asked = _read_words(queries, set(topics), ("text",), options)
    found = _read_words(corpus, set(documents), ("title", "text"), options)
    columns = {
        "topic": topics,
        "document": documents,
        "query": [asked.get(topic, (None,))[0] for topic in topics],
        "title": [found.get(document, (None, None))[0] for document in documents],
        "text": [found.get(document, (None, None))[1] for document in documents],
    }
    return pa.table({name: pa.array(cells, pa.large_string()) for name, cells in columns.items()})


def _read_words(
    path: Path, wanted: set[str], names: tuple[str, ...], options: Options
) -> dict[str, tuple[str | None, ...]]:
    """The named texts of the wanted ids; the first record of an id counts."""
    words: dict[str, tuple[str | None, ...]] = {}
    if not path.exists():
        return words
    for number, line in File.at(path, options.encoding).lines():
        try:
            record = json.loads(line)
            key = str(record["_id"])
        except (ValueError, KeyError, TypeError):
            raise BadData(
                f"{shown(line.strip())} is no JSON object with an _id",
                source=path.name,
                line=number,
                expected="an object with _id",
            ) from None
        if key in wanted and key not in words:
            words[key] = tuple(None if record.get(n) is None else str(record[n]) for n in names)
    return words


def _write(content: Content, file: IO[bytes]) -> None:
    """The labels, or else the gold, as one file of qrels."""
    table = pa.table(graded(content, "beir").columns, names=list(HEADER))
    write_csv(table, file, delimiter="\t", guard=True)


def _write_folder(content: Content, path: Path) -> None:
    """The labels, or else the gold, as ``qrels/test.tsv``, and the words as far as they are known.

    The folder appears when all of it is written; one that an earlier run wrote is replaced.
    """
    pairs = graded(content, "beir")
    words = _words_of(content)
    with written_folder(path, replaces=_FILES) as folder:
        (folder / "qrels").mkdir()
        with (folder / "qrels" / "test.tsv").open("wb") as file:
            _write(content, file)
        for name, key, fields in (
            ("queries.jsonl", "topic", {"query": "text"}),
            ("corpus.jsonl", "document", {"title": "title", "text": "text"}),
        ):
            table = _records(pairs[key], key, fields, words)
            if table is not None:
                with (folder / name).open("wb") as file:
                    write_table(table, file, ".jsonl")


def _words_of(content: Content) -> Any:
    """The table of words: the texts, or what the judgments know of their items."""
    if content.texts is not None:
        return content.texts
    judgments = content.judgments
    if judgments is None or judgments.fields is None:
        return None
    columns = {name: judgments.fields[name] for name in judgments.fields.column_names}
    if judgments.topics is not None and judgments.topic is not None:
        columns["topic"] = judgments.topics.take(pa.array(judgments.topic))
    if judgments.documents is not None:
        columns["document"] = judgments.documents
    return pa.table(columns)


def _records(ids: Any, key: str, fields: dict[str, str], words: Any) -> Any:
    """One record an id: ``_id`` and its words; None where none of the words is known."""
    if words is None or key not in words.column_names:
        return None
    names = [name for name in fields if name in words.column_names]
    if not names:
        return None
    distinct = as_names(pc.unique(ids))
    where = look_up(distinct, as_names(words[key]))
    rows = pa.array(where, mask=where < 0)
    columns = {fields[name]: pc.fill_null(as_names(words[name]).take(rows), "") for name in names}
    return pa.table({"_id": distinct, **columns})


FORMATS = (
    Format(
        name="beir",
        title="BEIR: qrels/*.tsv (query-id corpus-id score), corpus.jsonl, queries.jsonl",
        reads=("gold",),
        writes=("labels", "gold"),
        extension=".tsv",
        read=_read,
        write=_write,
        write_folder=_write_folder,
    ),
)
