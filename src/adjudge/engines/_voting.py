"""Weighted votes over a part of the judgments, and labels counted against a reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.engines._part import Part
from adjudge.kernels import voting


def count_against(
    part: Part, reference: NDArray[np.int16], kinds: int
) -> NDArray[np.int64]:  # (judge, kind, label)
    """How often each judge gave each label where the item's reference is of each kind.

    Items whose reference is -1 are left out.
    """
    shape = (part.judgments.judge_count, kinds, part.labels)

    def count(start: int, stop: int, counts: NDArray[np.int64]) -> None:
        voting.count_against(*part.given, start, stop, reference, counts.reshape(shape))

    return part.add_up(int(np.prod(shape)), count).reshape(shape)


def weigh_votes(
    part: Part,
    weight: NDArray[np.int64],  # (judge,)
    plain: NDArray[np.int64],  # (judge,)
    flip: NDArray[np.bool_],  # (judge,)
    posterior: NDArray[np.float64],  # (item, truth), written
    fallback: NDArray[np.bool_],  # (item,), written
) -> NDArray[np.int64]:  # (judge, truth, label)
    """Weighted votes of every item, and the counts under them, in shares."""
    truth_of = np.array(part.judgments.scale.truth_of, dtype=np.int64)
    shape = (part.judgments.judge_count, part.truths, part.labels)

    kernel: Any = voting.weigh_votes

    def vote(start: int, stop: int, counts: NDArray[np.int64]) -> None:
        judges = (truth_of, weight, plain, flip)
        kernel(part.given, start, stop, part.where[2:], *judges, posterior, fallback)
        voting.count_under(*part.given, start, stop, posterior, counts.reshape(shape))

    return part.add_up(int(np.prod(shape)), vote).reshape(shape)
