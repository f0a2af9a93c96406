"""adjudge demo: a full run, and files that other commands take."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import Run

FILES = ["gold.csv", "judges.csv", "judgments.csv", "labels.csv", "truth.csv"]


@pytest.mark.parametrize("seed", [7, 8])
def test_copies_deceive_others_but_not_the_default(seed: int, adjudge: Run) -> None:
    ended = adjudge("demo", "--json", "--seed", seed)
    assert ended.err == ""
    found = ended.json
    assert (found["seed"], len(found["judges"])) == (seed, 40)
    bits = [judge["bits"] for judge in found["judges"]]
    assert bits == sorted(bits, reverse=True)
    assert found["judges"][-1]["kind"].startswith(("lazy", "spammer"))
    accuracy = {(row["name"], row["copies"]): row["accuracy"] for row in found["models"]}
    assert abs(accuracy["item-types", 4] - accuracy["item-types", 0]) <= 0.01
    assert accuracy["dawid-skene", 4] < accuracy["dawid-skene", 0] - 0.1
    assert accuracy["majority-vote", 4] < accuracy["majority-vote", 0] - 0.1


def test_files_are_kept_and_what_is_next_runs(
    adjudge: Run, folder: Path, names: Callable[[Path], list[str]]
) -> None:
    ended = adjudge("demo", "--folder", "new/my demo")
    assert names(folder / "new" / "my demo") == FILES
    assert adjudge("demo", "--folder", "new/my demo").code == 0  # an earlier demo makes room
    lines = [line.removeprefix("Next:").strip() for line in ended.out.splitlines()]
    following = [line for line in lines if line.startswith("adjudge ")]
    assert [line.split()[1] for line in following] == [
        "consensus",
        "judges",
        "evaluate",
    ]
    for line in following:
        assert adjudge(*shlex.split(line)[1:]).code == 0


@pytest.mark.parametrize("place", ["mine", "file", "file/in"])
def test_no_file_of_the_user_is_overwritten(place: str, adjudge: Run, folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "judgments.csv").write_text("mine")
    (folder / "file").write_text("mine")
    ended = adjudge("demo", "--folder", place)
    assert ended.fault == place
    assert (folder / "mine" / "judgments.csv").read_text() == "mine"
    assert (folder / "file").read_text() == "mine"
