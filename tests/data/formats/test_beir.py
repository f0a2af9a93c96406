"""BEIR: qrels alone, and entire folders, in and out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from adjudge.data.build import load_table
from adjudge.data.formats import Content, read, write
from adjudge.data.gold import Gold
from reading import complaint, gold_in

_HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "nfc"
    (place / "qrels").mkdir(parents=True)
    (place / "qrels" / "test.tsv").write_text(f"{_HEADER}q1\td1\t2\nq1\td2\t0\n")
    (place / "qrels" / "dev.tsv").write_text(f"{_HEADER}q2\td1\t1\n")
    (place / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "why"}\n\n{"_id": "q2", "text": "how", "metadata": {}}\n'
    )
    (place / "corpus.jsonl").write_text(
        '{"_id": "d0", "title": "T0", "text": "zero"}\n'
        '{"_id": "d1", "title": "T1", "text": "one"}\n'
        '{"_id": "d2", "text": "two"}\n'
    )
    return place


def _labels() -> Any:
    return pa.table(
        {
            "item": ["q1/d1", "q1/d 2", "q2/d1"],
            "topic": ["q1", "q1", "q2"],
            "document": ["d1", "d 2", "d1"],
            "label": ["2", "0", "1"],
        }
    )


def test_qrels_alone(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    path.write_text(f"{_HEADER}q1\td1\t2\nq1\td2\t0\n")
    content = read(path)
    assert content.format == "beir"
    assert content.texts is None
    assert gold_in(content).to_table().to_pydict() == {
        "item": ["q1/d1", "q1/d2"],
        "topic": ["q1", "q1"],
        "document": ["d1", "d2"],
        "gold": ["2", "0"],
    }


def test_a_folder(folder: Path) -> None:
    content = read(folder)
    assert gold_in(content).to_table()["item"].to_pylist() == ["q2/d1", "q1/d1", "q1/d2"]
    assert gold_in(content).texts() == ["1", "2", "0"]
    assert content.texts.to_pydict() == {
        "topic": ["q2", "q1", "q1"],
        "document": ["d1", "d1", "d2"],
        "query": ["how", "why", "why"],
        "title": ["T1", "T1", None],
        "text": ["one", "one", "two"],
    }


def test_one_split_of_a_folder(folder: Path) -> None:
    assert Gold.read(folder, question="test").items.to_pylist() == ["q1/d1", "q1/d2"]
    assert complaint(read, folder, question="train") == f"{folder}: missing-file"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{_HEADER}q1\td1\t2\nq1\td2\n", "test.tsv, line 3: wrong-width"),
        (f"{_HEADER}q1\td1\thigh\n", "test.tsv, line 2, column score: not-a-whole-number"),
        (f"{_HEADER}\td1\t1\n", "test.tsv, line 2, column query-id: bad-id"),
        (f"{_HEADER}q1\td1\t2\nq1\td1\t1\n", "test.tsv, line 3, column score: two-values"),
        ("query-id\tcorpus\tscore\nq1\td1\t2\n", "test.tsv, column corpus-id: missing-column"),
    ],
)
def test_a_bad_row_of_a_folder(folder: Path, text: str, message: str) -> None:
    (folder / "qrels" / "test.tsv").write_text(text)
    assert complaint(read, folder) == message


@pytest.mark.parametrize(
    ("line", "shown"), [("{oops", "'{oops'"), ('{"id": 1}', "'{\"id\": 1}'"), ("[1]", "'[1]'")]
)
def test_a_bad_line_of_a_corpus(folder: Path, line: str, shown: str) -> None:
    (folder / "corpus.jsonl").write_text(f'{{"_id": "d1"}}\n\n{line}\n')
    assert complaint(read, folder) == "corpus.jsonl, line 3: invalid-json"


def test_a_folder_comes_back_as_it_was(folder: Path, tmp_path: Path) -> None:
    content = read(folder)
    write(content, tmp_path / "out", format="beir")
    again = read(tmp_path / "out")
    assert gold_in(again).to_table().equals(gold_in(content).to_table())
    assert again.texts["query"].equals(content.texts["query"])
    assert again.texts["text"].equals(content.texts["text"])
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == [
        "corpus.jsonl",
        "qrels",
        "queries.jsonl",
        "test.tsv",
    ]


def test_words_from_the_fields_of_judgments(tmp_path: Path) -> None:
    table = pa.table(
        {
            "topic": ["q1", "q1", "q2"],
            "document": ["d1", "d 2", "d1"],
            "judge": ["w", "w", "w"],
            "label": [1, 0, 1],
            "query": ["why", "why", "how"],
            "title": ["T1", "T2", "T1"],
        }
    )
    judgments, _ = load_table(table, fields=("query", "title"))
    write(Content(judgments=judgments, labels=_labels()), tmp_path / "out", format="beir")
    corpus = (tmp_path / "out" / "corpus.jsonl").read_text().splitlines()
    queries = (tmp_path / "out" / "queries.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in corpus] == [
        {"_id": "d1", "title": "T1"},
        {"_id": "d 2", "title": "T2"},
    ]
    assert [json.loads(line) for line in queries] == [
        {"_id": "q1", "text": "why"},
        {"_id": "q2", "text": "how"},
    ]


def test_a_folder_of_an_earlier_run_is_replaced_and_no_other(folder: Path, tmp_path: Path) -> None:
    write(read(folder), tmp_path / "out", format="beir")
    write(Content(labels=_labels()), tmp_path / "out", format="beir")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["qrels"]
    assert complaint(write, Content(labels=_labels()), folder, format="beir") == (
        f"{folder}: folder-not-empty"
    )
