"""How far a judge can be trusted, from their answers to gold: two ways to say "below the line"."""

from __future__ import annotations

from typing import Literal

Trust = Literal["share", "beta"]


def probability_below(right: int, seen: int, line: float) -> float:
    """P(accuracy < line) given the golds, with a uniform prior: Beta(1 + right, 1 + wrong)."""
    if line <= 0:
        return 0.0
    if line >= 1:
        return 1.0
    from scipy.special import betainc

    return float(betainc(1 + right, 1 + seen - right, line))


def is_below(
    right: int,
    seen: int,
    line: float,
    *,
    trust: Trust = "share",
    confidence: float = 0.9,
    least: int = 1,
) -> bool:
    """Whether a judge with these golds counts as below the line.

    ``share``: the share correct so far is below it (the paper's). ``beta``: it is more probable
    than ``confidence`` that their accuracy is below it. Never before ``least`` golds.
    """
    if seen < least:
        return False
    if trust == "share":
        return right < line * seen - 1e-9
    return probability_below(right, seen, line) > confidence
