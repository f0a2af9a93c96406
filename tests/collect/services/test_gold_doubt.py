"""How doubtful gold is, worked out by hand."""

from __future__ import annotations

import pytest

from adjudge.collect.services._gold_review import (
    _find_better_label,
    _measure_doubts,
)

GIVEN = [  # judge, gold, label, right, whether a contest is settled
    (1, 10, "a", True, None),
    (1, 11, "a", True, None),
    (1, 12, "b", False, False),
    (2, 10, "a", True, None),
    (2, 11, "a", True, None),
    (2, 12, "b", False, None),
    (3, 10, "b", False, None),
    (3, 11, "b", False, None),
    (3, 12, "a", True, None),
    (3, 12, "b", False, False),  # after feedback: not a first answer, but still a contest
]


def test_doubt_is_that_of_judges_who_are_right_elsewhere() -> None:
    found = _measure_doubts(GIVEN, 2)
    m = 5 / 9  # of nine first answers five are right
    good = ((2 + 2 * m) / 4 - 0.5) / 0.5  # who has both others right, as judges 1 and 2 on gold 12
    # Everyone else has at most one of two others right, which is hardly better than chance.
    least = 0.1
    assert ((1 + 2 * m) / 4 - 0.5) / 0.5 < least
    # Gold 12: both good judges miss it and one contests it; so does judge 3, who had it right.
    assert found[12].doubt == pytest.approx((3 * good + least) / (3 * good + 2 * least + 1))
    assert found[12].best == "b"
    # Gold 10: judge 3 misses it.
    assert found[10].doubt == pytest.approx(least / (3 * least + 1))
    assert found[10].best == "a"
    assert _find_better_label(found, 12, ("a",)) == "b"
    assert _find_better_label(found, 12, ("a", "b")) is None
    assert _find_better_label(found, 10, ("a",)) is None
    assert _find_better_label(found, 99, ("a",)) is None


def test_gold_without_misses_is_not_doubted_and_one_miss_weighs_at_most_half() -> None:
    perfect = [(judge, gold, "a", True, None) for judge in range(9) for gold in range(4)]
    assert {one.doubt for one in _measure_doubts(perfect, 4).values()} == {0.0}
    alone = [(1, gold, "a", True, None) for gold in range(1000)]
    found = _measure_doubts([*alone, (1, 5000, "b", False, None)], 4)
    assert 0.49 < found[5000].doubt < 0.5
    assert _measure_doubts(perfect[:1], 2)[0].doubt == 0.0
    assert _measure_doubts([], 3) == {}
