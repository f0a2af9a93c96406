"""Continuous: values, biases and noises that were made come back."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge import Gold, Judgments
from adjudge.errors import BadData, BadSetting
from adjudge.models.continuous import Continuous, ContinuousConsensus


def made(seed: int = 0) -> tuple[Judgments, np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.normal(50, 20, 200)
    shift, noise = random.normal(0, 10, 12), random.uniform(1, 15, 12)
    rows = [(i, j) for i in range(200) for j in random.choice(12, 6, replace=False)]
    table = {
        "item": [f"i{i}" for i, _ in rows],
        "judge": [f"j{j}" for _, j in rows],
        "label": [round(truth[i] + shift[j] + random.normal(0, noise[j]), 3) for i, j in rows],
    }
    return Judgments.from_table(table), truth, shift, noise


def test_made_values_come_back_better_than_by_the_mean() -> None:
    judgments, truth, shift, noise = made()
    found = Continuous(bias="shift").fit(judgments)
    order = [int(name[1:]) for name in judgments.items.to_pylist()]
    judges = [int(name[1:]) for name in judgments.judges.to_pylist()]
    number = judgments.scale.values[judgments.label]
    mean = np.bincount(judgments.item, number) / judgments.counts_per_item
    error = np.abs(found.value - truth[order]).mean()
    assert found.converged
    assert error < 0.7 * np.abs(mean - truth[order]).mean()
    assert np.corrcoef(found.shift, shift[judges])[0, 1] > 0.97
    assert np.corrcoef(found.noise, noise[judges])[0, 1] > 0.9
    away = np.abs(found.value - truth[order]) / found.error
    assert 0.85 < (away < 1.96).mean() <= 1.0


def test_gold_widens_intervals_where_judges_err_together() -> None:
    random = np.random.default_rng(3)
    truth = random.normal(0, 20, 300)
    common = truth + random.normal(0, 8, 300)  # what all judges see
    rows = [(i, j) for i in range(300) for j in range(8)]
    table = {
        "item": [f"i{i}" for i, _ in rows],
        "judge": [f"j{j}" for _, j in rows],
        "label": [round(common[i] + random.normal(0, 6), 2) for i, _ in rows],
    }
    judgments = Judgments.from_table(table)

    def held(found: ContinuousConsensus) -> float:
        labels = found.labels.to_pylist()[100:]
        return float(np.mean([row["low"] < truth[int(row["item"][1:])] < row["high"]
                              for row in labels]))  # fmt: skip

    alone = Continuous(bias="shift").fit(judgments)
    gold = Gold.of({f"i{i}": float(truth[i]) for i in range(100)})
    guided = Continuous(bias="shift").fit(judgments, gold)
    assert alone.widened == 1.0
    assert held(alone) < 0.6
    assert held(guided) > 0.9
    assert guided.error[0] == 0.0
    few = Continuous().fit(judgments, Gold.of({f"i{i}": float(truth[i]) for i in range(19)}))
    assert few.widened == 1.0
    assert "gold of 20 items or more would widen them" in few.notes[-1]


def test_gold_is_known() -> None:
    judgments, _, _, _ = made(1)
    found = Continuous().fit(judgments, Gold.of({"i3": 12.5}))
    at = judgments.items.to_pylist().index("i3")
    assert (found.value[at], found.error[at]) == (12.5, 0.0)
    assert found.labels.column_names == ["item", "label", "low", "high", "error", "judgments"]


def test_what_is_refused() -> None:
    words = Judgments.from_table({"item": ["a"], "judge": ["x"], "label": ["good"]})
    with pytest.raises(BadData, match="label 'good' is no number"):
        Continuous().fit(words)
    with pytest.raises(BadSetting, match="auto, shift, scale or both"):
        Continuous(bias="none")  # type: ignore[arg-type]
