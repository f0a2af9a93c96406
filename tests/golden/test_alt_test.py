"""The verdicts that the authors of the alternative annotator test published, on their own data.

Calderon, Reichart and Dror (2025), arXiv:2501.10970: five sets, six models each; winning rate and
advantage probability as their notebook prints them, to two digits. Ours have to round to the same.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from adjudge.cli import call

SETS = ("lgbteen", "mtbench", "summeval", "10k_prompts", "cebab_stars")


@pytest.mark.parametrize("name", SETS)
def test_every_published_verdict(shared_data: Path, tmp_path: Path, name: str) -> None:
    reference = shared_data.parent / "reference" / "alt-test.csv"
    if not reference.exists():
        pytest.skip(f"the published verdicts are not there: {reference}")
    with reference.open() as file:
        expected = [row for row in csv.DictReader(file) if row["set"] == name]
    assert len(expected) == 6
    folder = shared_data / "alt-test" / name
    output = tmp_path / "verdicts.csv"
    score, epsilon = expected[0]["score"].replace("_", "-"), expected[0]["epsilon"]
    people, models = folder / "human_annotations.json", folder / "llm_annotations.json"
    names = "|".join(map(re.escape, json.loads(people.read_text())))
    code = call(
        ["audit", str(people), str(models), "--people", f"^({names})$", "--score", score,
         "--epsilon", epsilon, "-o", str(output), "--quiet", "--resamples", "0"]
    )  # fmt: skip
    assert code == 0
    with output.open() as file:
        found = {row["judge"]: row for row in csv.DictReader(file)}
    for row in expected:
        own = found[row["model"]]
        assert own["alternative"] == row["verdict"]
        assert f"{float(own['winning_rate']):.2f}" == row["winning_rate"]
        assert f"{float(own['advantage']):.2f}" == row["advantage_probability"]
