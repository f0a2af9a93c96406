"""The skill of judges of comparisons, measured against the order that the other judges give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge import Comparisons, CrowdBradleyTerry, GradedBradleyTerry
from simulated_pairs import make_comparisons


def flip_coins(pairs: Any, judges: list[list[str]], seed: int) -> Comparisons:
    """Random answers of the judges listed for each pair of items."""
    rng = np.random.default_rng(seed)
    rows = [
        (str(left), str(right), ("left", "right")[rng.integers(2)], judge)
        for (left, right), asked in zip(pairs, judges, strict=True)
        for judge in asked
    ]
    names = ("left", "right", "label", "judge")
    return Comparisons.from_table(dict(zip(names, zip(*rows, strict=True), strict=True)))


SIX = [f"judge{n}" for n in range(6)]
DISJOINT = [(f"a{n}", f"b{n}") for n in range(60)]


@pytest.mark.parametrize("model", [CrowdBradleyTerry(), GradedBradleyTerry()])
def test_coin_flippers_on_the_same_disjoint_pairs_are_uninformative(model: Any) -> None:
    words: list[str] = []
    for seed in range(3):
        judges = model.fit(flip_coins(DISJOINT, [SIX] * 60, seed)).judges
        words += judges["verdict"].to_pylist()
        assert np.mean(judges["skill"].to_pylist()) == pytest.approx(0.5, abs=0.1)
    assert words == ["uninformative"] * 18


def test_coin_flippers_are_seldom_called_informative() -> None:
    words: list[str] = []
    for seed in range(20):
        every = np.random.default_rng(seed).permutation(np.transpose(np.triu_indices(30, 1)))
        asked = [[SIX[n % 6]] for n in range(360)]
        found = CrowdBradleyTerry(copies=False).fit(flip_coins(every[:360], asked, seed))
        words += found.judges["verdict"].to_pylist()
    assert words.count("uninformative") >= 116  # of 120


@pytest.mark.parametrize("model", [CrowdBradleyTerry(), GradedBradleyTerry()])
@pytest.mark.parametrize("each", [10, 40])
def test_skill_is_unknown_where_judges_have_no_item_in_common(model: Any, each: int) -> None:
    pairs = [(f"a{n}", f"b{n}") for n in range(6 * each)]
    given = flip_coins(pairs, [[SIX[n % 6]] for n in range(len(pairs))], each)
    judges = model.fit(given).judges.to_pydict()
    assert judges["verdict"] == ["unknown"] * 6
    assert judges["skill"] == judges["skill_low"] == judges["skill_high"] == [None] * 6


def test_skill_of_an_only_judge_is_unknown() -> None:
    made = make_comparisons(np.linspace(-2, 2, 8), 400, seed=1).comparisons
    assert CrowdBradleyTerry().fit(made).judges["verdict"].to_pylist() == ["unknown"]


def test_informative_judges_keep_their_figure_among_coin_flippers() -> None:
    right = np.array([0.9, 0.9, 0.9, 0.9, 0.5, 0.5])
    skill, words = [], []
    for seed in range(8):
        score = np.random.default_rng(seed).normal(0, 1, 20)
        made = make_comparisons(score, 1200, right=right, tied=0.5, seed=seed).comparisons
        judges = CrowdBradleyTerry(copies=False).fit(made).judges
        skill.append(judges["skill"].to_numpy())
        words.append(judges["verdict"].to_pylist())
    assert np.mean(np.array(skill)[:, :4]) == pytest.approx(0.9, abs=0.05)
    assert np.mean(np.array(skill)[:, 4:]) == pytest.approx(0.5, abs=0.05)
    assert (np.array(words)[:, :4] == "informative").all()
    assert (np.array(words)[:, 4:] == "uninformative").mean() > 0.9


def test_intervals_of_skill_cover_about_ninety_per_cent() -> None:
    inside, error = [], []
    for seed in range(12):
        rng = np.random.default_rng([seed, 9])
        right = rng.beta(8, 2, 20)
        made = make_comparisons(rng.normal(0, 1, 20), 2000, right=right, tied=0.5, seed=seed)
        judges = CrowdBradleyTerry(copies=False).fit(made.comparisons).judges
        low, high = judges["skill_low"].to_numpy(), judges["skill_high"].to_numpy()
        inside.append((low <= right) & (right <= high))
        error.append(judges["skill"].to_numpy() - right)
    assert 0.83 < np.mean(inside) < 0.97
    assert np.mean(error) == pytest.approx(0, abs=0.04)


def test_declared_copies_of_a_coin_flipper_do_not_vouch_for_each_other() -> None:
    alone = flip_coins(DISJOINT, [["copy0"]] * 60, 1).to_table().to_pydict()
    copies = [
        Comparisons.from_table(alone | {"judge": [f"copy{n}"] * 60}).with_family_rule("(copy)")
        for n in range(3)
    ]
    given = Comparisons.join(copies).with_family_rule("(copy)")
    assert CrowdBradleyTerry().fit(given).judges["verdict"].to_pylist() == ["unknown"] * 3


def test_draws_do_not_change_the_skill_of_judges() -> None:
    given = flip_coins(DISJOINT, [SIX] * 60, 0)
    drawn = CrowdBradleyTerry(method="gibbs", chains=1, warmup=20, draws=20).fit(given).judges
    point = CrowdBradleyTerry().fit(given).judges
    assert drawn["skill"].equals(point["skill"])
    assert drawn["verdict"].equals(point["verdict"])


def test_real_judges_are_informative_and_become_uninformative_by_a_coin(shared_data: Path) -> None:
    given = Comparisons.read(shared_data / "pairs" / "crowd-comparisons.csv")
    real = CrowdBradleyTerry().fit(given).judges["verdict"].to_pylist()
    assert real.count("informative") > 50
    coin = np.random.default_rng(0).integers(0, 2, len(given))
    outcome = np.where(given.outcome < 2, coin, given.outcome).astype(np.int8)
    words = CrowdBradleyTerry().fit(replace(given, outcome=outcome)).judges["verdict"].to_pylist()
    assert words.count("informative") <= 1
    assert words.count("uninformative") > 80
