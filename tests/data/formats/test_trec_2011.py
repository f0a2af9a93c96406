"""TREC 2011 crowdsourcing task 2: judgments, and submissions read and written."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa

from adjudge.data.formats import Content, read, write
from adjudge.data.formats.trec_2011 import SCALE, _write_submission
from adjudge.data.scale import Scale
from reading import complaint, gold_in, judgments_in

_HEADER = "TOPIC\tHIT_ID\tWORKER_ID\tDOC_ID\tTRUTH\tLABEL\n"


def _file(folder: Path, text: str, name: str = "stage2.tsv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def _labels(**columns: Any) -> Any:
    pairs = {"topic": ["7", "7", "8"], "document": ["a", "b", "a"]}
    return pa.table({"item": ["7/a", "7/b", "8/a"], **pairs, **columns})


def _submission(content: Content) -> str:
    file = io.BytesIO()
    _write_submission(content, file)
    return file.getvalue().decode()


def test_judgments_and_gold(tmp_path: Path) -> None:
    text = _HEADER + "7\th1\tw1\ta\t-1\t0\n7\th1\tw1\tb\t1\t1\n7\th2\tw2\ta\t-1\t1\n"
    content = read(_file(tmp_path, text))
    assert content.format == "trec-2011"
    assert judgments_in(content).scale == SCALE
    assert judgments_in(content).to_table().to_pydict() == {
        "item": ["7/a", "7/a", "7/b"],
        "topic": ["7", "7", "7"],
        "document": ["a", "a", "b"],
        "judge": ["w1", "w2", "w1"],
        "label": ["0", "1", "1"],
    }
    assert gold_in(content).to_table()["item"].to_pylist() == ["7/b"]
    assert gold_in(content).texts() == ["1"]


def test_a_submission(tmp_path: Path) -> None:
    content = read(_file(tmp_path, "7\ta\t1\t0.75\n7 b 2 0.25\n8 a na na\n8 b na 0.5\n", "run.txt"))
    assert content.format == "trec-2011-submission"
    assert content.scale == SCALE
    assert content.labels.to_pydict() == {
        "item": ["7/a", "7/b", "8/a", "8/b"],
        "topic": ["7", "7", "8", "8"],
        "document": ["a", "b", "a", "b"],
        "label": ["1", "0", None, "1"],
        "probability": [0.75, 0.75, None, 0.5],
        "p_0": [0.25, 0.75, None, 0.5],
        "p_1": [0.75, 0.25, None, 0.5],
        "rank": [1, 2, None, None],
    }


def test_the_class_is_the_probability_of_the_relevant_truths() -> None:
    shares = {"p_0": [0.5, 0.875, 0.25], "p_1": [0.25, 0.125, 0.25], "p_2": [0.25, 0.0, 0.5]}
    labels = _labels(label=["0", "0", "2"], rank=[1, 2, 1], **shares)
    scale = Scale.parse("0<1<2")
    assert _submission(Content(labels=labels, scale=scale)) == (
        "7\ta\t1\t0.5\n7\tb\t2\t0.125\n8\ta\t1\t0.75\n"
    )


def test_ranks_are_unique_and_binary_runs_are_ranked_by_probability(tmp_path: Path) -> None:
    pairs = {"topic": ["7"] * 4 + ["8"] * 2, "document": list("dcbaba")}
    shares = {"p_0": [0.1, 0.4, 0.1, 0.9, 0.5, 0.5], "p_1": [0.9, 0.6, 0.9, 0.1, 0.5, 0.5]}
    table = pa.table({
        "item": [f"{t}/{d}" for t, d in zip(*pairs.values(), strict=True)], **pairs,
        "label": ["1", "1", "1", "0", "1", "0"], **shares, "rank": [1, 3, 1, 4, 1, 1],
    })  # fmt: skip
    content = Content(labels=table, scale=SCALE)
    rows = [line.split("\t") for line in _submission(content).splitlines()]
    assert [(row[1], row[2]) for row in rows] == [
        ("d", "2"), ("c", "3"), ("b", "1"), ("a", "4"), ("b", "2"), ("a", "1"),
    ]  # fmt: skip
    write(content, tmp_path / "run.txt", format="trec-2011-submission-binary")
    binary = [line.split("\t") for line in (tmp_path / "run.txt").read_text().splitlines()]
    assert [row[2] for row in binary] == [row[2] for row in rows]
    assert [row[3] for row in binary] == ["1", "1", "1", "0", "1", "0"]


def test_a_submission_comes_back_as_it_was(tmp_path: Path) -> None:
    text = "7\ta\t1\t0.75\n7\tb\t2\t0.1\n8\ta\tna\tna\n"
    write(
        read(_file(tmp_path, text, "in.txt")), tmp_path / "out.txt", format="trec-2011-submission"
    )
    assert (tmp_path / "out.txt").read_text() == text


def test_a_pair_twice_in_a_submission() -> None:
    labels = pa.table(
        {"item": ["i", "j"], "topic": ["7", "7"], "document": ["a", "a"], "label": ["1", "1"]}
    )
    assert (
        complaint(_submission, Content(labels=labels, scale=SCALE))
        == "labels, row 2, column document: repeated-row"
    )
