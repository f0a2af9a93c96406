"""Results are written where they are wanted, whole or not at all."""

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

from adjudge.cli._files import STDOUT, check_places, check_printing, kind_of, write_tables
from adjudge.cli._options import Printing
from adjudge.cli._results import interval, number, print_json
from adjudge.errors import AdjudgeError

TABLE = pa.table({"item": ["a", "=b"], "n": [1, 2]})


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("-", ".csv"),
        ("x.csv", ".csv"),
        ("x.TSV", ".tsv"),
        ("a.b.jsonl", ".jsonl"),
        ("x.parquet", ".parquet"),
        ("/dev/null", ".csv"),
    ],
)
def test_the_kind_of_a_path(path: str, kind: str) -> None:
    assert kind_of(Path(path)) == kind


def test_files_by_extension(folder: Path) -> None:
    paths = [folder / f"t{kind}" for kind in (".csv", ".tsv", ".jsonl", ".parquet")]
    write_tables(*((TABLE, path) for path in paths), (TABLE, None))
    assert paths[0].read_text() == "item,n\na,1\n'=b,2\n"
    assert paths[1].read_text() == "item\tn\na\t1\n'=b\t2\n"
    assert paths[2].read_text() == '{"item": "a", "n": 1}\n{"item": "=b", "n": 2}\n'
    assert pa.parquet.read_table(paths[3]).equals(TABLE)
    write_tables((TABLE, paths[0]), guard=False)
    assert paths[0].read_text() == "item,n\na,1\n=b,2\n"


def test_all_files_or_none(folder: Path, names: Callable[[Path], list[str]]) -> None:
    (folder / "a.csv").write_text("before")
    with pytest.raises(AttributeError):
        write_tables((TABLE, folder / "a.csv"), (object(), folder / "b.csv"))
    assert names(folder) == ["a.csv"]
    assert (folder / "a.csv").read_text() == "before"


def test_files_come_before_standard_output(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tables((TABLE, STDOUT), (TABLE, folder / "a.csv"))
    assert capsys.readouterr().out == "item,n\na,1\n'=b,2\n"
    with pytest.raises(AttributeError):
        write_tables((object(), STDOUT), (TABLE, folder / "b.csv"))
    assert (folder / "b.csv").is_file()


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (
            {"--output": "x.xls"},
            "--output = 'x.xls': wanted a name that ends in .csv, .tsv, .jsonl, .parquet",
        ),
        (
            {"--judges": "noextension"},
            "--judges = 'noextension': wanted a name that ends in .csv, .tsv, .jsonl, .parquet",
        ),
        ({"--output": "no/such/x.csv"}, "no/such: there is no such folder to write into"),
        ({"--output": "d.csv"}, "d.csv: is a folder; wanted a file to write"),
        (
            {"--output": "input.csv"},
            "--output = 'input.csv': wanted another place than the file that is read",
        ),
        (
            {"--output": "x.csv", "--judges": "./d.csv/../x.csv"},
            "--judges = 'd.csv/../x.csv': wanted another place than that of --output",
        ),
    ],
)
def test_places_that_cannot_be_written(places: dict[str, str], message: str, folder: Path) -> None:
    (folder / "d.csv").mkdir()
    paths = {option: Path(path) for option, path in places.items()}
    with pytest.raises(AdjudgeError) as caught:
        check_places(paths, inputs=[folder / "input.csv", None])
    assert str(caught.value) == message


def test_places_that_can(folder: Path) -> None:
    (folder / "d").mkdir()
    check_places({"--output": STDOUT, "--judges": None}, inputs=[None])
    check_places({"--output": folder / "x.csv", "--judges": STDOUT, "--truth": STDOUT})
    check_places({"--output": folder / "d"}, free=["--output"])


def test_json_and_a_table_cannot_share_standard_output() -> None:
    check_printing(Printing(json=True), Path("x.csv"))
    check_printing(Printing(json=False), STDOUT)
    with pytest.raises(AdjudgeError) as caught:
        check_printing(Printing(json=True), STDOUT)
    assert (
        str(caught.value) == "--json = True: wanted -o FILE, since standard output cannot have both"
    )


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


@pytest.mark.parametrize(
    ("value", "wanted"), [(0.7421, "0.742"), (None, "-"), (math.nan, "-"), (-1, "-1.000")]
)
def test_numbers_for_people(value: float | None, wanted: str) -> None:
    assert number(value) == wanted


def test_intervals_for_people() -> None:
    assert interval(0.714, 0.786) == "0.71 to 0.79"
    assert interval(None, 1.0) == ""
    assert interval(0.0, math.nan) == ""
