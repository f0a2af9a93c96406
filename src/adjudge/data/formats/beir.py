"""BEIR: a folder of ``qrels/*.tsv``, ``corpus.jsonl`` and ``queries.jsonl``; or one qrels file.

The qrels have a header, ``query-id corpus-id score``, and are tab separated.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.ratings import graded
from adjudge.data.formats.recognition import any_of, header, holding
from adjudge.data.formats.several import join_gold
from adjudge.data.formats.spaced import check_rows, typed_numbers
from adjudge.data.formats.tables import need_columns
from adjudge.data.formats.writing import write_csv, write_table, written_folder
from adjudge.data.gold import Gold
from adjudge.data.names import as_names, look_up
from adjudge.data.source import BadRow
from adjudge.errors import BadData

_HEADER = ("query-id", "corpus-id", "score")
_FILES = frozenset({"qrels/test.tsv", "corpus.jsonl", "queries.jsonl"})


def _read(file: File, options: Options) -> Content:
    """Read gold from the qrels; from a folder also the texts of the judged pairs.

    Of several files of qrels in a folder all are read, or the one that ``question`` names.
    """
    path = file.path
    if not path.is_dir():
        gold, bad = _read_qrels(file, options)
        return Content(gold=gold, bad=bad)
    files = sorted((path / "qrels").glob(f"{options.question or '*'}.tsv"))
    if not files:
        expected = f"qrels/{options.question or '*'}.tsv"
        problem = f"there is no {expected} in this folder"
        raise BadData.at(path, "missing-file", problem, value=options.question)
    parts = [_read_qrels(File.at(file, options.encoding), options) for file in files]
    gold = join_gold([part for part, _ in parts])
    return Content(
        gold=gold,
        texts=_read_texts(path, gold, options),
        bad=tuple(row for _, rows in parts for row in rows),
    )


def _read_qrels(file: File, options: Options) -> tuple[Gold, tuple[BadRow, ...]]:
    """Return the gold of one file of qrels, and the rows of it that were skipped."""

    def spell(name: str) -> str:
        return name.lower() if name.lower() in _HEADER else name

    table, source = read_delimited(file, options, spelt=spell, guarded=True)
    need_columns(table.column_names, source, *_HEADER)
    table = check_rows(
        table,
        source,
        [typed_numbers(table, "score", "a whole number", "not-a-whole-number", integer=True)[1]],
    )
    roles = {"topic": "query-id", "document": "corpus-id", "gold": "score"}
    gold = gold_from_table(table, source=source, roles=roles, scale=options.truths)
    return gold, source.skipped


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
    path: Path, requested: set[str], names: tuple[str, ...], options: Options
) -> dict[str, tuple[str | None, ...]]:
    """The named texts of the requested ids; the first record of an id counts."""
    words: dict[str, tuple[str | None, ...]] = {}
    if not path.exists():
        return words
    for number, line in File.at(path, options.encoding).lines():
        try:
            record = json.loads(line)
            key = str(record["_id"])
        except (ValueError, KeyError, TypeError):
            expected = "a JSON object with an _id"
            raise BadData.wrong(
                path.name, "invalid-json", expected, line.strip(), line=number
            ) from None
        if key in requested and key not in words:
            words[key] = tuple(None if record.get(n) is None else str(record[n]) for n in names)
    return words


def _write(content: Content, file: IO[bytes]) -> None:
    """The labels, or else the gold, as one file of qrels."""
    table = pa.table(graded(content, "beir").columns, names=list(_HEADER))
    write_csv(table, file, delimiter="\t", guard=True)


def _write_folder(content: Content, path: Path) -> None:
    """The labels, or else the gold, as ``qrels/test.tsv``, and the words where known.

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
    named = {name: column for name, column in judgments.item_columns.items() if name != "item"}
    return pa.table(columns | named)


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
        fits=any_of(header(*_HEADER, lacks="judge"), holding("qrels/*.tsv")),
        read=_read,
        write=_write,
        write_folder=_write_folder,
    ),
)
