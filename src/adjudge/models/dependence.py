"""What a judgment counts for where judges err together, as a number of independent ones.

    n_eff(v) = v / (1 + (v - 1) rho)

of v judgments of an item whose correlation is rho; one more adds n_eff(v + 1) - n_eff(v). Rules
that multiply judges' confusions, such as the live closing of items and a plan's made crowds, know
of no dependence: they raise the product to n_eff(v) / v instead. The rho they go by is the one
under which that comes nearest to the probabilities of the fit, which does know; a fit that takes
judges for independent has rho 0. Light to import: the live collection asks at every page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus

_TRIED = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
_ITEMS = 20_000  # that are looked at, spread over all
_FLOOR = 1e-3  # of a rate: no single judgment outweighs all others

_Floats = NDArray[np.float64]


def count_effective(judgments: NDArray[Any], correlation: float) -> _Floats:
    """So many judgments of an item as a number of independent ones."""
    many = np.asarray(judgments, dtype=np.float64)
    return np.asarray(many / (1.0 + np.maximum(many - 1.0, 0.0) * correlation))


def count_further(judgments: NDArray[Any], correlation: float) -> _Floats:
    """What one more judgment adds to so many, as a number of independent ones; 1 for the first."""
    many = np.asarray(judgments, dtype=np.float64)
    return count_effective(many + 1.0, correlation) - count_effective(many, correlation)


def weaken(judgments: NDArray[Any], correlation: float) -> _Floats:
    """The power to which a product over so many judgments is raised: n_eff(v) / v."""
    many = np.asarray(judgments, dtype=np.float64)
    return np.asarray(1.0 / (1.0 + np.maximum(many - 1.0, 0.0) * correlation))


def working_correlation(consensus: Consensus) -> float:
    """The correlation under which confusions, multiplied, come nearest to a fit's probabilities.

    Nearest by the mean cross-entropy over items with two judgments or more whose truth is not
    given. 0 for a model that takes judges for independent.
    """
    if consensus.effective is None or not len(consensus.judgments):
        return 0.0
    sums, counts, wanted = _products(consensus)
    if not len(counts):
        return 0.0
    prior = np.log(np.maximum(consensus.overall_prevalence, _FLOOR))
    losses = []
    for tried in _TRIED:
        logs = prior + weaken(counts, tried)[:, None] * sums
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
    begins = np.cumsum(many) - many
    rows = np.repeat(judgments.offsets[chosen] - begins, many) + np.arange(int(many.sum()))
    rates = np.maximum(consensus.confusion, _FLOOR)
    logs = np.log(rates / rates.sum(axis=2, keepdims=True))  # (judge, truth, label)
    logs = np.broadcast_to(logs, (judgments.judge_count, *logs.shape[1:]))
    told = logs[judgments.judge[rows], :, judgments.label[rows]]  # (judgment, truth)
    return np.add.reduceat(told, begins, axis=0), many, consensus.posterior[chosen]
