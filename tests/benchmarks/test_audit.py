"""The simulations behind audit.md, with fewer draws: intervals, attribution, power, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import audit

    return audit


@pytest.mark.parametrize("repeats", [1.0, 0.9])
@pytest.mark.parametrize(
    ("judge", "system", "cause"),
    [(0.1, 0.0, "judge"), (0.0, 0.05, "system"), (0.0, 0.0, "neither")],
)
def test_planted_shifts_are_covered_and_attributed(
    bench: Any, judge: float, system: float, cause: str, repeats: float
) -> None:
    draws = [bench.shifted(seed, judge, system, repeats=repeats) for seed in range(200)]
    assert np.mean([found.attribution == cause for found in draws]) >= 0.9
    inside = [found.system.low <= system <= found.system.high for found in draws]
    assert 0.9 <= np.mean(inside) <= 0.99
    if judge:
        rates = [found.by_class[0] for found in draws]
        assert 0.9 <= np.mean([one.low <= judge <= one.high for one in rates]) <= 0.99


@pytest.mark.parametrize(("systems", "gold"), [(2, 600), (5, 400)])
def test_a_system_with_more_false_positives_is_refused(bench: Any, systems: int, gold: int) -> None:
    moved = np.mean([bench.transported(n, systems, gold, 0.15, 0.4) for n in range(60)], axis=0)
    clean = np.mean([bench.transported(n, systems, gold, 0.0, 0.4) for n in range(60)], axis=0)
    assert moved[0] >= 0.95
    assert clean[0] <= 0.15
    if systems > 2:  # of two systems, both differ from the other one
        assert moved[2] <= 0.15


@pytest.mark.parametrize("what", ["position", "length", "own family", ""])
def test_biases_are_found_and_clean_judges_are_not(bench: Any, what: str) -> None:
    found = [bench.biased(seed, {what: 0.1} if what else {}, 1) for seed in range(60)]
    if what:
        assert np.mean([("gpt-4", what) in one for one in found]) >= 0.8
    assert np.mean([bool(one - {("gpt-4", what)}) for one in found]) <= 0.15


def test_a_stale_card_is_always_refused(bench: Any) -> None:
    _, rows = bench.simulate_stale(21)
    assert {
        what: refused == of for what, refused, of in rows if what != "the same"
    } == dict.fromkeys(("model", "prompt", "version", "rubric", "temperature", "left out"), True)
    assert rows[-1][:2] == ("the same", 0)


def test_corrected_estimates_cover(bench: Any, shared_data: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(bench, "DATA", shared_data)
    monkeypatch.setattr(bench, "PANELS", {"summeval": bench.PANELS["summeval"]})
    _, rows = bench.cover_panels(150)
    assert all(0.9 <= float(row[4]) <= 0.99 for row in rows)
