"""The damping of products of confusions between two fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adjudge.models.dependence import count_effective

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus

_TRIED = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
_ITEMS = 20_000  # that are compared, spread over all
_FLOOR = 1e-3  # of a rate: no single judgment outweighs all others

_Floats = NDArray[np.float64]


def match_damping(consensus: Consensus) -> float:
    """The correlation with which damped products of confusions come nearest to a fit.

    It makes up for all that a product of confusions leaves out, so it is not the correlation of
    judges' errors (``Consensus.correlation``), and no ``n_eff`` is reported from it. Only rules
    that multiply confusions between two fits use it.

    Nearest by the mean cross-entropy over items with two judgments or more and no gold. 0 for a
    model that takes judges for independent.
    """
    if consensus.effective is None or not len(consensus.judgments):
        return 0.0
    sums, counts, wanted = _products(consensus)
    if not len(counts):
        return 0.0
    prior = np.log(np.maximum(consensus.overall_prevalence, _FLOOR))
    losses = []
    for tried in _TRIED:
        logs = prior + (count_effective(counts, tried) / counts)[:, None] * sums
        logs -= logs.max(axis=1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        losses.append(-float(np.mean(np.einsum("ik,ik->i", wanted, logs))))
    return _TRIED[int(np.argmin(losses))]


def _products(consensus: Consensus) -> tuple[_Floats, NDArray[np.int64], _Floats]:
    """Of some items: the sums of log confusions, judgments, and the fit's probabilities."""
    judgments = consensus.judgments
    counts = judgments.counts_per_item
    open_ones = counts > 1
    if consensus.known is not None:
        open_ones &= consensus.known < 0
    chosen = np.flatnonzero(open_ones)
    chosen = chosen[:: max(1, -(-len(chosen) // _ITEMS))]
    many = counts[chosen].astype(np.int64)
    if not len(chosen):
        return np.empty((0, 0)), many, np.empty((0, 0))
    rows, _ = judgments.rows_of(chosen)
    rates = np.maximum(consensus.confusion, _FLOOR)
    logs = np.log(rates / rates.sum(axis=2, keepdims=True))  # (judge, truth, label)
    logs = np.broadcast_to(logs, (judgments.judge_count, *logs.shape[1:]))
    told = logs[judgments.judge[rows], :, judgments.label[rows]]  # (judgment, truth)
    return np.add.reduceat(told, np.cumsum(many) - many, axis=0), many, consensus.posterior[chosen]
