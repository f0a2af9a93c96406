"""A judge's two accuracies, on hidden gold and in the consensus, and what a gap between them means.

Gold is certain and little; the consensus is much, and as good as the other judges are.
"""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.data.source import count_of
from adjudge.evaluation.scores import wilson

_LEVEL = 0.9  # of intervals, as the consensus has them


@dataclass(frozen=True, slots=True)
class Gap:
    """What is said of the two accuracies: a word where they clearly differ, and a sentence."""

    word: str  # "", "better on gold" or "better in work"
    sentence: str


def gold_interval(right: int, seen: int) -> tuple[float, float]:
    """The 90% interval of an accuracy on gold, by Wilson's score."""
    return wilson(right, seen, _LEVEL)


def explain_gap(
    right: int, seen: int, accuracy: float | None, low: float | None, high: float | None
) -> Gap:
    """Why a judge's accuracy on gold and in the consensus may differ."""
    if accuracy is None:
        return Gap("", "How they do in the consensus is known after the first fit.")
    if seen == 0:
        return Gap("", "They have met no hidden gold, so that only the consensus speaks of them.")
    bottom, top = gold_interval(right, seen)
    least = accuracy if low is None else low
    most = accuracy if high is None else high
    golds = count_of(seen, "gold")
    if bottom > most:
        return Gap(
            "better on gold",
            f"On {golds} they are clearly better ({right / seen:.0%}) than in the consensus "
            f"({accuracy:.0%}): gold may be easier than the work, or they may know it for gold; "
            "or they see something in the work that others do not.",
        )
    if top < least:
        return Gap(
            "better in work",
            f"On {golds} they are clearly worse ({right / seen:.0%}) than in the consensus "
            f"({accuracy:.0%}): some gold may be wrong or harder than the work, or others make the "
            "same mistakes, which the consensus then takes for right.",
        )
    return Gap("", f"The two agree, by {golds}.")
