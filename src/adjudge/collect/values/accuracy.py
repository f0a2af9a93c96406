"""The share of answers to gold that are right."""

from __future__ import annotations


def accuracy_of(right: int, seen: int) -> float | None:
    """Share of golds right; None where none was seen."""
    return right / seen if seen else None
