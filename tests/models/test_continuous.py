"""Continuous: values, biases and noises that were made come back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adjudge import DawidSkene, Gold, Judgments
from adjudge.errors import BadData
from adjudge.models.continuous import Continuous, ContinuousConsensus
from sizes import sized


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


def test_simulated_values_are_recovered_better_than_by_the_mean() -> None:
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


def covers(found: ContinuousConsensus, truth: np.ndarray) -> float:
    """The share of items whose interval holds the truth; items are named by their place."""
    place = [int(name[1:]) for name in found.judgments.items.to_pylist()]
    return float((np.abs(found.value - truth[place]) < 1.96 * found.error).mean())


def drawn(
    items: int, judges: int, each: int, hard: float, seed: int
) -> tuple[Judgments, np.ndarray]:
    """Judgments by judges with shifts, scales and noises; ``hard``: how much items differ in it."""
    random = np.random.default_rng(seed)
    truth, hardness = random.normal(50, 20, items), np.exp(random.normal(0, hard, items))
    shift, scale = random.normal(0, 8, judges), np.exp(random.normal(0, 0.15, judges))
    noise = random.uniform(5, 20, judges)
    item = np.repeat(np.arange(items), each)
    judge = random.random((items, judges)).argsort(1)[:, :each].ravel()
    error = random.normal(0, 1, len(item)) * noise[judge] * hardness[item]
    label = 50 + shift[judge] + scale[judge] * (truth[item] - 50) + error
    names = {"item": [f"i{i}" for i in item], "judge": [f"j{j}" for j in judge]}
    return Judgments.from_table({**names, "label": np.round(label, 2)}), truth


@pytest.mark.parametrize(("items", "judges", "each"), [(60, 8, 8), (300, 20, 5)])
def test_intervals_hold_where_the_model_is_true(items: int, judges: int, each: int) -> None:
    held = []
    for seed in range(sized(8, full=40)):
        judgments, truth = drawn(items, judges, each, 0.0, seed)
        found = Continuous(bias="both").fit(judgments)
        assert "hard for all judges" not in found.notes[-1]
        held.append(covers(found, truth))
    assert 0.92 < np.mean(held) < 0.98  # without the mean bias in doubt, .90 of the first


def test_items_that_are_hard_for_all_widen_intervals() -> None:
    judgments, truth = drawn(300, 20, 6, 0.5, 1)
    found = Continuous(bias="both").fit(judgments)
    noise = float(np.sqrt((found.noise**2).mean()))
    assert "some items are hard for all judges" in found.notes[-1]
    assert 0.8 * noise < found.common < 1.1 * noise
    assert covers(found, truth) > 0.95
    more, _ = drawn(5, 20, 6, 0.5, 2)
    assert found.predict(more).error.min() > found.common


def test_intervals_of_feelings_hold_the_truth_without_gold(shared_data: Path) -> None:
    judgments = Judgments.read(shared_data / "more" / "emotion.csv")
    gold = Gold.read(shared_data / "more" / "emotion-truth.csv")
    truth = dict(zip(gold.items.to_pylist(), map(float, gold.texts()), strict=True))
    found = Continuous().fit(judgments)
    known = np.array([truth[name] for name in judgments.items.to_pylist()])
    number = judgments.scale.values[judgments.label]
    mean = np.bincount(judgments.item, number) / judgments.counts_per_item
    assert np.abs(found.value - known).mean() < np.abs(mean - known).mean()
    assert (np.abs(found.value - known) < 1.96 * found.error).mean() > 0.93  # 65% by noise alone


@pytest.mark.slow
def test_more_different_numbers_than_classes(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    truth = random.normal(50, 20, 6_600)
    item = np.repeat(np.arange(6_600), 5)
    label = truth[item] + random.normal(0, 5, len(item))
    table = {"item": item, "judge": np.arange(len(item)) % 23, "label": label}
    judgments = Judgments.from_table(table)
    assert len(judgments.scale.labels) > 32_767
    found = Continuous(bias="shift").fit(judgments, Gold.of({"0": float(truth[0])}))
    place = judgments.items.to_pylist()
    error = found.value - truth[[int(name) for name in place]]
    assert np.sqrt((error**2).mean()) == pytest.approx(5 / np.sqrt(5), rel=0.05)
    found.save(tmp_path / "fit.zip")
    again = ContinuousConsensus.load(tmp_path / "fit.zip").predict(judgments)
    assert np.abs(again.value - found.value)[1:].max() < 1e-9
    with pytest.raises(BadData, match="more than the 32,000 that can be classes"):
        DawidSkene().fit(judgments)


def test_gold_is_known() -> None:
    judgments, _, _, _ = made(1)
    found = Continuous().fit(judgments, Gold.of({"i3": 12.5}))
    at = judgments.items.to_pylist().index("i3")
    assert (found.value[at], found.error[at]) == (12.5, 0.0)
    assert found.labels.column_names == ["item", "label", "low", "high", "error", "judgments"]
