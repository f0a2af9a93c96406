"""adjudge.crowdkit next to the answers of crowd-kit 1.4.2 on the same simulated data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adjudge import crowdkit
from adjudge.errors import BadData, BadSetting
from tools import load

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "crowd-kit.json"  # by benchmarks/crowd_kit_answers.py
script: Any = load("crowd_kit_answers", "benchmarks")


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    return dict(script.answer(crowdkit))


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    return dict(json.loads(GOLDEN.read_text()))


def is_tied(shares: dict[str, dict[str, float]], task: str) -> bool:
    best = sorted((column[task] for column in shares.values()), reverse=True)
    return bool(best[0] == pytest.approx(best[1]))


@pytest.mark.parametrize("name", ["MajorityVote", "DawidSkene"])
def test_labels_and_probabilities_equal_crowd_kits(
    name: str, ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    """Where a vote is tied, crowd-kit takes the first label and adjudge one at random."""
    mine, other = ours[name], theirs[name]
    for label, column in other["probas"].items():
        assert mine["probas"][label] == pytest.approx(column, abs=1e-5)
    free = [task for task in other["labels"] if not is_tied(other["probas"], task)]
    assert len(free) > 0.8 * len(other["labels"])
    assert [mine["labels"][task] for task in free] == [other["labels"][task] for task in free]


def test_errors_and_priors_equal_crowd_kits(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    mine, other = ours["DawidSkene"], theirs["DawidSkene"]
    assert mine["priors"] == pytest.approx(other["priors"], abs=1e-5)
    for row, shares in other["errors"].items():
        assert mine["errors"][row] == pytest.approx(shares, abs=1e-4)


def test_wawa_is_near_crowd_kits(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Ties of the first vote move skills a little, and with them close labels."""
    mine, other = ours["Wawa"], theirs["Wawa"]
    assert mine["skills"] == pytest.approx(other["skills"], abs=0.05)
    same = [mine["labels"][task] == label for task, label in other["labels"].items()]
    assert np.mean(same) > 0.97


def test_bradley_terry_is_where_its_iteration_ends(ours: dict[str, Any]) -> None:
    """Not next to crowd-kit 1.4.2: whatever n_iter is, it stops after two iterations."""
    frame = script.simulate_pairs()
    names = sorted(set(frame["left"]) | set(frame["right"]))
    code = {name: place for place, name in enumerate(names)}
    wins = np.zeros((len(names), len(names)))
    loser = np.where(frame["label"] == frame["left"], frame["right"], frame["left"])
    for better, worse in zip(frame["label"], loser, strict=True):
        wins[code[better], code[worse]] += 1
    score = np.full(len(names), 1 / len(names))
    for _ in range(5_000):
        met = (wins + wins.T) / (score[:, None] + score[None, :])
        score = wins.sum(axis=1) / met.sum(axis=1)
        score /= score.sum()
    assert [ours["BradleyTerry"]["scores"][name] for name in names] == pytest.approx(score)


def test_names_of_tasks_workers_and_labels_are_kept() -> None:
    frame = pd.DataFrame({"task": [7, 7, 9], "worker": ["a", "b", "a"], "label": [1, 1, 0]})
    truth = pd.Series([1], index=[9])
    model = crowdkit.DawidSkene(n_iter=5).fit(frame, truth)
    assert model.labels_.to_dict() == {7: 1, 9: 1}
    assert list(model.probas_.columns) == [0, 1]
    assert model.errors_.index.names == ["worker", "label"]
    assert crowdkit.Wawa().fit_predict_proba(frame).loc[7, 1] == 1


def test_what_has_no_equal_is_refused_by_name() -> None:
    with pytest.raises(AttributeError, match="CrowdBradleyTerry"):
        crowdkit.NoisyBradleyTerry  # noqa: B018
    with pytest.raises(BadData):
        crowdkit.Wawa().fit(pd.DataFrame({"task": [1]}))
    frame = pd.DataFrame({"task": [7], "worker": ["a"], "label": [1]})
    with pytest.raises(BadSetting):
        crowdkit.MajorityVote().fit(frame, pd.Series([0.5], index=["a"]))
