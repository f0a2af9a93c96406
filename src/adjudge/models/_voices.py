"""Judgments that weigh less than one, through sweeps that know no weights.

What a judgment weighs depends on its judge, on how many of their family judged the item, and on how
often they said the same of it. So each such case becomes a judge of its own here, a *voice*: sweeps
see judgments by voices, each voice's log-probabilities are the judge's times its weight, and counts
of voices are folded back into those of judges. Where no judgment weighs less than one there is
nothing to wrap, and no bit changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.families import Families
from adjudge.data.judgments import Judgments
from adjudge.kernels import item_types as kernels
from adjudge.kernels.fixed import WEIGHT

_Whole = NDArray[np.int64]
_BLOCK = 1_000_000  # judgments looked through at a time


@dataclass(frozen=True, slots=True, eq=False)
class Voices:
    """Judges as sweeps see them."""

    judge_of: NDArray[np.int32]  # (voice,)
    weight: NDArray[np.float64]  # (voice,)
    judges: int
    items: _Whole  # (judge,) how many items each judged

    @property
    def units(self) -> _Whole:  # (voice,)
        """The weights in whole units."""
        return np.rint(self.weight * WEIGHT).astype(np.int64)

    def fold(self, counts: NDArray[Any], *, weighted: bool) -> NDArray[np.float64]:  # (judge, ...)
        """Counts of voices as counts of judges."""
        if len(self.judge_of) == self.judges:
            return np.asarray(counts, dtype=np.float64)
        folded = np.zeros((self.judges, *counts.shape[1:]))
        shape = (-1,) + (1,) * (counts.ndim - 1)
        np.add.at(
            folded, self.judge_of, counts * self.weight.reshape(shape) if weighted else counts
        )
        return folded


def voices_of(
    judgments: Judgments, families: Families, *, repeats: bool
) -> tuple[Judgments, Voices]:
    """Judgments by voices. ``repeats``: several judgments of an item by one judge are one voice."""
    judges = judgments.judge_count
    whole = judgments.counts_per_judge
    same = Voices(np.arange(judges, dtype=np.int32), np.ones(judges), judges, whole)
    if not repeats and not families.any:
        return judgments, same
    company = np.empty(len(judgments), dtype=np.uint8)
    repeated = np.empty(len(judgments), dtype=np.uint8)
    items = np.zeros(judges, dtype=np.int64)
    kernels.count_company(
        judgments.offsets,
        judgments.judge,
        judgments.label,
        0,
        judgments.item_count,
        families.family,
        np.zeros(judges, dtype=np.int64),
        np.zeros((judges, len(judgments.scale.labels)), dtype=np.int64),
        np.zeros(judges, dtype=np.int8),
        company,
        repeated,
        items,
    )
    share = families.share
    if not repeats:  # alone in their family, they may say the same thing twice
        alone = np.bincount(families.family, minlength=judges)[families.family] == 1
        share = np.where(alone, 0.0, share)
        repeated[:] = 1
    rows = _shared_rows(company, repeated)
    rows = rows[(share[judgments.judge[rows]] > 0) | (repeated[rows] > 1)]
    if not rows.size:
        return judgments, same
    code = (judgments.judge[rows].astype(np.int64) << 16) + (company[rows].astype(np.int64) << 8)
    case, which = np.unique(code + repeated[rows], return_inverse=True)
    who, others, times = case >> 16, (case >> 8) % 256 - 1, case % 256
    judge_of = np.concatenate([same.judge_of, who.astype(np.int32)])
    weight = np.concatenate([same.weight, 1.0 / (times * (1.0 + others * share[who]))])
    spoken = judgments.judge.copy()
    spoken[rows] = (judges + which).astype(np.int32)
    names = judgments.judges.take(pa.array(judge_of))
    return replace(judgments, judge=spoken, judges=names), Voices(judge_of, weight, judges, items)


def _shared_rows(company: NDArray[np.uint8], repeated: NDArray[np.uint8]) -> _Whole:
    """Where a judgment is not alone, looked for in blocks: flags of all would be many."""
    found = [
        begin
        + np.flatnonzero(
            (company[begin : begin + _BLOCK] > 1) | (repeated[begin : begin + _BLOCK] > 1)
        )
        for begin in range(0, len(company), _BLOCK)
    ]
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)
