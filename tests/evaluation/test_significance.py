from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from adjudge.data.gold import Gold
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.against_gold import evaluate
from adjudge.evaluation.significance import (
    correct_by_item,
    paired_t_test,
    rank_methods,
    sign_test,
)


def test_t_test_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, sd 1, t = 2 sqrt(3); with 2 degrees p = 1 - t / sqrt(t² + 2).
    found = paired_t_test([2, 4, 6], [1, 2, 3])
    t = 2 * math.sqrt(3)
    assert found.statistic == pytest.approx(t)
    assert found.p == pytest.approx(1 - t / math.sqrt(t * t + 2))
    assert not found.different  # p = 0.074
    assert paired_t_test([2, 4, 6], [1, 2, 3], level=0.1).different


def test_differences_without_spread() -> None:
    same = paired_t_test([0.3, 0.5], [0.3, 0.5])
    assert (same.statistic, same.p, same.different) == (0.0, 1.0, False)
    # 0.3 - 0.2 and 0.7 - 0.6 differ in the last bit only.
    apart = paired_t_test([0.2, 0.6], [0.3, 0.7])
    assert (apart.statistic, apart.p, apart.different) == (-math.inf, 0.0, True)
    noise = paired_t_test([0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2])
    assert (noise.p, noise.different) == (1.0, False)


def test_too_few_pairs_say_nothing() -> None:
    for found in (paired_t_test([], []), paired_t_test([1.0], [2.0])):
        assert math.isnan(found.p)
        assert not found.different
    assert paired_t_test([1.0], [1.0]).p == 1.0


def test_pairs_with_a_gap_are_left_out() -> None:
    nan = math.nan
    found = paired_t_test([1, 2, nan, 4, 5], [1, 1, 3, nan, 2])
    assert found == paired_t_test([1, 2, 5], [1, 1, 2])
    assert found.pairs == 3


def test_what_cannot_be_paired() -> None:
    with pytest.raises(BadData):
        paired_t_test([1, 2], [1, 2, 3])
    with pytest.raises(BadSetting) as error:
        paired_t_test([1, 2], [1, 2], level=0)
    assert error.value.setting == "level"


def test_sign_test_by_hand() -> None:
    found = sign_test([1, 1, 1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0, 0, 1])
    assert found.p == pytest.approx(2 / 64)
    assert found.different


# --- ranks ---


def test_methods_that_do_not_differ_share_a_rank() -> None:
    random = np.random.default_rng(1)
    ease = random.normal(0, 0.05, 200)  # what all methods have in common, split by split
    level = {"mv": 0.60, "em": 0.644, "pmf": 0.643, "filter": 0.752, "both": 0.75, "wv": 0.673}
    noise = random.normal(0, 0.03, (len(level), 200))
    noise -= noise.mean(axis=1, keepdims=True)
    samples = {
        name: mean + ease + extra for (name, mean), extra in zip(level.items(), noise, strict=True)
    }
    found = rank_methods(samples)
    assert [(place.method, place.rank) for place in found] == [
        ("filter", 1),
        ("both", 1),
        ("wv", 2),
        ("em", 3),
        ("pmf", 3),
        ("mv", 4),
    ]
    assert [place.against for place in found] == [None, "filter", "filter", "wv", "em", "em"]
    errors = {name: 1 - values for name, values in samples.items()}
    turned = rank_methods(errors, higher_is_better=False)
    assert [(p.method, p.rank) for p in turned] == [(p.method, p.rank) for p in found]


def test_a_method_is_compared_with_the_head_and_not_with_its_neighbour() -> None:
    # b does not differ from a, nor c from b, but c does from a: c heads rank 2.
    wave = np.array([1.0, -1.0] * 10)
    samples = {"a": 0.40 + 0 * wave, "b": 0.35 + 0.15 * wave, "c": 0.30 + 0.01 * wave}
    assert not paired_t_test(samples["b"], samples["c"]).different
    assert [(p.method, p.rank) for p in rank_methods(samples)] == [("a", 1), ("b", 1), ("c", 2)]


def test_ranks_of_constant_and_equal_methods() -> None:
    samples = {"z": [0.5, 0.5], "y": [0.5, 0.5], "x": [0.4, 0.4]}
    assert [(p.method, p.rank) for p in rank_methods(samples)] == [("y", 1), ("z", 1), ("x", 2)]
    assert rank_methods({}) == ()
    (alone,) = rank_methods({"only": [0.1]})
    assert (alone.rank, alone.against, alone.difference) == (1, None, None)


def test_a_method_without_a_value_comes_last() -> None:
    found = rank_methods({"none": [math.nan, math.nan], "some": [0.1, 0.2]})
    assert [place.method for place in found] == ["some", "none"]
    assert math.isnan(found[1].mean)


def test_right_and_wrong_pair_up_by_item() -> None:
    gold = Gold.of({"a": 0, "b": 1, "c": 1, "d": 0})
    first = evaluate(pa.table({"item": ["d", "c", "b", "a"], "label": [0, 1, 0, 0]}), gold)
    second = evaluate(pa.table({"item": ["b", "d", "c"], "label": [1, 1, 1]}), gold)
    found = correct_by_item({"first": first, "second": second})
    assert found["first"].tolist() == [0, 1, 1]  # b, c, d
    assert found["second"].tolist() == [1, 1, 0]
    assert correct_by_item({}) == {}
