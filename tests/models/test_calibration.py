"""Gold calibrates: what probabilities mean, learnt from gold that a fit was not told."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge import DawidSkene, Gold, ItemTypes, Judgments
from adjudge.engines.voices import Voices
from adjudge.evaluation.against_gold import evaluate
from adjudge.models.calibration import calibrate_by, fit_calibrated


def crowd(items: int = 900, seed: int = 0) -> tuple[Judgments, np.ndarray]:
    """Judges who share their slips: what they agree on is right in seven of ten only."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items)
    seen = np.where(rng.random(items) < 0.3, 1 - truth, truth)
    rows: dict[str, list[object]] = {"item": [], "judge": [], "label": []}
    for judge in range(6):
        own = np.where(rng.random(items) < 0.15, 1 - seen, seen)
        rows["item"] += [f"i{n:04}" for n in range(items)]
        rows["judge"] += [f"j{judge}"] * items
        rows["label"] += own.tolist()
    return Judgments.from_table(rows), truth


def gold_of(truth: np.ndarray, items: range) -> Gold:
    return Gold.of({f"i{n:04}": int(truth[n]) for n in items})


@pytest.mark.parametrize("model", [DawidSkene(), ItemTypes()], ids=lambda model: model.name)
def test_a_model_that_is_too_sure_learns_how_right_it_is(model) -> None:
    table, truth = crowd()
    known, rest = gold_of(truth, range(150)), gold_of(truth, range(150, 900))
    alone = evaluate(model.fit(table), rest)
    calibrated = evaluate(fit_calibrated(model, table, known), rest)
    assert calibrated["log_loss"].value < alone["log_loss"].value
    assert calibrated["log_loss"].value == pytest.approx(0.62, abs=0.05)  # H(.3) and a little
    assert calibrated["accuracy"].value >= alone["accuracy"].value - 0.02


def test_what_it_was_told_does_not_count_as_being_right() -> None:
    """All gold is in the fit: were it scored by that fit, nothing would need calibrating."""
    table, truth = crowd()
    known = gold_of(truth, range(300))
    consensus = fit_calibrated(DawidSkene(), table, known)
    unknown = np.array([int(name[1:]) >= 300 for name in consensus.judgments.items.to_pylist()])
    assert consensus.probability[unknown].mean() < 0.85
    assert np.all(consensus.probability[~unknown] == 1)
    assert "300 gold items calibrate the answer" in consensus.notes[-1]


def test_little_gold_changes_little() -> None:
    table, truth = crowd()
    plain = ItemTypes().fit(table)
    told = ItemTypes().fit(table, gold_of(truth, range(2)))
    rest = np.array([int(name[1:]) >= 2 for name in plain.judgments.items.to_pylist()])
    assert np.abs(told.posterior[rest] - plain.posterior[rest]).mean() < 0.1


def test_nothing_to_learn_from() -> None:
    table, _ = crowd(items=20)
    none = np.full(table.item_count, -1, dtype=np.int16)
    count = table.judge_count
    voices = Voices(np.arange(count, dtype=np.int32), np.ones(count), count, table.counts_per_judge)
    posterior = np.full((table.item_count, 2), 0.5)
    confusion = np.full((count, 2, 2), 0.5)
    assert calibrate_by(none, table, voices, posterior, confusion) is None
