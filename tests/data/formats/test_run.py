"""TREC runs: read into a table, and every fault named by its line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from adjudge.data.formats import read
from adjudge.errors import BadData
from faults import fault_of


def _file(folder: Path, text: str) -> Path:
    path = folder / "bm25.run"
    path.write_text(text)
    return path


def test_a_run(tmp_path: Path) -> None:
    content = read(_file(tmp_path, "7 Q0 a 1 12.5 bm25\n7\tQ0\tb\t2\t-1e-2\tbm25\n8 Q0 a 0 3 bm25"))
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


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("7 Q0 b 2 1.5", "line 3: wrong-width"),
        ("7 Q0 b 2 1.5 my tag", "line 3: wrong-width"),
        ("7 Q0 b two 1.5 t", "line 3, column rank: not-a-whole-number"),
        ("7 Q0 b 2.5 1.5 t", "line 3, column rank: not-a-whole-number"),
        ("7 Q0 b 2 high t", "line 3, column score: not-a-number"),
        ("7 Q0 b 2 nan t", "line 3, column score: not-a-number"),
        ("7 Q0 b 2 1e999 t", "line 3, column score: not-a-number"),
        ("7 Q0 a 2 1.5 t", "line 3, column document: repeated-row"),
        ("7 Q0 b\0 2 1.5 t", "line 3, column document: bad-id"),
    ],
)
def test_a_bad_line(tmp_path: Path, line: str, message: str) -> None:
    path = _file(tmp_path, f"7 Q0 a 1 2.5 t\n\n{line}\n8 Q0 a 1 1 t\n9 Q0 a 1 1 t\n")
    with pytest.raises(BadData) as raised:
        read(path)
    assert fault_of(raised.value) == f"bm25.run, {message}"


def test_bad_lines_are_skipped_and_listed(tmp_path: Path) -> None:
    text = "7 Q0 a 1 x t\n7 Q0 a 1 9 t\n7 Q0 b\n7 Q0 a 2 8 t\n7 Q0 c 3 7 t\n"
    content = read(_file(tmp_path, text), format="run", skip_bad=True)
    assert content.run["document"].to_pylist() == ["a", "c"]
    assert [(bad.row, bad.place) for bad in content.bad] == [
        (0, "bm25.run, line 1, column score"),
        (2, "bm25.run, line 3"),
        (3, "bm25.run, line 4, column document"),
    ]


def test_a_large_run(tmp_path: Path) -> None:
    lines = (
        f"{n // 1000} Q0 d{n} {n % 1000 + 1} {1 / (n % 1000 + 1):.6f} t" for n in range(50_000)
    )
    run = read(_file(tmp_path, "\n".join(lines))).run
    assert len(run) == 50_000
    assert run["document"][49_999].as_py() == "d49999"
    assert run["rank"][49_999].as_py() == 1000
