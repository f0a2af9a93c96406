"""Results are written where they should be, complete or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from adjudge.cli._results import (
    STDOUT,
    check_places,
    print_json,
    write_tables,
)

TABLE = pa.table({"item": ["a", "=b"], "n": [1, 2]})


def test_files_by_extension(folder: Path) -> None:
    paths = [folder / f"t{kind}" for kind in (".csv", ".tsv", ".jsonl", ".parquet")]
    write_tables({**{path.name: (TABLE, path) for path in paths}, "none": (TABLE, None)})
    assert paths[0].read_text() == "item,n\na,1\n'=b,2\n"
    assert paths[1].read_text() == "item\tn\na\t1\n'=b\t2\n"
    assert paths[2].read_text() == '{"item": "a", "n": 1}\n{"item": "=b", "n": 2}\n'
    assert pa.parquet.read_table(paths[3]).equals(TABLE)
    write_tables({"a": (TABLE, paths[0])}, guard=False)
    assert paths[0].read_text() == "item,n\na,1\n=b,2\n"


def test_all_files_or_none(folder: Path, names: Callable[[Path], list[str]]) -> None:
    (folder / "a.csv").write_text("before")
    with pytest.raises(AttributeError):
        write_tables({"a": (TABLE, folder / "a.csv"), "b": (object(), folder / "b.csv")})
    assert names(folder) == ["a.csv"]
    assert (folder / "a.csv").read_text() == "before"


def test_files_come_before_standard_output(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tables({"a": (TABLE, STDOUT), "b": (TABLE, folder / "a.csv")})
    assert capsys.readouterr().out == "item,n\na,1\n'=b,2\n"
    with pytest.raises(AttributeError):
        write_tables({"a": (object(), STDOUT), "b": (TABLE, folder / "b.csv")})
    assert (folder / "b.csv").is_file()


def test_places_that_can(folder: Path) -> None:
    (folder / "d").mkdir()
    check_places({"--output": STDOUT, "--judges": None}, inputs=[None])
    check_places({"--output": folder / "x.csv", "--judges": STDOUT, "--truth": STDOUT})
    check_places({"--output": folder / "d"}, free=["--output"])


def test_json_has_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    value: dict[Any, Any] = {
        1: (math.nan, math.inf, np.float64(0.5), np.array([1, 2]), None, True),
        "é": {"path": Path("x")},
    }
    print_json(value)
    out = capsys.readouterr().out
    assert json.loads(out) == {
        "1": [None, None, 0.5, [1, 2], None, True],
        "é": {"path": "x"},
    }
    assert "é" in out
