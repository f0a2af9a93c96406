"""TREC qrels and runs, in and out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.data.formats import Content, read, write
from adjudge.data.gold import Gold
from adjudge.data.scale import Scale
from reading import complaint, gold_in
from sizes import sized


def _file(folder: Path, text: str | bytes) -> Path:
    path = folder / "qrels.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _labels(**columns: list[Any]) -> Any:
    base = {"item": ["7/a", "7/b"], "topic": ["7", "7"], "document": ["a", "b"]}
    return pa.table(base | columns)


ROW = "row 1, column"


def test_gold(tmp_path: Path) -> None:
    content = read(_file(tmp_path, "7 0 a 2\n7\tQ0 \tb  -1\r\n\n 8 x a 0\n"))
    assert content.format == "qrels"
    assert gold_in(content).to_table().to_pydict() == {
        "item": ["7/a", "7/b", "8/a"],
        "topic": ["7", "7", "8"],
        "document": ["a", "b", "a"],
        "gold": ["2", "-1", "0"],
    }


def test_integers_are_their_own_grade(tmp_path: Path) -> None:
    write(Content(labels=_labels(label=["-2", "1"])), tmp_path / "out", format="qrels")
    assert (tmp_path / "out").read_text() == "7 0 a -2\n7 0 b 1\n"


def test_other_labels_have_their_place_on_an_ordered_scale(tmp_path: Path) -> None:
    labels = _labels(label=["good", "bad"])
    scale = Scale.parse("bad<fair<good")
    write(Content(labels=labels, scale=scale), tmp_path / "out", format="qrels")
    assert (tmp_path / "out").read_text() == "7 0 a 2\n7 0 b 0\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (Content(labels=_labels(label=["cat", "dog"])), "labels-not-numbers"),
        (Content(labels=_labels(label=["1", "1.5"])), "column label: not-a-whole-number"),
        (Content(labels=_labels(label=["1", None])), "column label: missing-labels"),
        (
            Content(labels=_labels(label=["1", "1"]).drop_columns(["topic"])),
            "column topic: missing-column",
        ),
        (
            Content(labels=_labels(document=["a b", "c"], label=["1", "1"])),
            f"{ROW} document: bad-id",
        ),
        (Content(labels=_labels(topic=["", "7"], label=["1", "1"])), f"{ROW} topic: bad-id"),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, content: Content, message: str) -> None:
    assert complaint(write, content, tmp_path / "out", format="qrels") == message
    assert not (tmp_path / "out").exists()


_ID = st.text(
    st.characters(exclude_categories=["Z", "C"], exclude_characters="/"), min_size=1, max_size=5
)


@settings(deadline=None, max_examples=sized(20, full=50))
@given(grades=st.dictionaries(st.tuples(_ID, _ID), st.integers(-3, 4), min_size=1, max_size=8))
def test_gold_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, grades: dict[tuple[str, str], int]
) -> None:
    topics, documents = zip(*grades, strict=True)
    gold = Gold.from_table(
        pa.table({"topic": topics, "document": documents, "gold": list(grades.values())})
    )
    path = tmp_path_factory.mktemp("qrels") / "out"
    write(Content(gold=gold), path, format="qrels")
    again = gold_in(read(path, format="qrels"))
    assert again.to_table().to_pydict() == gold.to_table().to_pydict()


def test_a_filler_in_the_first_column_is_no_topic(tmp_path: Path) -> None:
    path = tmp_path / "q.qrels"
    path.write_text("0 301 a 0\n0 301 b 1\n0 302 a 1\n")
    content = read(path)
    assert gold_in(content).to_table()["item"].to_pylist() == ["301/a", "301/b", "302/a"]
    assert content.notes == ("the topic is taken from the second column, since the first is '0'",)


def test_grades_that_are_all_one_in_an_odd_order_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "q.qrels"
    path.write_text("0 301 a 0\n1 301 b 0\n")
    assert read(path).notes == (
        "every grade is 0, and the second column is not 0 or Q0: expected topic, 0, document and "
        "grade, in this order",
    )


def _run(folder: Path, text: str) -> Path:
    path = folder / "bm25.run"
    path.write_text(text)
    return path


def test_a_run(tmp_path: Path) -> None:
    content = read(_run(tmp_path, "7 Q0 a 1 12.5 bm25\n7\tQ0\tb\t2\t-1e-2\tbm25\n8 Q0 a 0 3 bm25"))
    assert content.format == "run"
    assert content.run.to_pydict() == {
        "topic": ["7", "7", "8"],
        "document": ["a", "b", "a"],
        "rank": [1, 2, 0],
        "score": [12.5, -0.01, 3.0],
        "tag": ["bm25"] * 3,
        "line": [1, 2, 3],
    }
    assert content.run.schema.field("rank").type == pa.int64()
    assert content.run.schema.field("score").type == pa.float64()
