"""adjudge may-replace: verdicts for programs and for people, from one file or two."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from commands import Run


@pytest.fixture
def panel(folder: Path) -> Path:
    """Three people, a good model and a random one, on 80 items of 8 topics."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 80)

    def rows(judge: str, kind: str, right: float) -> list[str]:
        said = np.where(rng.random(80) < right, truth, rng.integers(0, 3, 80))
        return [f"q{n // 10},d{n},{judge},{label},{kind}" for n, label in enumerate(said)]

    people = [row for p in ("ann", "bob", "cy") for row in rows(p, "person", 0.8)]
    models = [*rows("good", "model", 0.97), *rows("noise", "model", 0.0)]
    head = "topic,document,judge,label,kind"
    (folder / "people.csv").write_text("\n".join([head, *people, ""]))
    (folder / "models.csv").write_text("\n".join([head, *models, ""]))
    (folder / "both.csv").write_text("\n".join([head, *people, *models, ""]))
    for name, order in (("a", truth), ("b", rng.random(80)), ("c", -truth)):
        lines = [f"q{n // 10} Q0 d{n} 0 {order[n]} {name}" for n in range(80)]
        (folder / f"{name}.run").write_text("\n".join([*lines, ""]))
    return folder


def test_verdicts_from_two_files_and_from_one(adjudge: Run, panel: Path) -> None:
    apart = adjudge("may-replace", "people.csv", "models.csv", "--resamples", "50")
    assert apart.code == 0
    assert [(row["model"], row["verdict"]) for row in apart.rows] == [
        ("good", "passed"),
        ("noise", "failed"),
    ]
    assert list(apart.rows[0])[:4] == [
        "model",
        "verdict",
        "winning_rate",
        "advantage_probability",
    ]
    lines = apart.err.splitlines()
    assert lines[0] == (
        "2 models against 3 people on 80 items; accuracy, epsilon 0.2, false discovery rate 0.05"
    )
    assert lines[1].startswith("  For labels, good is no worse than a person: difference +0.")
    assert lines[2].startswith("  For labels, noise is worse than a person: difference -0.")
    together = adjudge("may-replace", "both.csv", "--resamples", "50")
    assert together.out == apart.out
    twice = adjudge("may-replace", "both.csv", "both.csv", "--resamples", "50")
    assert twice.out == apart.out


def test_groups_people_power_and_runs(adjudge: Run, panel: Path) -> None:
    ended = adjudge(
        "may-replace", "both.csv", "--score", "neg-rmse", "--epsilon", "0.1", "--by", "topic",
        "--least-items", "10", "--runs", "a.run", "b.run", "c.run", "-o", "verdicts.csv",
        "--per-person", "people-too.csv", "--power", "power.csv", "--resamples", "50",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    with (panel / "verdicts.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * (1 + 8)
    assert {row["group"] for row in rows} == {"", *(f"q{n}" for n in range(8))}
    assert rows[0]["ranking_non_inferior"] == "true"
    with (panel / "people-too.csv").open() as file:
        assert {row["person"] for row in csv.DictReader(file)} == {"ann", "bob", "cy"}
    with (panel / "power.csv").open() as file:
        assert {row["people"] for row in csv.DictReader(file)} == {"3", "5", "10"}
    assert "For ranking systems, good is no worse than a person" in ended.err
    assert "good would pass 4 times of 5 with 3 people of" in ended.err
    assert "noise would pass 4 times of 5 in no study that was simulated" in ended.err


def test_json_and_a_page_for_people(adjudge: Run, at_terminal: Run, panel: Path) -> None:
    found = adjudge("may-replace", "both.csv", "--json", "--resamples", "9").json
    assert found["verdicts"][0]["verdict"] == "passed"
    assert found["epsilon"] == 0.2
    out = at_terminal("may-replace", "both.csv", "--resamples", "9").out
    assert "May a model replace people?" in out
    assert "passed" in out


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("people.csv people.csv", ""),
        ("both.csv --score f1", "score"),
        ("both.csv --least-items 200", ""),
        ("both.csv --runs a.run", "runs"),
        ("both.csv -o both.csv", "--output"),
    ],
)
def test_bad_input(adjudge: Run, panel: Path, arguments: str, fault: str) -> None:
    assert adjudge("may-replace", *arguments.split()).fault == fault
