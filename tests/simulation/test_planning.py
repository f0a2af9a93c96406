"""Planning by simulation: populations are recovered, plans hold on the crowd they were made for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from adjudge.data.scale import Scale
from adjudge.errors import BadSetting
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.simulation import Crowd, Given, Population
from adjudge.simulation.planning import _drawn_judges, _golds_to_separate, _population_of, plan
from sizes import sized

MODEL = HybridConfusion(method="em")
CROWD = Crowd(
    items=1500,
    population=Population.parse("skilled(8,3):80,spammer:20", judges=40),
    scale=Scale.parse("0<1<2"),
    per_item=7,
)


def test_the_population_of_judges_is_recovered() -> None:
    rng = np.random.default_rng(1)
    alpha = np.array([[6.0, 1.5, 0.5], [1.0, 2.0, 1.0]])
    theta = np.stack([rng.dirichlet(row, size=400) for row in alpha], axis=1)
    counts = np.stack([[rng.multinomial(60, row) for row in judge] for judge in theta]).astype(
        np.float64
    )
    assert _population_of(counts) == pytest.approx(alpha, rel=0.25)


def test_drawn_judges_are_like_the_pilots() -> None:
    pilot = MODEL.fit(CROWD.make(seed=1).judgments)
    drawn = _drawn_judges(pilot, 4000, np.random.default_rng(2))
    assert drawn.sum(axis=2) == pytest.approx(1.0)
    weight = pilot.counts.sum(axis=(1, 2))
    own = np.einsum("j,jkl->kl", weight / weight.sum(), pilot.confusion)
    assert drawn.mean(axis=0) == pytest.approx(own, abs=0.04)


def test_a_plan_holds_on_its_own_crowd() -> None:
    truly = CROWD.make(seed=1)
    judges = tuple((Given(tuple(map(tuple, rows.tolist()))), 1.0) for rows in truly.confusion)
    pilot = MODEL.fit(truly.judgments)
    made = plan(pilot, model=MODEL, accuracy=0.88, items=5000, price=0.02, runs=8, seed=3)
    assert made.per_item is not None
    rows = made.table.to_pylist()
    assert [row["per_item"] for row in rows] == list(range(1, made.per_item + 1))
    assert rows[-1]["low"] >= 0.88 > rows[-2]["low"]
    assert rows[-1]["cost"] == pytest.approx(made.per_item * 5000 * 0.02)
    assert rows[-1]["judgments"] == made.per_item * 5000
    for row in rows[1:]:  # the same numbers when the same judges judge fresh items
        crowd = replace(CROWD, items=2000, per_item=row["per_item"], population=Population(judges))
        fresh = [
            np.mean(MODEL.fit(one.judgments).choice == one.truth.codes(CROWD.scale))
            for one in (crowd.make(seed=seed) for seed in range(20, sized(23, full=28)))
        ]
        assert row["accuracy"] == pytest.approx(np.mean(fresh), abs=0.03)


def test_what_cannot_be_reached_is_said() -> None:
    crowd = replace(CROWD, population=Population.parse("spammer:20"), per_item=5, items=300)
    pilot = MODEL.fit(crowd.make(seed=1).judgments)
    made = plan(pilot, model=MODEL, accuracy=0.99, items=100, most=2, runs=2)
    assert made.per_item is None
    assert "better judges are needed" in made.notes[0]


@pytest.mark.parametrize(("good", "bad"), [(0.8, 0.5), (0.9, 0.25), (0.7, 0.6)])
def test_golds_distinguish_judges_and_one_fewer_does_not(good: float, bad: float) -> None:
    golds, mark = _golds_to_separate(good, bad, 0.05)
    assert golds is not None
    assert mark is not None

    def separates(number: int, cut: int) -> bool:
        passes_bad = 1 - binom.cdf(cut - 1, number, bad)
        return binom.cdf(cut - 1, number, good) <= 0.05 and passes_bad <= 0.05

    assert separates(golds, round(mark * golds))
    assert not any(separates(golds - 1, cut) for cut in range(golds + 1))
    for guessing in (0.5, 0.499):
        assert _golds_to_separate(0.5, guessing, 0.05) == (None, None)


@pytest.mark.parametrize(
    ("name", "value"),
    [("accuracy", 1.0), ("items", 0), ("price", -1.0), ("most", 0), ("runs", 0), ("error", 0.5),
     ("judges", 3)],
)  # fmt: skip
def test_settings_that_cannot_be(name: str, value: float) -> None:
    pilot = MODEL.fit(replace(CROWD, items=50).make(seed=1).judgments)
    settings = {"model": MODEL, "accuracy": 0.9, "items": 10, name: value}
    with pytest.raises(BadSetting, match=name):
        plan(pilot, **settings)  # type: ignore[arg-type]
