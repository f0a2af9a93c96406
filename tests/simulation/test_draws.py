"""Who judges what: distinct judges, by successive sampling, exactly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare

from adjudge.simulation._crowd import activity_of, assign


def chance_of_sets(activity: NDArray[np.float64], count: int) -> dict[tuple[int, ...], float]:
    """The chance of every set of judges under successive sampling, order by order."""
    chance: dict[tuple[int, ...], float] = {}
    for order in itertools.permutations(range(len(activity)), count):
        p, left = 1.0, 1.0
        for judge in order:
            p *= activity[judge] / left
            left -= activity[judge]
        key = tuple(sorted(order))
        chance[key] = chance.get(key, 0.0) + p
    return chance


@pytest.mark.parametrize(
    ("activity", "count"),
    [
        ([0.5, 0.2, 0.15, 0.1, 0.05], 2),  # by rounds
        ([0.5, 0.2, 0.15, 0.1, 0.05], 3),  # by keys
        ([0.25, 0.25, 0.25, 0.25], 2),  # all alike
        ([0.999, 0.0005, 0.0003, 0.0001, 0.0001], 2),  # by rounds, and mostly finished by keys
        ([0.6, 0.39, 0.005, 0.002, 0.002, 0.001], 3),  # the same with two kept before the keys
    ],
)
def test_sets_of_judges_come_as_successive_sampling_says(activity: list[float], count: int) -> None:
    items = 40_000
    share = np.array(activity)
    judge = assign(np.full(items, count), share, np.random.default_rng(5)).reshape(items, count)
    chance = chance_of_sets(share, count)
    assert sum(chance.values()) == pytest.approx(1)
    sets, counts = np.unique(np.sort(judge, axis=1), axis=0, return_counts=True)
    seen = {tuple(int(j) for j in row): int(n) for row, n in zip(sets, counts, strict=True)}
    assert seen.keys() <= chance.keys()
    likely = [key for key, p in chance.items() if p * items > 5]
    observed = [seen.get(key, 0) for key in likely]
    expected = [chance[key] * items for key in likely]
    rest = items - sum(observed), items - sum(expected)
    if rest[1] > 5:
        observed.append(rest[0])
        expected.append(rest[1])
    scaled = np.array(expected) * sum(observed) / sum(expected)
    assert chisquare(observed, scaled).pvalue > 1e-3


def test_ragged_counts_get_the_same_judges_as_they_would_alone() -> None:
    # With counts of 1 and 2 mixed, items of count 1 must follow the activity itself.
    share = np.array([0.6, 0.2, 0.1, 0.05, 0.05])
    counts = np.tile([1, 2, 0], 20_000)
    judge = assign(counts, share, np.random.default_rng(2))
    assert len(judge) == counts.sum()
    first = np.cumsum(counts) - counts
    alone = np.bincount(judge[first[counts == 1]], minlength=5)
    assert chisquare(alone, share * 20_000).pvalue > 1e-3
    pairs = judge[np.stack([first[counts == 2], first[counts == 2] + 1])]
    assert (pairs[0] != pairs[1]).all()


@given(data=st.data(), judges=st.integers(1, 40), seed=st.integers(0, 1 << 32))
def test_no_judge_twice_on_an_item(data: st.DataObject, judges: int, seed: int) -> None:
    counts = np.array(data.draw(st.lists(st.integers(0, judges), max_size=30)), dtype=np.int64)
    name = data.draw(st.sampled_from(["even", "zipf", "lognormal"]))
    rng = np.random.default_rng(seed)
    share = activity_of(name, data.draw(st.floats(0.1, 6)), judges, rng)
    judge = assign(counts, share, rng)
    item = np.repeat(np.arange(len(counts)), counts)
    assert judge.dtype == np.int32
    assert len(judge) == counts.sum()
    assert ((judge >= 0) & (judge < judges)).all()
    assert len(np.unique(item * judges + judge)) == len(judge)


def test_repeats_follow_the_activity() -> None:
    share = np.array([0.7, 0.2, 0.1])
    judge = assign(np.full(10_000, 5), share, np.random.default_rng(3), repeats=True)
    assert chisquare(np.bincount(judge, minlength=3), share * 50_000).pvalue > 1e-3


def test_activity_shapes() -> None:
    rng = np.random.default_rng(4)
    np.testing.assert_allclose(activity_of("even", 1.0, 8, rng), np.full(8, 1 / 8))
    zipf = activity_of("zipf", 1.5, 100, rng)
    ranked = np.arange(1, 101) ** -1.5
    np.testing.assert_allclose(np.sort(zipf)[::-1], ranked / ranked.sum())
    assert (np.diff(zipf) > 0).any()  # the ranks are dealt, not in order
    logs = np.log(activity_of("lognormal", 2.0, 20_000, rng))
    assert logs.std() == pytest.approx(2.0, rel=0.03)
    assert abs(np.mean(((logs - logs.mean()) / logs.std()) ** 3)) < 0.1
