"""How each judge did on gold, and the counts that their skill is measured on.

Gold decides where a judge has enough of it: the consensus may be wrong where judges err together.
The consensus only fills in truths of which the judge has few gold judgments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldEvidence:
    """Judgments of gold items, and what else speaks for a judge's skill."""

    golds: _Floats  # (judge, truth, label) judgments of gold items, honeypots too
    counts: _Floats  # (judge, truth, label) what skill is measured on
    decides: NDArray[np.bool_]  # (judge,) who has gold judgments enough


def weigh_gold(consensus: Consensus, gold: Gold | None, least: int) -> GoldEvidence:
    """Count gold judgments, of gold that the fit was given and of other gold alike.

    With ``least`` gold judgments or more they decide. Then each truth with fewer than ``least`` of
    them is filled up to that number by the judge's judgments of it according to the consensus. With
    fewer gold judgments, those that the fit did not know take the place of as many others.
    """
    judgments = consensus.judgments
    given = np.full(judgments.item_count, -1, dtype=np.int16)
    fitted = given if consensus.known is None else consensus.known
    if gold is not None:
        given = gold.align(judgments)
    golds = _count(consensus, np.where(given >= 0, given, fitted))
    new = _count(consensus, np.where(fitted >= 0, np.int16(-1), given))
    decides = golds.sum(axis=(1, 2)) >= max(least, 1)
    evidence = consensus.evidence
    lacking = np.maximum(least - golds.sum(axis=2), 0.0)
    fill = np.minimum(lacking / np.maximum(evidence.sum(axis=2), 1e-300), 1.0)
    left = 1.0 - new.sum(axis=(1, 2)) / np.maximum(judgments.counts_per_judge, 1)
    return GoldEvidence(
        golds=golds,
        counts=np.where(
            decides[:, None, None],
            golds + evidence * fill[:, :, None],
            new + evidence * left[:, None, None],
        ),
        decides=decides,
    )


def _count(consensus: Consensus, known: NDArray[np.int16]) -> _Floats:  # (judge, truth, label)
    """The judgments of items whose truth is known."""
    judgments, shape = consensus.judgments, consensus.counts.shape
    truth = known[judgments.item].astype(np.int64)
    cell = (judgments.judge.astype(np.int64) * shape[1] + truth) * shape[2] + judgments.label
    counts = np.bincount(cell[truth >= 0], minlength=int(np.prod(shape)))
    return counts.reshape(shape).astype(np.float64)
