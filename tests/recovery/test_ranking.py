"""P(A better than B) is calibrated: of the pairs given 80%, about 80% are truly so.

Crowds and systems are made with the truth known; the model is the one that the crowd was made by,
with few judges, few topics and three judgments an item, so that there is doubt to be had.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.stats import binom

from adjudge import HierarchicalConfusion
from adjudge.evaluation._pool import build_pool
from adjudge.evaluation._retrieval import parse_measures
from adjudge.evaluation.ranking.rank import rank_systems
from adjudge.simulation import Crowd, Population
from rankings import system
from sizes import sized

pytestmark = pytest.mark.slow

CROWDS, SYSTEMS = sized(100, full=300), 4
LENGTH = sized(100, full=200)  # of a chain
EDGES = (0.5, 0.7, 0.9, 1.0)
NEAR = (0.75, 0.85)  # what "about 80%" means
CROWD = Crowd(
    items=300,
    population=Population.parse("dirichlet:100", judges=15),
    prevalence=(0.6, 0.4),
    topics=10,
    concentration=5,
    per_item=3,
)


@pytest.fixture(scope="module")
def claims() -> np.ndarray:  # (pair, 2)
    """Of every pair: the probability given to the likelier system, and whether it is better."""
    found = []
    for seed in range(CROWDS):
        made = CROWD.make(seed=seed)
        judgments, truth = made.judgments, made.truth.codes(made.judgments.scale)
        rng = np.random.default_rng([seed, 1])
        runs = [
            system(judgments, truth, rng.normal(0.6, 0.15), rng, name=f"s{n}")
            for n in range(SYSTEMS)
        ]
        model = HierarchicalConfusion(chains=2, warmup=LENGTH, draws=LENGTH, seed=seed)
        consensus = model.fit(judgments)
        # The two measures of a crowd are nearly one observation: they take turns.
        (measure,) = parse_measures([("nDCG@10", "AP")[seed % 2]], judgments.scale)
        ranking = rank_systems(consensus, runs, [measure.name], draws=300, next_items=0)
        pool = build_pool(judgments, np.ones(len(truth), dtype=np.bool_), runs)
        real = measure.values(pool, truth[pool.item][None].astype(np.int16))[0].mean(axis=1)
        for a, b in combinations(range(SYSTEMS), 2):
            chance = ranking.better(measure.name, f"s{a}", f"s{b}")
            right = real[a] > real[b] if chance >= 0.5 else real[b] > real[a]
            found.append((max(chance, 1 - chance), right))
    return np.array(found, dtype=np.float64)


def bounds(p: float, count: int) -> tuple[float, float]:
    """How often events of that chance may happen, of so many; pairs of one crowd hang together.

    Six pairs of four systems have three free differences, so a count is worth about half of it.
    """
    worth = count / 2
    low, high = binom.interval(0.999, round(worth), p)
    return low / worth, high / worth


def test_of_the_pairs_given_about_80_percent_about_80_percent_are_so(claims: np.ndarray) -> None:
    chance, right = claims.T
    near = (chance >= NEAR[0]) & (chance < NEAR[1])
    assert near.sum() >= 40
    low, high = bounds(chance[near].mean(), int(near.sum()))
    assert low <= right[near].mean() <= high
    # Bounds that chances of 50% or 97% would not be within.
    assert low > 0.55
    assert high < 0.97


def test_all_chances_hold(claims: np.ndarray) -> None:
    chance, right = claims.T
    for low_edge, high_edge in pairwise(EDGES):
        inside = (chance >= low_edge) & (chance <= high_edge)
        low, high = bounds(chance[inside].mean(), int(inside.sum()))
        assert low <= right[inside].mean() <= high, (low_edge, high_edge)
    low, high = bounds(chance.mean(), len(chance))
    assert low <= right.mean() <= high
