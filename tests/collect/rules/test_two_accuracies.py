"""The two accuracies of a judge, and what is said of a gap."""

from __future__ import annotations

import pytest

from adjudge.collect.rules.two_accuracies import explain_gap, gold_interval


def test_the_interval_on_gold_is_wilsons_at_ninety_percent() -> None:
    assert gold_interval(8, 10) == pytest.approx((0.5407, 0.9315), abs=1e-3)
    assert gold_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("right", "seen", "figures", "word"),
    [
        (40, 40, (0.6, 0.5, 0.7), "better on gold"),
        (10, 40, (0.9, 0.85, 0.95), "better in work"),
        (8, 10, (0.7, 0.6, 0.8), ""),
        (1, 1, (0.5, 0.4, 0.6), ""),
        (0, 0, (0.9, 0.8, 0.95), ""),
        (9, 10, (None, None, None), ""),
    ],
)
def test_a_gap_is_named_only_where_it_is_clear(
    right: int, seen: int, figures: tuple[float | None, ...], word: str
) -> None:
    said = explain_gap(right, seen, *figures)  # type: ignore[arg-type]
    assert said.word == word
    assert said.sentence
    assert ("clearly" in said.sentence) == bool(word)
