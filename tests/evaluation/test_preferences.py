"""Pairs to ask next, how many more, and how well preferences fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from adjudge import BradleyTerry, Comparisons, Elo
from adjudge.errors import BadData
from adjudge.evaluation.preferences import (
    comparisons_needed,
    measure_fit,
    next_pairs,
    pair_worths,
)
from simulated_pairs import make_comparisons
from sizes import sized


def won(*pairs: str) -> Comparisons:
    table = {"winner": [p[0] for p in pairs], "loser": [p[1] for p in pairs]}
    return Comparisons.from_table(table)


def test_expected_wins_add_up_to_those_observed() -> None:
    """The fixed point of maximum likelihood: every item won as often as expected."""
    simulated = make_comparisons(np.linspace(-1, 1, 5), 400, tied=0.7, seed=1).comparisons
    pairs = measure_fit(BradleyTerry(regularisation=0, ties="davidson").fit(simulated)).pairs
    off = pairs["observed"].to_numpy() - pairs["expected"].to_numpy()
    ends = np.array(pairs["first"].to_pylist()), np.array(pairs["second"].to_pylist())
    for item in simulated.items.to_pylist():
        balance = off[ends[0] == item].sum() - off[ends[1] == item].sum()
        assert balance == pytest.approx(0, abs=1e-5)


def test_what_is_close_and_unknown_is_asked_first() -> None:
    found = BradleyTerry().fit(won(*["ab"] * 40, *["ba"] * 38, "bc", "cb", *["bd"] * 20))
    first = next_pairs(found, 1).to_pylist()[0]
    assert {first["left"], first["right"]} & {"c"}
    assert len(next_pairs(found, 0)) == 6


def test_more_comparisons_are_surer() -> None:
    found = BradleyTerry().fit(make_comparisons(np.linspace(-1, 1, 6), 60, seed=2).comparisons)
    assert comparisons_needed(found, measure_fit(found).sureness - 0.01) == 0
    some, many = comparisons_needed(found, 0.95), comparisons_needed(found, 0.99)
    assert some is not None
    assert many is not None
    assert 0 < some < many
    with pytest.raises(BadData, match="elo has no log strengths"):
        comparisons_needed(Elo(resamples=2).fit(found.comparisons), 0.95)


def _asked(seed: int, *, adaptive: bool, rounds: int) -> np.ndarray:  # (round, 3)
    """Comparisons so far and rank correlations, of pairs by chance or by what they are worth.

    By chance of the last round alone: no choice hangs on a fit before.
    """
    rng = np.random.default_rng(seed)
    items = 30
    score, (a, b) = rng.normal(0, 2, items), np.triu_indices(items, 1)
    first = np.concatenate([rng.permutation(items), rng.permutation(items)])
    second = np.roll(first.reshape(2, items), 1, axis=1).ravel()
    known = make_comparisons(score, 0, pairs=(first, second), seed=seed).comparisons
    reported = []
    for step in range(rounds):
        if adaptive or step == rounds - 1:
            found = BradleyTerry(copies=False).fit(known)
            ranks = spearmanr(found.score, score)[0], kendalltau(found.score, score)[0]
            reported.append((len(known), *ranks))
        chosen = rng.integers(len(a), size=items // 2)
        if adaptive:
            chosen = np.argsort(-pair_worths(found, a, b), kind="stable")[: items // 2]
        pairs = (a[chosen], b[chosen])
        more = make_comparisons(score, 0, pairs=pairs, seed=1000 * seed + step).comparisons
        known = Comparisons.join([known, more])
    return np.array(reported)


@pytest.mark.slow
def test_asking_by_worth_saves_comparisons() -> None:
    """Of 420 comparisons by chance three in ten and more are saved, at the same correlation.

    Scores have a spread of 2, so that two of them drawn by chance are easy to separate. The
    measure was chosen on seeds from 100, with spreads of 1 and 1.5; these are others.
    """
    rounds = 25
    seeds = range(sized(4, full=20))
    chance = np.mean([_asked(seed, adaptive=False, rounds=rounds) for seed in seeds], axis=0)
    chosen = np.mean([_asked(seed, adaptive=True, rounds=rounds) for seed in seeds], axis=0)
    for measure in (1, 2):
        reached = np.maximum.accumulate(chosen[:, measure])
        needed = np.interp(chance[-1, measure], reached, chosen[:, 0])
        assert 1 - needed / chance[-1, 0] >= sized(0.2, full=0.3)
