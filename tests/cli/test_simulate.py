"""adjudge simulate: made judgments that other commands read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import Run


def test_a_pipe_gets_judgments(adjudge: Run) -> None:
    ended = adjudge("simulate", "--items", "20", "--judges", "4", "--per-item", "2-3")
    assert ended.out.splitlines()[0] == "item,judge,label"
    assert 40 <= len(ended.rows) <= 60
    assert {row["label"] for row in ended.rows} == {"0", "1"}
    count = len(ended.rows)
    assert ended.err == (
        f"{count} judgments of 20 items by 4 judges "
        "(skilled:80,spammer:10,lazy:5,adversary:5), seed 0\n"
    )


def test_seeds(adjudge: Run) -> None:
    first, same, other = (adjudge("simulate", "--seed", seed).out for seed in (1, 1, 2))
    assert first == same != other


def test_every_file_at_once(adjudge: Run, folder: Path, names: Callable[[Path], list[str]]) -> None:
    ended = adjudge(
        *("simulate", "--items", "50", "--judges", "9", "--labels", "no<maybe<yes"),
        *("--population", "skilled(8,2):8,lazy:1", "--prevalence", "0.5,0.25,0.25"),
        *("--topics", "5", "--concentration", "10", "--activity", "even", "--difficulty", "1,4"),
        *("--repeats", "--gold-share", "0.2", "--honeypots", "0.1", "--timed"),
        *("-o", "j.parquet", "--truth", "t.jsonl", "--gold", "g.csv"),
    )
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.splitlines()[1:] == [
        "judgments written to j.parquet",
        "truth written to t.jsonl",
        "gold written to g.csv",
    ]
    assert names(folder) == ["g.csv", "j.parquet", "t.jsonl"]
    assert len((folder / "t.jsonl").read_text().splitlines()) == 50
    header, *gold = (folder / "g.csv").read_text().splitlines()
    assert header == "item,topic,gold,honeypot"
    assert len(gold) == 10
    assert sum(row.endswith("true") for row in gold) == 5
    found = adjudge("consensus", "j.parquet", "--gold", "g.csv", "--json").json
    assert found["counts"] == {"judgments": 250, "items": 50, "judges": 9, "topics": 5}
    assert set(found["scale"]["labels"]) == {"no", "maybe", "yes"}


def test_labels_that_a_spreadsheet_would_run_are_read_back(adjudge: Run, folder: Path) -> None:
    adjudge("simulate", "--labels", "-a,=b", "-o", "j.csv", "--truth", "t.csv", "--items", "30")
    ended = adjudge("evaluate", "j.csv", "--gold", "t.csv", "--json", "--resamples", "0")
    assert ended.json["scored"] == 30


def test_a_person_sees_the_first(at_terminal: Run) -> None:
    ended = at_terminal("simulate", "--timed", "--topics", "3")
    rows = [line for line in ended.out.splitlines() if "item-" in line]
    assert len(rows) == 10
    assert max(map(len, ended.out.splitlines())) <= 80
    assert ended.err.endswith("5,000 judgments in all; -o judgments.csv keeps them\n")


def test_jsonl_has_numbers(adjudge: Run, folder: Path) -> None:
    adjudge("simulate", "--items", "3", "--timed", "-o", "j.jsonl", "-q")
    row = json.loads((folder / "j.jsonl").read_text().splitlines()[0])
    assert isinstance(row["seconds"], float)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--gold", "g.csv"],
            "--gold-share = 0.0: wanted a share above 0, since --gold asks for gold",
        ),
        (
            ["--per-item", "few"],
            "--per-item = 'few': wanted a number such as 5, or a range such as 3-8",
        ),
        (["--prevalence", "half"], "--prevalence = 'half': wanted shares such as 0.7,0.2,0.1"),
        (
            ["--difficulty", "1"],
            "--difficulty = '1': wanted two numbers above 0, such as 1,4",
        ),
        (["--items", "0"], "items = 0: wanted 1 or more"),
        (["-o", "x.csv", "--truth", "x.csv"], None),
    ],
)
def test_bad_settings(
    arguments: list[str],
    message: str | None,
    adjudge: Run,
    folder: Path,
    names: Callable[[Path], list[str]],
) -> None:
    ended = adjudge("simulate", *arguments)
    message = message or "--truth = 'x.csv': wanted another place than that of --output"
    assert (ended.code, ended.out, ended.err) == (2, "", f"error: {message}\n")
    assert names(folder) == []
