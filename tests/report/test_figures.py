from __future__ import annotations

import pytest

from adjudge.errors import BadData
from adjudge.report import FIGURES, Results, draw


def drawable(results: Results) -> list[str]:
    return [name for name, figure in FIGURES.items() if figure.lacks(results) is None]


def test_with_everything_all_figures_can_be_drawn(sampled: Results) -> None:
    found = drawable(sampled)
    assert found == list(FIGURES)
    for name in found:
        assert draw(name, sampled).to_dict()["title"]["text"]


def test_without_gold_and_draws_the_rest(fitted: Results) -> None:
    assert drawable(fitted) == [
        "judge-intervals",
        "confidence",
        "votes",
        "agreement",
        "topic-disagreement",
        "voted-estimated",
        "confusion",
        "judge-item-matrix",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "sensitivity-specificity",
        "judge-clouds",
        "hyper-priors",
        "calibration",
        "accuracy-by-ratings",
    ],
)
def test_what_cannot_be_drawn_says_what_it_needs(fitted: Results, name: str) -> None:
    with pytest.raises(BadData) as caught:
        draw(name, fitted)
    assert caught.value.expected == FIGURES[name].lacks(fitted)
