"""Noisy copies of a judge in real sets: cheap or reported, and free once declared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge import ItemTypes, Judgments
from adjudge.data.consensus import Families

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import noisy_copies

    return noisy_copies


def test_a_share_of_the_copies_labels_is_changed(module: Any) -> None:
    rows = {"item": [f"i{n}" for n in range(500)] * 2, "judge": ["a"] * 500 + ["b"] * 500}
    table = Judgments.from_table({**rows, "label": [0, 1, 2, 1, 0] * 200})
    noisy = module.copy_noisily(table, 0, 0.2)
    assert noisy.judge_count == 6
    own = noisy.label[noisy.judge == 0]
    changed = [(noisy.label[noisy.judge == judge] != own).mean() for judge in range(6)]
    assert changed[:2] == [0, 0]
    np.testing.assert_allclose(changed[2:], 0.2, atol=0.06)


@pytest.mark.parametrize("name", ["css_emotion", "summeval"])
def test_copies_are_cheap_or_reported_and_free_once_declared(
    shared_data: Path, module: Any, name: str
) -> None:
    held = module.read_set(module.list_sets(shared_data)[name])
    alone = ItemTypes().fit(held.judgments)
    order = module.judges_by_accuracy(held)

    def accuracy_of(judgments: Judgments) -> tuple[float, Families]:
        fit = ItemTypes().fit(judgments)
        assert fit.families is not None
        return module.score(held.truth, fit.posterior)["accuracy"], fit.families

    before, losses = module.score(held.truth, alone.posterior)["accuracy"], []
    for judge in (int(order[0]), int(order[len(order) // 2])):
        copies = range(len(alone.judgments.judges), len(alone.judgments.judges) + 4)
        exact, _ = accuracy_of(module.copy_noisily(held.judgments, judge, 0.0))
        assert exact == pytest.approx(before, abs=0.001)
        for flip in module.FLIPS:
            noisy = module.copy_noisily(held.judgments, judge, flip)
            after, families = accuracy_of(noisy)
            groups = [*families.groups, *(alike.judges for alike in families.suspected)]
            assert after > before - 0.03 or (judge, *copies) in groups
            rule = noisy.with_families(
                ["one" if n in (judge, *copies) else None for n in range(noisy.judge_count)]
            )
            losses.append(before - accuracy_of(rule)[0])
    assert max(losses) <= 0.03
    assert np.mean(losses) <= 0.01
