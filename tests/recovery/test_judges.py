"""Accuracies of few good judges who err independently, with and without gold."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge import Gold, ItemTypes, Judgments
from sizes import sized

ITEMS = 300
GOLD = (0, 20, 100)
SEEDS = sized(16, full=100)


def simulate(judges: int, labels: int, seed: int) -> tuple[Judgments, NDArray[np.int64]]:
    """Judges who are right in .87 to .96 of items and otherwise choose any other label."""
    rng = np.random.default_rng([judges, labels, seed])
    truth = rng.integers(0, labels, ITEMS)
    right = rng.random((ITEMS, judges)) < np.linspace(0.87, 0.96, judges)
    wrong = (truth[:, None] + rng.integers(1, labels, right.shape)) % labels
    item, judge = np.indices(right.shape)
    table = Judgments.from_table(
        {
            "item": [f"i{n:03}" for n in item.ravel()],
            "judge": [f"j{n}" for n in judge.ravel()],
            "label": np.where(right, truth[:, None], wrong).ravel().tolist(),
        }
    )
    return table, truth


@cache
def measure(judges: int, labels: int, gold: int) -> NDArray[np.float64]:  # (4, seed * judge)
    """The share right of each judge, the estimate and the ends of its interval."""
    found = []
    for seed in range(SEEDS):
        table, truth = simulate(judges, labels, seed)
        drawn = np.random.default_rng(seed).permutation(ITEMS)[:gold]
        known = Gold.of({f"i{n:03}": int(truth[n]) for n in drawn}) if gold else None
        columns = ItemTypes().fit(table, known).judges
        right = table.label == truth[table.item]
        shares = np.bincount(table.judge, right) / table.counts_per_judge
        names = ("accuracy", "accuracy_low", "accuracy_high")
        found.append([shares, *(columns[name].to_numpy() for name in names)])
    return np.concatenate(found, axis=1)


@pytest.mark.parametrize("gold", GOLD)
@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("judges", [3, 5])
def test_intervals_cover_and_estimates_are_close(judges: int, labels: int, gold: int) -> None:
    right, value, low, high = measure(judges, labels, gold)
    assert not np.isnan(value).any()  # every judge has a figure
    assert ((low <= right) & (right <= high)).mean() >= 0.85
    assert np.abs(value - right).mean() <= 0.05


@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("judges", [3, 5])
def test_more_gold_gives_narrower_intervals(judges: int, labels: int) -> None:
    none, some, many = (
        (high - low).mean() for _, _, low, high in (measure(judges, labels, gold) for gold in GOLD)
    )
    assert many < some < none
    assert many < 0.5 * none
