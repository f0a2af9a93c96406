"""A model asked about a pair in both orders, and how far it goes by the side a result stands on.

Models prefer the first of two results, or the second, more than people do (L. Zheng and others
2023, arXiv:2306.05685). Asked twice, with the sides changed, a model that contradicts itself has
not told the two apart: that is a tie where ties are allowed, and else the answer to the order that
the page's coin gave, so that no result gains by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adjudge.collect.model_judge.question import NO_ANSWER, Reply
from adjudge.collect.values.sides import LEFT, RIGHT, TIE, mirror

_WIDE = 1.6448536269514722  # standard errors of a 90% interval


@dataclass(slots=True)
class SideTally:
    """How often a model was asked in both orders, agreed with itself, and took which side."""

    pairs: int = 0
    agreed: int = 0
    left: int = 0  # answers, of both orders, that took the left one
    right: int = 0
    _squares: int = 0  # of the difference of both in each pair

    def add(self, first: str, second: str) -> None:
        """Count the answers to both orders, each as its order was shown."""
        if NO_ANSWER in (first, second):
            return
        self.pairs += 1
        self.agreed += first == mirror(second)
        left, right = ([first, second].count(side) for side in (LEFT, RIGHT))
        self.left, self.right = self.left + left, self.right + right
        self._squares += (left - right) ** 2

    @property
    def position(self) -> tuple[float, float, float] | None:
        """By how much a result gains, as a share of answers, where it stands left; with 90% bounds.

        0 where sides do not matter, 1 where the left one is always taken, -1 where the right one.
        """
        if not self.pairs:
            return None
        mean = (self.left - self.right) / (2 * self.pairs)
        spread = max(self._squares / (4 * self.pairs) - mean * mean, 0.0)
        error = _WIDE * math.sqrt(spread / self.pairs)
        return mean, mean - error, mean + error


def settle(first: Reply, second: Reply, labels: tuple[str, ...]) -> Reply:
    """One answer of two: as shown first, and with the sides changed."""
    turned = mirror(second.label)
    if first.label == NO_ANSWER and second.label != NO_ANSWER:
        return Reply(label=turned, reason=second.reason)
    if second.label == NO_ANSWER or first.label == turned:
        return first
    label = TIE if TIE in labels else first.label
    said = f"Asked in both orders: {first.label}, then {turned}. {first.reason}"
    return Reply(label=label, reason=said.strip())
