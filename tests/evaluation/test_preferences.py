"""Pairs to ask next, how many more, and how well preferences fit."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge import BradleyTerry, Comparisons, Elo
from adjudge.errors import BadData
from adjudge.evaluation.preferences import (
    comparisons_needed,
    measure_fit,
    next_pairs,
    sureness,
)
from adjudge.simulation.preferences import make_comparisons


def won(*pairs: str) -> Comparisons:
    table = {"winner": [p[0] for p in pairs], "loser": [p[1] for p in pairs]}
    return Comparisons.from_table(table)


def test_a_circle_is_counted_and_named() -> None:
    fit = measure_fit(BradleyTerry().fit(won("ab", "bc", "ca", "ad", "bd", "cd")))
    assert (fit.triples, fit.of_triples) == (1, 4)
    assert fit.examples == (("a", "b", "c"),)


def test_expected_wins_add_up_to_those_observed() -> None:
    """The fixed point of maximum likelihood: every item won as often as expected."""
    made = make_comparisons(np.linspace(-1, 1, 5), 400, tied=0.7, seed=1).comparisons
    pairs = measure_fit(BradleyTerry(regularisation=0, ties="davidson").fit(made)).pairs
    off = pairs["observed"].to_numpy() - pairs["expected"].to_numpy()
    ends = np.array(pairs["first"].to_pylist()), np.array(pairs["second"].to_pylist())
    for item in made.items.to_pylist():
        balance = off[ends[0] == item].sum() - off[ends[1] == item].sum()
        assert balance == pytest.approx(0, abs=1e-5)


def test_what_is_close_and_unknown_is_asked_first() -> None:
    found = BradleyTerry().fit(won(*["ab"] * 40, *["ba"] * 38, "bc", "cb", *["bd"] * 20))
    first = next_pairs(found, 1).to_pylist()[0]
    assert {first["left"], first["right"]} & {"c"}
    assert len(next_pairs(found, 0)) == 6


def test_more_comparisons_are_surer() -> None:
    found = BradleyTerry().fit(make_comparisons(np.linspace(-1, 1, 6), 60, seed=2).comparisons)
    assert comparisons_needed(found, sureness(found) - 0.01) == 0
    some, many = comparisons_needed(found, 0.95), comparisons_needed(found, 0.99)
    assert some is not None
    assert many is not None
    assert 0 < some < many
    with pytest.raises(BadData, match="elo has no log strengths; wanted a model of Bradley-Terry"):
        comparisons_needed(Elo(resamples=2).fit(found.comparisons), 0.95)
