"""Items drawn for people to label: chances, rounds, and estimates that stay valid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge
from adjudge import Gold, Judgments, Run
from adjudge.data.names import look_up
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.estimation.choosing import choose_items, draw, shared_out
from adjudge.evaluation.estimation.crossfit import CrossFit
from adjudge.evaluation.estimation.estimate import Plan, estimate_from
from gold_panels import drawn, made_panel
from rankings import system


@pytest.fixture(scope="module")
def panel() -> tuple[Judgments, Gold, CrossFit, list[Run]]:
    judgments, gold = made_panel()
    rng = np.random.default_rng(2)
    truth = gold.align(judgments)
    runs = [system(judgments, truth, q, rng, name=n) for n, q in (("a", 2.0), ("b", 1.0))]
    return judgments, gold, CrossFit.of(adjudge.fit(judgments)), runs


def labelled(table: Any, judgments: Judgments, gold: Gold) -> Gold:
    """What people would fill in."""
    at = look_up(table["item"], judgments.items)
    truth = [judgments.scale.truths[k] for k in gold.align(judgments)[at]]
    return Gold.from_table(
        table.set_column(table.column_names.index("gold"), "gold", pa.array(truth))
    )


@given(st.lists(st.floats(0, 50), min_size=3, max_size=60), st.integers(1, 20))
def test_chances_add_up_to_the_budget(sizes: list[float], budget: int) -> None:
    size = np.array(sizes)
    if (size > 1e-9).sum() < budget:
        return
    size[size <= 1e-9] = 0
    chance = shared_out(size, budget)
    assert chance.sum() == pytest.approx(budget)
    assert (chance <= 1 + 1e-12).all()
    assert ((chance > 0) == (size > 0)).all()
    open_ = chance < 1 - 1e-9
    if open_.any() and size[open_].sum() > 0:
        assert chance[open_] == pytest.approx(
            size[open_] * (chance[open_].sum() / size[open_].sum())
        )


def test_items_are_drawn_as_often_as_their_chances_say() -> None:
    chance = shared_out(np.arange(1.0, 21.0), 6)
    counts = np.zeros(20)
    for seed in range(4000):
        taken = draw(chance, seed)
        assert len(taken) == len(set(taken.tolist())) == 6
        counts[taken] += 1
    error = np.sqrt(chance * (1 - chance) / 4000)
    assert (np.abs(counts / 4000 - chance) <= 4.5 * error).all()


def test_a_batch_and_another(panel: tuple[Judgments, Gold, CrossFit, list[Run]]) -> None:
    judgments, gold, fit, _ = panel
    first = choose_items(fit, "share:2", 40, plan=Plan(seed=1))
    assert len(first) == 40
    assert first["gold"].null_count == 40
    known = labelled(first, judgments, gold)
    second = choose_items(fit, "share:2", 30, gold=known, plan=Plan(seed=2))
    assert len(second) == 70
    assert second["sampling_round"].to_pylist() == [1] * 40 + [2] * 30
    assert second["gold"].null_count == 30
    assert len(set(second["item"].to_pylist())) == 70
    told = dict(zip(known.items.to_pylist(), known.sampling, strict=True))
    for row in second.to_pylist()[:40]:
        assert row["sampling_probability"] == told[row["item"]]


def test_gold_without_chances_was_a_random_draw(
    panel: tuple[Judgments, Gold, CrossFit, list[Run]],
) -> None:
    table = choose_items(panel[2], "mean-grade", 20, gold=drawn(panel[1], 60, 1))
    assert table["sampling_probability"].to_pylist()[:60] == [0.1] * 60


@pytest.mark.parametrize("target", ["nDCG@5", "share:2"])
def test_estimates_from_chosen_items_hold_and_are_narrower(
    panel: tuple[Judgments, Gold, CrossFit, list[Run]], target: str
) -> None:
    """Forty replays: as many labels at random, or a few at random and the others by choice."""
    judgments, gold, fit, runs = panel
    chosen = runs if "@" in target else []
    true = estimate_from(fit, gold, target, chosen, Plan()).estimate
    held, widths = 0, []
    for seed in range(40):
        pilot = drawn(gold, 40, seed)
        table = choose_items(fit, target, 60, gold=pilot, runs=chosen, plan=Plan(seed=seed))
        found = estimate_from(fit, labelled(table, judgments, gold), target, chosen, Plan())
        held += found.low <= true <= found.high
        plain = estimate_from(fit, drawn(gold, 100, seed), target, chosen, Plan())
        widths.append((found.high - found.low, plain.high - plain.low))
    assert held >= 34
    own, random = np.mean(widths, axis=0)
    assert own < (0.6 if chosen else 1.0) * random


def test_a_budget_that_cannot_be(panel: tuple[Judgments, Gold, CrossFit, list[Run]]) -> None:
    with pytest.raises(BadSetting, match="at least 2 items"):
        choose_items(panel[2], "mean-grade", 1)
    with pytest.raises(BadData, match="600 items matter to mean-grade and have no gold"):
        choose_items(panel[2], "mean-grade", 601)
