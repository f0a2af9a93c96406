"""A judge's two accuracies, on hidden gold and in the consensus, and what a gap between them means.

Gold is certain and little; the consensus is much, and as good as the other judges are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adjudge.data.source import count_of

_Z = 1.645  # 90% intervals, as the consensus has them


@dataclass(frozen=True, slots=True)
class Gap:
    """What is said of the two accuracies: a word where they clearly differ, and a sentence."""

    word: str  # "", "better on gold" or "better in work"
    sentence: str


def gold_interval(right: int, seen: int) -> tuple[float, float]:
    """The 90% interval of an accuracy on gold, by Wilson's score."""
    if seen == 0:
        return 0.0, 1.0
    share, z2 = right / seen, _Z * _Z
    middle = (share + z2 / (2 * seen)) / (1 + z2 / seen)
    half = _Z / (1 + z2 / seen) * math.sqrt(share * (1 - share) / seen + z2 / (4 * seen * seen))
    return max(0.0, middle - half), min(1.0, middle + half)


def explain_gap(
    right: int, seen: int, accuracy: float | None, low: float | None, high: float | None
) -> Gap:
    """Why a judge's accuracy on gold and in the consensus may differ, as far as they do."""
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
    return Gap("", f"The two agree, as far as {golds} can tell.")
