"""Faulty rows of formats with a fixed shape: named by line and column, or skipped and listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adjudge.data.formats import read
from reading import complaint

FILES = {  # a file with room for a faulty row
    "bm25.run": "7 Q0 a 1 2.5 t\n\n{}\n8 Q0 a 1 1 t\n9 Q0 a 1 1 t\n",
    "7.qrels": "7 0 a 1\n\n{}\n8 0 a 0\n9 0 a 1\n",
    "stage2.tsv": "TOPIC\tHIT_ID\tWORKER_ID\tDOC_ID\tTRUTH\tLABEL\n7\th\tw\ta\t0\t0\n{}\n",
    "submission.txt": "7 a 1 0.9\n{}\n8 a 1 1\n8 b 2 0\n",
    "labels.csv": (
        "item,label,probability,p_0,p_1,judgments,rank,fallback\na,1,1,0,1,3,1,false\n{}\n"
    ),
    "crowd.csv": "task,worker,label\na,w,cat\n{}\n",
}


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("bm25.run", "7 Q0 b 2 1.5", "line 3: wrong-width"),
        ("bm25.run", "7 Q0 b two 1.5 t", "line 3, column rank: not-a-whole-number"),
        ("bm25.run", "7 Q0 b 2 high t", "line 3, column score: not-a-number"),
        ("bm25.run", "7 Q0 b 2 nan t", "line 3, column score: not-a-number"),
        ("bm25.run", "7 Q0 b 2 1e999 t", "line 3, column score: not-a-number"),
        ("bm25.run", "7 Q0 a 2 1.5 t", "line 3, column document: repeated-row"),
        ("bm25.run", "7 Q0 b\0 2 1.5 t", "line 3, column document: bad-id"),
        ("7.qrels", "7 0 b", "line 3: wrong-width"),
        ("7.qrels", "7 0 b high", "line 3, column grade: not-a-number"),
        ("7.qrels", "7 0 a 2", "line 3, column grade: two-values"),
        ("7.qrels", "7 0 b\0 1", "line 3, column document: bad-id"),
        ("stage2.tsv", "7\th\tw\tb\t-1\t2", "line 3, column LABEL: label-off-scale"),
        ("stage2.tsv", "7\th\tw\tb\tmaybe\t1", "line 3, column TRUTH: label-off-scale"),
        ("stage2.tsv", "7\th\t\tb\t-1\t1", "line 3, column WORKER_ID: bad-id"),
        ("stage2.tsv", "7\th\tw\tb\t-1", "line 3: wrong-width"),
        ("submission.txt", "7 b 1", "line 2: wrong-width"),
        ("submission.txt", "7 b 0 0.5", "line 2, column rank: not-a-rank"),
        ("submission.txt", "7 b 1 1.1", "line 2, column class: not-a-probability"),
        ("submission.txt", "7 b 1 yes", "line 2, column class: not-a-probability"),
        ("submission.txt", "7 a 2 0.5", "line 2, column document: repeated-row"),
        ("labels.csv", "c,1,1.5,0,1,3,1,no", "line 3, column probability: not-a-number"),
        ("labels.csv", "c,1,1,0,-1,3,1,no", "line 3, column p_1: not-a-number"),
        ("labels.csv", "c,1,1,0,1,2.5,1,no", "line 3, column judgments: not-a-number"),
        ("labels.csv", "c,1,1,0,1,3,1,perhaps", "line 3, column fallback: not-true-or-false"),
        ("labels.csv", " ,1,1,0,1,3,1,0", "line 3, column item: missing-id"),
        ("labels.csv", "a,1,1,0,1,3,1,0", "line 3, column item: repeated-row"),
        ("labels.csv", "c,1,1,0,1,3,1", "line 3: wrong-width"),
        ("crowd.csv", "a,,dog", "line 3, column worker: bad-id"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, name: str, row: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(FILES[name].format(row))
    assert complaint(read, path) == f"{name}, {message}"


SKIPPED: dict[str, tuple[str, list[str], list[tuple[int, str]]]] = {
    "run": (
        "7 Q0 a 1 x t\n7 Q0 a 1 9 t\n7 Q0 b\n7 Q0 a 2 8 t\n7 Q0 c 3 7 t\n",
        ["7/a", "7/c"],
        [(0, "line 1, column score"), (2, "line 3"), (3, "line 4, column document")],
    ),
    "qrels": (
        "7 0 a 1\n7 0 b x\n\n7 0 c\n7 0 d 0\n",
        ["7/a", "7/d"],
        [(1, "line 2, column grade"), (2, "line 4")],
    ),
    "trec-2011-submission": (
        "7 a 1 0.9\n7 b 0 1\n7 c 2 0.5\n7 a 3 0.1\n",
        ["7/a", "7/c"],
        [(1, "line 2, column rank"), (3, "line 4, column document")],
    ),
    "consensus": (
        "item,label,probability\na,1,1\nb,1,x\nc,1\na,0,1\nd,0,0.5\n",
        ["a", "d"],
        [(1, "line 3, column probability"), (2, "line 4"), (3, "line 5, column item")],
    ),
    "crowd-kit": (
        "task,true_label\na,cat\n,dog\nb\n",
        ["a"],
        [(1, "line 3, column task"), (2, "line 4")],
    ),
}


@pytest.mark.parametrize("name", SKIPPED)
def test_faulty_rows_are_skipped_and_listed(tmp_path: Path, name: str) -> None:
    text, items, bad = SKIPPED[name]
    path = tmp_path / "file"
    path.write_text(text)
    content = read(path, format=name, skip_bad=True)
    parts: list[Any] = [content.run, content.labels, content.gold and content.gold.to_table()]
    table = next(part for part in parts if part is not None)
    rows = table.to_pylist()
    assert [row.get("item") or f"{row['topic']}/{row['document']}" for row in rows] == items
    assert [(one.row, one.place) for one in content.bad] == [(n, f"file, {at}") for n, at in bad]


def test_nothing_left_after_skipping(tmp_path: Path) -> None:
    path = tmp_path / "q.qrels"
    path.write_text("7 0 b x\n7 0 b y\n")
    assert complaint(read, path, format="qrels", skip_bad=True) == "q.qrels: no-good-rows"
