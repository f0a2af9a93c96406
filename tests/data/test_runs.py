"""Runs: their order is trec_eval's, their names tell them apart."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from adjudge.data.runs import Run, distinct_names
from adjudge.errors import BadData


def run_of(rows: list[tuple[str, str, float]], **more: object) -> Run:
    topic, document, score = zip(*rows, strict=True)
    table = {"topic": list(topic), "document": list(document), "score": list(score)}
    return Run.from_table(table, **more)  # type: ignore[arg-type]


def test_documents_are_in_the_order_of_scores_and_then_of_ids_from_z_to_a() -> None:
    run = run_of([("t", "a", 1.0), ("u", "z", 5.0), ("t", "b", 1.0), ("t", "c", 2.0)])
    assert run.topics.to_pylist() == ["t", "u"]
    assert run.offsets.tolist() == [0, 3, 4]
    assert run.documents.to_pylist() == ["c", "b", "a", "z"]
    assert run.topic.tolist() == [0, 0, 0, 1]
    assert run.line.tolist() == [4, 3, 1, 2]
    assert repr(run) == "Run(run: 4 documents of 2 topics)"


def test_scores_are_compared_in_single_precision() -> None:
    run = run_of([("t", "a", 1.00000001), ("t", "b", 1.0)])
    assert run.documents.to_pylist() == ["b", "a"]


def test_a_file_is_read_with_its_lines_and_called_by_its_tag(tmp_path: Path) -> None:
    path = tmp_path / "first.run"
    path.write_text("7 Q0 a 1 1.5 bm25\n\n7 Q0 b 2 2.5 bm25\n")
    run = Run.read(path)
    assert (run.name, run.source) == ("bm25", "first.run")
    assert run.documents.to_pylist() == ["b", "a"]
    assert run.line.tolist() == [3, 1]
    assert run.notes == (
        "ranks and scores of 1 neighbours disagree; the scores decide, as in trec_eval",
    )


def test_a_run_with_several_tags_is_called_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "first.run.gz"
    path.write_bytes(gzip.compress(b"7 Q0 a 1 1.5 bm25\n7 Q0 b 2 1.0 other\n"))
    run = Run.read(path)
    assert run.name == "first"
    assert run.notes == ()


def test_a_file_of_another_format_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "crowd.qrels"
    path.write_text("7 0 a 1\n")
    with pytest.raises(BadData) as raised:
        Run.read(path)
    assert (raised.value.place, raised.value.code) == ("crowd.qrels, line 1", "wrong-width")


@pytest.mark.parametrize(
    ("names", "sources", "expected"),
    [
        (("a", "b"), ("x.run", "y.run"), ["a", "b"]),
        (("a", "a"), ("x.run", "y.run"), ["x", "y"]),
        (("a", "a"), ("x.run", "x.txt"), ["x.run", "x.txt"]),
        (("a", "a"), ("x.run", "x.run"), ["x.run (1)", "x.run (2)"]),
    ],
)
def test_runs_are_distinguished_by_names(
    names: tuple[str, str], sources: tuple[str, str], expected: list[str]
) -> None:
    runs = [
        run_of([("t", "d", 1.0)], name=name, source=source)
        for name, source in zip(names, sources, strict=True)
    ]
    assert [run.name for run in distinct_names(runs)] == expected
