"""adjudge convert: judgments, gold and labels from one format to another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Run


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_judgments_there_and_back(kind: str, adjudge: Run, crowd: Path) -> None:
    ended = adjudge("convert", "judgments.csv", "-o", f"out.{kind}")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == (
        f"judgments.csv: it holds judgments (read as csv); written to out.{kind} as {kind}\n"
    )
    back = adjudge("convert", f"out.{kind}", "--to", "csv", "-q")
    assert back.out == (crowd / "judgments.csv").read_text()


def test_gold_is_written_with_judgments(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("convert", "judgments.csv", "--gold", "gold.csv", "--to", "jsonl")
    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert {(row["topic"], row["document"], row.get("gold")) for row in rows} == {
        ("q1", "d1", "1"),
        ("q1", "d2", None),
        ("q2", "d1", None),
        ("q2", "d3", "0"),
    }


def test_labels_are_dropped_and_collapsed(adjudge: Run, folder: Path) -> None:
    rows = ["a,x,2,2", "a,y,0,2", "b,x,-2,-2", "b,y,1,-2", "c,x,1,", "c,y,-2,"]
    (folder / "j.csv").write_text("\n".join(["item,judge,label,gold", *rows, ""]))
    ended = adjudge("convert", "j.csv", "--to", "csv", "--drop-label", "-2", "--binary")
    assert ended.out == "item,judge,label,gold\na,x,1,1\na,y,0,1\nc,x,1,\n"
    assert ended.err == "j.csv: 1 gold item left out: truth -2\n"


def test_what_an_export_leaves_out_is_reported(adjudge: Run, folder: Path) -> None:
    tasks = [
        {
            "id": 1,
            "data": {"text": "t"},
            "annotations": [
                {"id": 1, "completed_by": 7, "was_cancelled": False, "result": [choice("yes")]},
                {"id": 2, "completed_by": 8, "was_cancelled": True, "result": [choice("no")]},
                {"id": 3, "completed_by": 9, "was_cancelled": False, "result": [choice("no")]},
            ],
        }
    ]
    (folder / "export.json").write_text(json.dumps(tasks))
    ended = adjudge("convert", "export.json", "--to", "csv")
    assert ended.code == 0
    assert "warning: export.json: 1 annotation left out: " in ended.err
    found = adjudge("consensus", "export.json", "--json").json
    assert [f"warning: export.json: {note}" for note in found["left_out"]] == ended.err.splitlines()


def choice(answer: str) -> dict[str, object]:
    return {
        "from_name": "label",
        "to_name": "text",
        "type": "choices",
        "value": {"choices": [answer]},
    }


def test_bad_rows_are_listed_and_counted(adjudge: Run, folder: Path) -> None:
    rows = [f"i{n},x,1" for n in range(3)] + [f"i{n},,1" for n in range(12)]
    (folder / "j.csv").write_text("\n".join(["item,judge,label", *rows, ""]))
    ended = adjudge("convert", "j.csv", "--to", "csv", "--skip-bad-rows")
    assert len(ended.out.splitlines()) == 4
    lines = ended.err.splitlines()
    assert lines[:2] == [
        "warning: j.csv: 12 bad rows left out:",
        "  j.csv, line 5, column judge: the judge id is empty",
    ]
    assert lines[-1] == "  ... and 2 more"
    assert len(lines) == 12
    found = adjudge("judges", "j.csv", "--skip-bad-rows", "--json").json["bad_rows"]
    assert len(found) == 12
    assert found[0] == {
        "place": "j.csv, line 5, column judge",
        "problem": "the judge id is empty",
    }


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("", "FILE"),
        ("judgments.csv", "--to"),
        ("judgments.csv -o x.xyz", "--to"),
        ("judgments.csv --to csv --json", "--json"),
        ("judgments.csv -o judgments.csv", "--output"),
        ("gold.csv --to csv --binary", "--binary"),
        ("gold.csv --to csv --drop-label 1", "--drop-label"),
        ("judgments.csv --to run", ""),
        ("judgments.csv --to qrels", ""),
    ],
)
def test_what_cannot_be_converted(arguments: str, fault: str, adjudge: Run, crowd: Path) -> None:
    before = (crowd / "judgments.csv").read_text()
    assert adjudge("convert", *arguments.split()).fault == fault
    assert (crowd / "judgments.csv").read_text() == before
