"""The confusion of each judge with intervals, and their mistakes.

A mistake is a label other than the truth: "1 called 2". Rates are shares of a truth: of the items
that are 1, so many are called 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.judges import LEVEL
from adjudge.data.scale import Scale
from adjudge.evaluation.scores import beta_interval, name_codes, tabulate

TAILS = ((1.0 - LEVEL) / 2, (1.0 + LEVEL) / 2)
_FEWEST = 0.5  # expected judgments with a mistake, for it to be listed
_MOST_DRAWS = 500  # draws behind intervals of the cells: enough for a 5% tail, and sorting is slow

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Confusions:
    """The confusion of every judge: its mean, its 90% interval cell by cell, its spread."""

    mean: _Floats  # (judge, truth, label)
    low: _Floats  # (judge, truth, label)
    high: _Floats  # (judge, truth, label)
    sd: _Floats  # (judge, truth, label)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AverageConfusion:
    """The average confusion of judges, and how far judges differ from one another in each cell."""

    mean: _Floats  # (truth, label)
    sd: _Floats  # (truth, label)
    judges: int  # with enough judgments to be counted


def keep_draws(consensus: Consensus) -> NDArray[np.float32] | None:  # (draw, judge, truth, label)
    """Return some draws of every judge's confusion, chains together; None without draws."""
    if consensus.draws is None:
        return None
    every = consensus.draws.confusion
    every = every.reshape(-1, *every.shape[2:])
    return every[:: max(1, len(every) // _MOST_DRAWS)]


def summarise(draws: _Floats) -> _Floats:  # (draw, ...) -> (3, ...)
    """Return the mean of draws and the ends of their 90% interval."""
    return np.stack([draws.mean(axis=0), *np.quantile(draws, TAILS, axis=0)])


def measure_confusions(consensus: Consensus) -> Confusions:
    """Measure the confusion of each judge, from draws if there are any, else from expected counts.

    From counts, a row is Dirichlet under Jeffreys' prior, half a judgment for each label. That
    accounts for the number of judgments, not for the uncertainty of the truth.
    """
    drawn = keep_draws(consensus)
    if drawn is not None:
        low, high = np.quantile(drawn, TAILS, axis=0).astype(np.float64)
        mean = np.asarray(consensus.confusion, dtype=np.float64)
        sd = drawn.std(axis=0, dtype=np.float64)
        return Confusions(mean=mean, low=low, high=high, sd=sd)
    return confusions_from(consensus.evidence)


def confusions_from(counts: _Floats) -> Confusions:
    """Return confusions from counts (judge, truth, label)."""
    if counts.shape[2] == 1:
        ones = np.ones(counts.shape)
        return Confusions(mean=ones, low=ones, high=ones, sd=np.zeros(counts.shape))
    cell = counts + 0.5
    row = cell.sum(axis=2, keepdims=True)
    mean = cell / row
    low, high = beta_interval(cell, row - cell, LEVEL)
    sd = np.sqrt(mean * (1.0 - mean) / (row + 1.0))
    return Confusions(mean=mean, low=low, high=high, sd=sd)


def average_judges(consensus: Consensus, confusions: Confusions, least: int) -> AverageConfusion:
    """Average over judges with ``least`` judgments or more (all judges, if none has)."""
    enough = consensus.judgments.counts_per_judge >= least
    chosen = confusions.mean[enough] if enough.any() else confusions.mean
    return AverageConfusion(mean=chosen.mean(axis=0), sd=chosen.std(axis=0), judges=len(chosen))


@dataclass(frozen=True, slots=True, eq=False)
class Commonest:
    """The commonest mistake of each judge, as codes; -1 for a judge who makes none."""

    truth: NDArray[np.int64]  # (judge,)
    label: NDArray[np.int64]  # (judge,)

    @property
    def known(self) -> NDArray[np.bool_]:  # (judge,)
        """Which judges make mistakes."""
        return self.truth >= 0

    def of(self, cells: _Floats) -> _Floats:  # (judge, truth, label) -> (judge,)
        """Return the value of each judge's cell; of the first cell for judges without mistakes."""
        rows = np.arange(len(self.truth))
        return np.asarray(cells[rows, np.maximum(self.truth, 0), np.maximum(self.label, 0)])


def find_commonest(counts: _Floats, scale: Scale) -> Commonest:
    """Find the commonest mistake of each judge, by counts (judge, truth, label)."""
    wrong = counts * ~scale.stands
    flat = wrong.reshape(len(wrong), -1)
    cell = flat.argmax(axis=1) if flat.shape[1] else np.zeros(len(flat), dtype=np.int64)
    none = flat.max(axis=1, initial=0.0) < _FEWEST
    truth, label = np.divmod(cell, wrong.shape[2])
    return Commonest(np.where(none, -1, truth), np.where(none, -1, label))


def list_mistakes(consensus: Consensus, confusions: Confusions) -> Any:
    """Return one row per mistake and judge, the commonest first: rate, interval, judgments."""
    wrong = consensus.counts * ~consensus.scale.stands
    judge, truth, label = np.nonzero(wrong >= _FEWEST)
    many = wrong[judge, truth, label]
    order = np.lexsort((-many, judge))
    judge, truth, label, many = judge[order], truth[order], label[order], many[order]
    at = (judge, truth, label)
    return pa.table(
        {
            "judge": consensus.judgments.judges.take(pa.array(judge)),
            "truth": name_codes(consensus.scale.truths, truth),
            "label": name_codes(consensus.scale.labels, label),
            "rate": pa.array(confusions.mean[at]),
            "low": pa.array(confusions.low[at]),
            "high": pa.array(confusions.high[at]),
            "judgments": pa.array(many),
        }
    )


def list_common_mistakes(consensus: Consensus, commonest: Commonest) -> Any:
    """Return one row per mistake, the commonest first: its rate over all judgments together.

    ``judges`` is how many judges make no other mistake as often. What many judges do should be
    changed in the guidelines.
    """
    counts = consensus.counts.sum(axis=0)  # (truth, label)
    wrong = counts * ~consensus.scale.stands
    truth, label = np.nonzero(wrong >= _FEWEST)
    order = np.argsort(-wrong[truth, label], kind="stable")
    truth, label = truth[order], label[order]
    known = commonest.known
    judges = tabulate(counts.shape, commonest.truth[known], commonest.label[known])
    return pa.table(
        {
            "truth": name_codes(consensus.scale.truths, truth),
            "label": name_codes(consensus.scale.labels, label),
            "rate": pa.array(pool_rates(consensus.counts)[truth, label]),
            "judges": pa.array(judges[truth, label]),
            "judgments": pa.array(wrong[truth, label]),
        }
    )


def pool_rates(counts: _Floats) -> _Floats:  # (truth, label)
    """Return the confusion of all judgments (judge, truth, label) together."""
    pooled = counts.sum(axis=0) + 0.5
    return np.asarray(pooled / pooled.sum(axis=1, keepdims=True))
