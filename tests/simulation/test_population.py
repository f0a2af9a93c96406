"""Populations parse, count and draw as they are written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.data.scale import Scale
from adjudge.errors import BadSetting
from adjudge.simulation._judges import Adversary, Biased, Lazy, Skilled, Spammer
from adjudge.simulation._population import Population

MIX = "skilled:80,spammer:10,lazy:5,adversary:5"


def test_parse_reads_kinds_settings_and_weights() -> None:
    found = Population.parse(
        " skilled( 9, 1.5 ) : 80, spammer(prevalence):10,lazy(not relevant):5 ,"
        "lazy(1.0):2,biased(-1)"
    )
    assert found.groups == (
        (Skilled(9, 1.5), 80),
        (Spammer("prevalence"), 10),
        (Lazy("not relevant"), 5),
        (Lazy("1"), 2),
        (Biased(-1), 1),
    )
    assert len(found) == 98
    assert found.sizes == (80, 10, 5, 2, 1)
    assert (
        str(found) == "skilled(9,1.5):80,spammer(prevalence):10,lazy(not relevant):5,lazy(1):2,"
        "biased(-1):1"
    )


def test_shares_of_a_stated_number_of_judges_are_exact() -> None:
    assert Population.parse(MIX, judges=20).sizes == (16, 2, 1, 1)
    # 33 judges: shares 26.4, 3.3, 1.65, 1.65; the two largest remainders are rounded up.
    assert Population.parse(MIX, judges=33).sizes == (26, 3, 2, 2)
    # Three equal shares of 4 judges: the group named first gets the odd one.
    assert Population.parse("lazy,spammer,skilled", judges=4).sizes == (2, 1, 1)
    assert Population.parse("skilled:0.75,spammer:0.25", judges=8).sizes == (6, 2)


def test_draws_are_in_the_order_of_the_groups() -> None:
    population = Population.parse("lazy(1):2,spammer:3")
    drawn = population.draw(Scale.parse("0<1"), np.array([0.5, 0.5]), np.random.default_rng(1))
    np.testing.assert_array_equal(drawn[:2], np.tile([0, 1], (2, 2, 1)))
    np.testing.assert_array_equal(drawn[2:], np.full((3, 2, 2), 0.5))
    assert population.kinds == ("lazy(1)", "lazy(1)", "spammer", "spammer", "spammer")
    np.testing.assert_array_equal(population.paces, [3, 3, 4, 4, 4])


NUMBERS = st.floats(0.1, 50).map(lambda x: round(x, 3))
KIND = st.one_of(
    st.builds(Skilled, NUMBERS, NUMBERS, st.one_of(st.none(), st.floats(0, 1))),
    st.builds(Adversary, NUMBERS, NUMBERS),
    st.builds(Spammer, st.sampled_from(["uniform", "prevalence"])),
    st.builds(Lazy, st.sampled_from([None, "0", "cat"])),
    st.builds(Biased, st.sampled_from([-2, -1, 1, 2]), st.floats(0, 1), NUMBERS),
)


@settings(deadline=None)
@given(groups=st.lists(st.tuples(KIND, st.integers(1, 1000)), min_size=1, max_size=5))
def test_what_is_written_reads_back(groups: list[tuple[Skilled, int]]) -> None:
    population = Population(tuple(groups))
    assert Population.parse(str(population)) == population


@settings(deadline=None)
@given(
    weights=st.lists(st.floats(0, 100), min_size=1, max_size=6).filter(lambda w: sum(w) > 0.01),
    judges=st.integers(1, 5000),
)
def test_sizes_sum_and_stray_by_less_than_one(weights: list[float], judges: int) -> None:
    population = Population(tuple((Spammer(), weight) for weight in weights), judges)
    share = np.array(weights) / sum(weights) * judges
    assert sum(population.sizes) == judges == len(population)
    assert np.abs(np.array(population.sizes) - share).max() < 1 + 1e-6


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        (" ", "population"),
        ("skilled:80,,lazy:1", "population"),
        ("skilled(8,2:80", "population"),
        ("skilled:many", "weight of skilled"),
        ("skilled:nan", "weight of skilled"),
        ("skilled:0.5", "weight of skilled"),
        ("skilled:0,lazy:0", "population"),
        ("skilled(1,2,.5,4):1", "settings of skilled"),
        ("skilled(-8,2):1", "skilled a"),
    ],
)
def test_bad_text_says_what_is_wrong(text: str, setting: str) -> None:
    with pytest.raises(BadSetting) as caught:
        Population.parse(text)
    assert caught.value.setting == setting


@pytest.mark.parametrize(
    ("groups", "judges", "setting"),
    [
        (((Skilled(), 1),), 0, "judges"),
        (((Skilled(), float("nan")),), 5, "weight of skilled"),
        ((), None, "population"),
    ],
)
def test_bad_groups(groups: Any, judges: int | None, setting: str) -> None:
    with pytest.raises(BadSetting) as caught:
        Population(groups, judges)
    assert caught.value.setting == setting
