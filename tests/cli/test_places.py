"""Every command that reads takes several files, a folder, a pattern and an address alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import Run
from servers import serving_files

SPARE = "--model majority-vote --seed 1"
# Further arguments of each command, and the parts of its output that depend on the judgments.
COMMANDS = {
    "agreement": "",
    "audit": "--resamples 0",
    "compare": "--gold {gold} --models majority-vote --folds 2",
    "consensus": SPARE,
    "estimate": f"--gold {{gold}} --target mean-grade {SPARE}",
    "evaluate": f"--gold {{gold}} --resamples 0 {SPARE}",
    "judges": SPARE,
    "look": "",
    "next": SPARE,
    "rank": f"--runs {{runs}} --samples 10 {SPARE}",
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    """The same judgments as one file, two, a folder, a pattern and an address."""
    folder = tmp_path_factory.mktemp("places")
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 40)
    rows = [
        f"q{i % 4},d{i},judge {j},{t if rng.random() < 0.8 else 1 - t}"
        for i, t in enumerate(truth.tolist())
        for j in range(3)
    ]
    head = "topic,document,judge,label"
    (folder / "parts").mkdir()
    (folder / "all").mkdir()
    (folder / "runs").mkdir()
    _write(folder / "all" / "all.csv", head, rows)
    _write(folder / "parts" / "part-1.csv", head, rows[:60])
    _write(folder / "parts" / "part-2.csv", head, rows[60:])
    gold = [f"q{i % 4},d{i},{t}" for i, t in enumerate(truth.tolist())]
    _write(folder / "gold.csv", "topic,document,gold", gold)
    for system in "ab":
        order = rng.permutation(40).tolist()
        lines = [f"q{i % 4} Q0 d{i} {r} {40 - r} {system}" for r, i in enumerate(order)]
        (folder / "runs" / f"{system}.run").write_text("\n".join(lines) + "\n")
    parts = [str(folder / "parts" / f"part-{part}.csv") for part in (1, 2)]
    with serving_files(folder) as address:
        yield {
            "one": [str(folder / "all" / "all.csv")],
            "several": parts,
            "folder": [str(folder / "parts")],
            "pattern": [str(folder / "parts" / "part-*.csv")],
            "address": [f"{address}/all/all.csv"],
            "gold": [str(folder / "gold.csv")],
            "gold-address": [f"{address}/gold.csv"],
            "runs": [str(folder / "runs")],
        }


def _write(path: Path, head: str, rows: list[str]) -> None:
    path.write_text("\n".join([head, *rows]) + "\n")


def _answer(adjudge: Run, command: str, places: dict[str, list[str]], how: str) -> Any:
    """What a command finds, without what names the files or says that there are several."""
    asked = COMMANDS[command].format(gold=places["gold"][0], runs=places["runs"][0]).split()
    ended = adjudge(command, *places[how], *asked, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    for row in found.get("models", ()):
        row.pop("seconds", None)
    return {key: value for key, value in found.items() if key not in ("left_out", "notes", "next")}


@pytest.mark.parametrize("how", ["several", "folder", "pattern", "address"])
@pytest.mark.parametrize("command", COMMANDS)
def test_places_are_read_alike(
    adjudge: Run, places: dict[str, list[str]], command: str, how: str
) -> None:
    assert _answer(adjudge, command, places, how) == _answer(adjudge, command, places, "one")


@pytest.mark.parametrize("how", ["several", "folder", "pattern", "address"])
def test_what_is_written_is_the_same(
    adjudge: Run, places: dict[str, list[str]], tmp_path: Path, how: str
) -> None:
    made = []
    for place in ("one", how):
        name = tmp_path / f"{place}.csv"
        ended = adjudge("convert", *places[place], "-o", name)
        assert ended.code == 0, ended.err
        made.append(sorted(name.read_text().splitlines()))
    assert made[0] == made[1]


def test_parts_of_one_table_of_labels_are_scored_together(
    adjudge: Run, places: dict[str, list[str]], tmp_path: Path
) -> None:
    table = tmp_path / "labels.csv"
    adjudge("consensus", *places["one"], *SPARE.split(), "-o", table)
    head, *rows = table.read_text().splitlines()
    _write(tmp_path / "a.csv", head, rows[:15])
    _write(tmp_path / "b.csv", head, rows[15:])
    ways = ("--gold", *places["gold"], "--resamples", 0, "--json")
    full = json.loads(adjudge("evaluate", table, *ways).out)
    parts = json.loads(adjudge("evaluate", tmp_path / "a.csv", tmp_path / "b.csv", *ways).out)
    assert parts["scores"] == full["scores"]
    twice = adjudge("evaluate", tmp_path / "a.csv", tmp_path / "a.csv", *ways)
    assert twice.code == 2
    assert "has a label in more than one of these files" in twice.err


def test_comparisons_of_a_folder_are_ranked_and_looked_at(adjudge: Run, tmp_path: Path) -> None:
    rows = ["a,b,left", "b,c,left", "a,c,left", "c,a,right", "b,a,tie"]
    folder = tmp_path / "pairs"
    folder.mkdir()
    for judge in ("ann", "bob"):
        _write(folder / f"{judge}.csv", "left,right,label", rows)
    found = json.loads(adjudge("rank-pairs", folder, "--model", "win-rate", "--json").out)
    assert found["counts"]["comparisons"] == 10
    assert found["counts"]["judges"] == 2
    files = sorted(folder.iterdir())
    again = json.loads(adjudge("rank-pairs", *files, "--model", "win-rate", "--json").out)
    assert again["ranking"] == found["ranking"]
    about = json.loads(adjudge("look", folder, "--json").out)
    assert (about["comparisons"], about["items"], about["judges"]) == (10, 3, 2)
    assert about["next"] == f"adjudge rank-pairs {folder} -o ranking.csv"
