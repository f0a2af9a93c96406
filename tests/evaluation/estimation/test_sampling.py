"""Samples: textbook variances, unbiased totals, strata and rounds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from adjudge.errors import BadData
from adjudge.evaluation.estimation._sampling import Sample, sample_of

ONE = np.ones(1)


def drawn(items: list[int], size: int) -> Sample:
    at = np.array(items, dtype=np.int64)
    return sample_of(at, np.zeros(len(items), dtype=np.int16), size, None, None, "gold")


def test_equal_chances_have_the_textbook_variance() -> None:
    """N^2 (1 - n/N) s^2 / n."""
    values = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    sample = drawn([0, 3, 4, 7, 9], 12)
    variance, freedom = sample.variance(values, ONE)
    assert variance == pytest.approx(144 * (1 - 5 / 12) * values.var(ddof=1) / 5)
    assert freedom == pytest.approx(4)


def test_the_variance_is_that_over_all_samples() -> None:
    population = np.array([2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0])
    totals, variances = [], []
    for items in combinations(range(7), 3):
        sample = drawn(list(items), 7)
        values = population[sample.item]
        totals.append(float((sample.weights(ONE) * values).sum()))
        variances.append(sample.variance(values, ONE)[0])
    assert np.mean(totals) == pytest.approx(population.sum())
    assert np.mean(variances) == pytest.approx(np.var(totals))


def test_strata_have_their_own_probabilities_and_small_strata_are_joined() -> None:
    stratum = np.array([0, 0, 0, 0, 1, 1, 1, 2, 3])
    sample = drawn([0, 1, 4, 5, 7, 8], 9).in_strata(stratum)
    assert sample.chance.tolist() == [0.5, 0.5, pytest.approx(2 / 3), pytest.approx(2 / 3), 1, 1]
    values = np.array([1.0, 3.0, 5.0, 6.0, 9.0, 2.0])
    expected = 16 * (1 - 1 / 2) * 2.0 / 2 + 9 * (1 - 2 / 3) * 0.5 / 2
    assert sample.variance(values, ONE)[0] == pytest.approx(expected)


def test_rounds_are_each_unbiased_and_earlier_gold_counts_for_itself() -> None:
    item, truth = np.arange(5), np.zeros(5, dtype=np.int16)
    chance = np.array([0.5, 0.5, 0.25, 0.25, 0.25])
    rounds = np.array([1, 1, 2, 2, 2])
    sample = sample_of(item, truth, 20, chance, rounds, "gold")
    assert sample.rounds == 2
    half = np.array([0.5, 0.5])
    assert sample.weights(half).tolist() == [1.5, 1.5, 2.0, 2.0, 2.0]


def test_unequal_chances_give_totals_without_bias() -> None:
    """Two rounds of draws with chances that follow size, many times over."""
    random = np.random.default_rng(3)
    population = random.gamma(1.0, size=60)
    size = population + 0.3
    found, spread = [], []
    for _ in range(800):
        first = random.choice(60, 10, replace=False)
        left = np.setdiff1d(np.arange(60), first)
        pi = np.minimum(12 * size[left] / size[left].sum(), 1)
        taken = random.random(len(left)) < pi
        if taken.sum() < 2:
            continue
        item = np.concatenate([first, left[taken]])
        chance = np.concatenate([np.full(10, 1 / 6), pi[taken]])
        rounds = np.array([1] * 10 + [2] * int(taken.sum()))
        sample = sample_of(item, np.zeros(len(item), dtype=np.int16), 60, chance, rounds, "gold")
        shares = np.array([0.3, 0.7])
        found.append(float((sample.weights(shares) * population[sample.item]).sum()))
        spread.append(sample.variance(population[sample.item], shares)[0])
    error = np.std(found) / np.sqrt(len(found))
    assert np.mean(found) == pytest.approx(population.sum(), abs=4 * error)


def test_degrees_of_freedom_of_pairs_are_those_of_all() -> None:
    """Fifty strata of two with one spread: some fifty degrees of freedom, not a third of them."""
    random = np.random.default_rng(4)
    sample = drawn(list(range(0, 200, 2)), 200).in_strata(np.repeat(np.arange(50), 4))
    found = [sample.variance(random.normal(size=100), ONE)[1] for _ in range(200)]
    assert np.mean(found) == pytest.approx(50, rel=0.1)


def test_strata_of_a_draw_and_small_strata_that_are_joined() -> None:
    """Round 1 has strata of 2, 1 and 2 items; the small one joins; what was sure shows nothing."""
    chance = np.array([0.5, 0.5, 0.5, 0.25, 0.25, 1.0, 0.5, 0.5])
    rounds = np.array([1, 1, 1, 1, 1, 1, 2, 2])
    strata = np.array([1, 1, 2, 3, 3, 4, 1, 1])
    truth = np.zeros(8, dtype=np.int16)
    sample = sample_of(np.arange(8), truth, 30, chance, rounds, "gold", strata)
    assert sample.group.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert sample.round.tolist() == [0, 0, 1]
    values = np.array([1.0, 3.0, 2.0, 5.0, 6.0, 9.0, 2.0, 2.0])
    by_hand = 3 / 2 * 0.5 * ((2 - 4) ** 2 + (6 - 4) ** 2) + 2 * 0.75 * (2.0**2 + 2.0**2)
    assert sample.variance(values, np.array([1.0, 0.0]))[0] == pytest.approx(by_hand)


def test_a_chance_that_is_not_known_is_complained_of() -> None:
    chance = np.array([0.5, np.nan, 0.5])
    with pytest.raises(BadData) as caught:
        sample_of(np.arange(3), np.zeros(3, dtype=np.int16), 9, chance, None, "gold.csv")
    assert caught.value.place == "gold.csv, column sampling_probability"


def test_a_believed_spread_counts_as_two_degrees_of_freedom() -> None:
    """Three items of six, alike: their own spread is none, and what is believed is all there is."""
    at = np.array([0, 2, 4])
    sample = sample_of(at, np.zeros(3, dtype=np.int16), 6, None, None, "gold")
    alike, believed = np.full(3, 0.1), np.array([0.01, 0.02, 0.03])
    assert sample.variance(alike, np.ones(1))[0] == pytest.approx(0.0)
    promised = 0.5 / 0.25 * believed.sum()
    found = sample.variance(alike, np.ones(1), believed)[0]
    assert found == pytest.approx(2 * promised / (2 + 2))
    assert sample.variance(alike, np.ones(1), believed)[1] == pytest.approx(2 + 2)


def test_of_chosen_items_the_larger_spread_counts_seen_or_believed() -> None:
    """Four of eight with known chances: alike they have the believed spread, apart their own."""
    chance, believed = np.full(4, 0.5), np.array([0.1, 0.2, 0.3, 0.4])
    observed = np.arange(0, 8, 2), np.zeros(4, dtype=np.int16), 8, chance, None, "gold"
    sample = sample_of(*observed)
    promised = 0.5 / 0.25 * believed.sum()
    assert sample.variance(np.full(4, 0.3), ONE, believed)[0] == pytest.approx(promised)
    apart = np.array([-2.0, 1.0, 3.0, -1.0])
    seen = 64 * (1 - 1 / 2) * apart.var(ddof=1) / 4
    found = sample.variance(apart, ONE, believed)[0]
    assert found == pytest.approx((3 * seen + 2 * promised) / 5)
    assert found > promised
