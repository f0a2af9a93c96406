"""adjudge rank-pairs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from adjudge.data.formats import Content, write
from commands import Run
from simulated_pairs import make_comparisons


@pytest.fixture
def pairs(folder: Path) -> str:
    right = np.array([0.95] * 6 + [0.05])
    made = make_comparisons(np.linspace(-2, 2, 9), 1400, right=right, tied=0.5, seed=1)
    write(Content(comparisons=made.comparisons), folder / "pairs.csv", format="pairs")
    return "pairs.csv"


def test_a_ranking_to_files(adjudge: Run, folder: Path, pairs: str) -> None:
    places = ("-o", "r.csv", "--judges", "j.csv", "--next", "n.csv", "--pairs", "p.csv")
    done = adjudge("rank-pairs", pairs, *places, "--report", "r.html")
    assert done.code == 0, done.err
    with (folder / "r.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:5] == ["item", "score", "low", "high", "rank"]
    assert [row["rank"] for row in rows] == [str(n) for n in range(1, 10)]
    assert {row["item"] for row in rows[:2]} == {"item8", "item7"}
    with (folder / "j.csv").open() as file:
        verdicts = {row["judge"]: row["verdict"] for row in csv.DictReader(file)}
    assert [verdicts[f"judge{n}"] for n in range(7)] == ["informative"] * 6 + ["reversed"]
    page = (folder / "r.html").read_text()
    for part in ("Ranking", "Wins, observed and expected", "Judges", "Fit", "Ask next"):
        assert f"<h2>{part}</h2>" in page
    assert (folder / "n.csv").read_text().startswith("left,right,difference,p_above")
    assert (folder / "p.csv").read_text().startswith("first,second,comparisons,observed,expected")


def test_as_json_and_by_other_models(adjudge: Run, pairs: str) -> None:
    for model in ("bradley-terry", "elo", "win-rate"):
        done = adjudge("rank-pairs", pairs, "--model", model, "--json")
        assert done.code == 0, done.err
        result = json.loads(done.out)
        assert result["model"] == model
        assert len(result["ranking"]) == 9
    result = json.loads(adjudge("rank-pairs", pairs, "--json", "--sure", "0.999").out)
    assert result["comparisons_needed"] > 0
    assert 0.5 < result["sureness"] < 1


@pytest.mark.parametrize("command", ["consensus", "judges", "next", "report"])
def test_commands_of_judgments_name_the_one_for_comparisons(
    adjudge: Run, pairs: str, command: str
) -> None:
    done = adjudge(command, pairs)
    assert done.code == 2
    assert "adjudge rank-pairs" in done.err


@pytest.mark.parametrize(
    ("arguments", "setting"),
    [
        (("--model", "dawid-skene"), "model of comparisons"),
        (("--set", "regularisation"), "--set"),
        (("--model", "elo", "--set", "chains=3"), "setting of elo"),
        (("--save-draws", "d.nc"), "--save-draws"),
        (("--sure", "2"), "sure"),
    ],
)
def test_what_cannot_be_done_is_said(
    adjudge: Run, pairs: str, arguments: tuple[str, ...], setting: str
) -> None:
    done = adjudge("rank-pairs", pairs, *arguments)
    assert (done.code, done.error.setting) == (2, setting)


def test_a_file_of_judgments_is_refused(adjudge: Run, folder: Path) -> None:
    (folder / "j.csv").write_text("item,judge,label\na,ann,1\n")
    done = adjudge("rank-pairs", "j.csv")
    assert done.err.startswith("error: j.csv: there are no comparisons in this file: it holds judg")


def test_grades_and_comparisons_in_one_file(adjudge: Run, folder: Path, pairs: str) -> None:
    rows = [f"item{n},{judge},{min(n // 3, 2)}" for n in range(8) for judge in ("ann", "bob")]
    (folder / "grades.csv").write_text("\n".join(["item,judge,label", *rows]) + "\n")
    places = ("-o", "r.csv", "--judges", "j.csv", "--report", "r.html")
    done = adjudge("rank-pairs", pairs, "--grades", "grades.csv", *places)
    assert done.code == 0, done.err
    assert "with 16 judgments of 8 items by 2 judges; labels 0 < 1 < 2" in done.err
    with (folder / "r.csv").open() as file:
        ranked = list(csv.DictReader(file))
    assert ranked[0]["grade"] == "2"
    assert ranked[-1]["grade"] == "0"
    assert {row["item"] for row in ranked} == {f"item{n}" for n in range(9)}  # one has no grade
    assert sum(float(ranked[0][f"p_{grade}"]) for grade in range(3)) == pytest.approx(1)
    with (folder / "j.csv").open() as file:
        judges = {row["judge"]: row for row in csv.DictReader(file)}
    assert judges["ann"]["judgments"] == "8"
    assert judges["judge6"]["verdict"] == "reversed"
    assert "<h2>Grades</h2>" in (folder / "r.html").read_text()
    result = json.loads(adjudge("rank-pairs", pairs, "--grades", "grades.csv", "--json").out)
    assert result["model"] == "graded-bradley-terry"
    refused = adjudge("rank-pairs", pairs, "--grades", "grades.csv", "--model", "elo")
    assert refused.err == (
        "error: --grades = 'grades.csv': expected --model graded-bradley-terry, or none\n"
    )
    (folder / "other.csv").write_text("item,judge,label\nx,ann,1\ny,ann,0\n")
    refused = adjudge("rank-pairs", pairs, "--grades", "other.csv")
    assert "(such as 'x' and 'item4')" in refused.err
