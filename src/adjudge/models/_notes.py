"""Notes on a fit that several models make, with what to do about it."""

from __future__ import annotations

from adjudge.data.source import count_of


def describe_unconverged(iterations: int) -> str:
    """The note of a fit that ended at its limit of iterations."""
    return f"not converged after {count_of(iterations, 'iteration')}: raise iterations"
