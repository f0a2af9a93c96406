"""Tables as CSV, JSONL and Parquet: quoted where they must be, and safe in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adjudge.data.formats.writing import unguarded, write_csv, write_table


def _csv(table: Any, **options: Any) -> str:
    file = io.BytesIO()
    write_csv(table, file, **options)
    return file.getvalue().decode()


def test_only_cells_that_must_be_are_quoted() -> None:
    table = pa.table({"a": ["x", "a,b", 'q"q', "l\nl", "r\rr", " s ", "t\tt"], "b,": [1] * 7})
    assert _csv(table) == ('a,"b,"\nx,1\n"a,b",1\n"q""q",1\n"l\nl",1\n"r\rr",1\n s ,1\nt\tt,1\n')
    assert _csv(table, delimiter="\t") == (
        'a\tb,\nx\t1\na,b\t1\n"q""q"\t1\n"l\nl"\t1\n"r\rr"\t1\n s \t1\n"t\tt"\t1\n'
    )


def test_numbers_times_truth_and_what_is_missing() -> None:
    table = pa.table(
        {
            "float": [0.1, 1.0, None],
            "count": [1, None, -3],
            "true": [True, False, None],
            "time": pa.array([datetime(2026, 5, 31, 12, tzinfo=UTC), None, None]),
            "text": ["", None, "x"],
        }
    )
    assert _csv(table) == (
        "float,count,true,time,text\n0.1,1,true,2026-05-31 12:00:00.000000Z,\n1,,false,,\n,-3,,,x\n"
    )


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+49", "+49"),
        ("-2.5", "-2.5"),
        ("-x", "'-x"),
        ("@me", "'@me"),
        ("\tx", "'\tx"),
        ("'=1", "''=1"),
        ("'tis", "'tis"),
        ("a=1", "a=1"),
        ("", ""),
    ],
)
def test_cells_that_a_spreadsheet_would_run_are_disarmed(cell: str, written: str) -> None:
    table = pa.table({"a": [cell], "b": [-1]})
    assert next(csv.reader(io.StringIO(_csv(table, guard=True).split("\n", 1)[1]))) == [
        written,
        "-1",
    ]
    assert unguarded(pa.table({"a": [written]}))["a"].to_pylist() == [cell]


@settings(deadline=None)
@given(cell=st.text(st.characters(exclude_categories=["Cs"])))
@example("''=x")
@example("'-5")
def test_disarming_can_be_undone(cell: str) -> None:
    text = _csv(pa.table({"a": [cell], "b": ["."]}), guard=True)
    written = list(csv.reader(io.StringIO(text, newline="")))[1][0]
    assert unguarded(pa.table({"a": [written]}))["a"].to_pylist() == [cell]


def test_jsonl_leaves_out_what_is_missing() -> None:
    file = io.BytesIO()
    table = pa.table(
        {
            'a "b"': ["é", None, 'q"\n'],
            "float": [1.5, 2.0, math.nan],
            "true": [True, None, False],
            "integer": [None, 2**60, -1],
            "time": pa.array([None, datetime(2026, 5, 31, 12, tzinfo=UTC), None]),
            "list": [[1, None], [], None],
            "coded": pa.array(["x", "y", "x"]).dictionary_encode(),
        }
    )
    write_table(pa.concat_tables([table.slice(1), table.slice(0, 1)]), file, ".jsonl")
    assert [json.loads(line) for line in file.getvalue().decode().splitlines()] == [
        {
            "float": 2.0,
            "integer": 2**60,
            "time": "2026-05-31 12:00:00+00:00",
            "list": [],
            "coded": "y",
        },
        {'a "b"': 'q"\n', "true": False, "integer": -1, "coded": "x"},
        {'a "b"': "é", "float": 1.5, "true": True, "list": [1, None], "coded": "x"},
    ]
