"""Adaptive closing and routing from what is known of judges: pure functions on arrays.

The last fit gives the prior of the truth and each judge's confusion. With the judgments of an item
they give the posterior of its truth, the judgments that it needs now, and how informative one more
by the present judge would be. Where judges err together, judgments count as fewer
(``adjudge.models.dependence``), so that what is believed between two fits is what a fit would
believe. No database, no clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adjudge.collect.rules.policy import Policy
from adjudge.data.scale import Scale
from adjudge.evaluation.stopping import Stopping, gain_of
from adjudge.models.dependence import count_effective, count_further

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus


_ACCURACY = 0.7  # of a judge of whom nothing is known, before the first fit
_FLOOR = 1e-3  # of a rate: no single judgment outweighs all others
_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_KINDS: dict[str, Any] = {  # what is stored of a fit
    **dict.fromkeys(("prior", "pooled", "confusion"), np.float64),
    "judges": np.int64,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Knowledge:
    """What a fit knows of the truth and of judges; one it does not know is as the pool is."""

    prior: _Floats  # (truth,)
    pooled: _Floats  # (truth, label)
    judges: _Integers  # (judge,) ids, ascending
    confusion: _Floats  # (judge, truth, label)
    correlation: float = 0.0  # that damps products: see ``_damping.match_damping``
    fitted: bool = True
    _logs: _Floats = field(init=False, repr=False)  # (judge + 1, truth, label), the pool last
    _log_prior: _Floats = field(init=False, repr=False)  # (truth,)

    def __post_init__(self) -> None:
        every = np.concatenate([self.confusion, self.pooled[None]])
        object.__setattr__(self, "_logs", np.log(_raise_zeros(every)))
        object.__setattr__(self, "_log_prior", np.log(_raise_zeros(self.prior)))

    def rows_of(self, judges: NDArray[np.integer[Any]]) -> _Integers:
        """The rows of judges among the confusions; that of the pool for who is not known."""
        if not len(self.judges):
            return np.zeros(len(judges), dtype=np.int64)
        at = np.minimum(np.searchsorted(self.judges, judges), len(self.judges) - 1)
        return np.where(self.judges[at] == judges, at, len(self.judges)).astype(np.int64)

    def confusion_of(self, judge: int) -> _Floats:  # (truth, label)
        """The confusion of one judge."""
        row = int(self.rows_of(np.array([judge]))[0])
        return self.pooled if row == len(self.judges) else self.confusion[row]

    def posterior_of(
        self,
        items: int,
        item: NDArray[np.integer[Any]],  # (judgment,) places from 0
        judge: NDArray[np.integer[Any]],  # (judgment,) ids
        label: NDArray[np.integer[Any]],  # (judgment,) codes
    ) -> _Floats:  # (item, truth)
        """The posterior of the truth of so many items, from their judgments.

        Confusions are multiplied, and the product of v of them raised to 1 / (1 + (v - 1) r).
        """
        logs = self._logs[self.rows_of(judge), :, label]  # (judgment, truth)
        sums = np.empty((items, len(self.prior)))
        for truth in range(len(self.prior)):
            sums[:, truth] = np.bincount(item, weights=logs[:, truth], minlength=items)
        counts = np.bincount(item, minlength=items)
        power = count_effective(counts, self.correlation) / np.maximum(counts, 1)
        return _normal(sums * power[:, None] + self._log_prior)

    def to_json(self) -> dict[str, Any]:
        """As it is stored."""
        arrays = {name: np.round(getattr(self, name), 6).tolist() for name in _KINDS}
        return {**arrays, "correlation": self.correlation}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Knowledge:
        """From what is stored."""
        arrays: dict[str, Any] = {
            name: np.array(stored[name], dtype=kind) for name, kind in _KINDS.items()
        }
        arrays["confusion"] = arrays["confusion"].reshape(-1, *arrays["pooled"].shape)
        # There is no correlation in what was stored before it.
        return cls(**arrays, correlation=float(stored.get("correlation", 0.0)))


def _raise_zeros(rates: _Floats) -> _Floats:
    """Rates without zeros, that still add up to one over the last axis."""
    raised = np.maximum(rates, _FLOOR)
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _normal(logs: _Floats) -> _Floats:  # (item, truth)
    """Posteriors from sums of logarithms."""
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def neutral(scale: Scale) -> Knowledge:
    """What is taken for granted before any fit: every truth as likely, every judge right in 70%.

    The rest of their labels is spread evenly over those of another truth, or of none.
    """
    right = scale.stands
    truths, labels = right.shape
    hits, misses = right.sum(axis=1, keepdims=True), (~right).sum(axis=1, keepdims=True)
    pooled = np.where(
        right, _ACCURACY / np.maximum(hits, 1), (1 - _ACCURACY) / np.maximum(misses, 1)
    )
    return Knowledge(
        prior=np.full(truths, 1 / truths),
        pooled=np.asarray(pooled / pooled.sum(axis=1, keepdims=True)),
        judges=np.empty(0, dtype=np.int64),
        confusion=np.empty((0, truths, labels)),
        fitted=False,
    )


def read_knowledge(consensus: Consensus, ids: NDArray[np.integer[Any]]) -> Knowledge:
    """What a fit knows; ``ids`` are the judges' ids, in the order of its judges.

    The prior is that of work: the mix of gold is a requester's choice, and says nothing of it.
    """
    shape = (len(ids), *consensus.confusion.shape[1:])
    shared = len(consensus.prevalence) == 1
    prior = consensus.prevalence[0] if shared else consensus.overall_prevalence
    if consensus.known is not None:
        work = consensus.posterior[consensus.known < 0]  # (item, truth)
        prior = (work.sum(axis=0) + prior) / (len(work) + 1)
    counts = consensus.counts.sum(axis=0) + 0.5  # (truth, label)
    order = np.argsort(ids, kind="stable")
    return Knowledge(
        prior=np.asarray(prior, dtype=np.float64),
        pooled=np.asarray(counts / counts.sum(axis=1, keepdims=True)),
        judges=np.asarray(ids, dtype=np.int64)[order],
        confusion=np.array(np.broadcast_to(consensus.confusion, shape), dtype=np.float64)[order],
        correlation=match_damping(consensus),
    )


def rule_of(policy: Policy) -> Stopping:
    """When an item of an adaptive project closes."""
    return Stopping(
        least=policy.least_judgments, most=policy.most_of_an_item, sure=policy.sure
    )  # fmt: skip


def needed_of(
    rule: Stopping,
    trusted: NDArray[np.integer[Any]],  # (item,)
    leased: NDArray[np.integer[Any]],  # (item,)
    probability: _Floats,  # (item,)
) -> _Integers:  # (item,)
    """How many judgments items need now, those in judges' hands among them.

    One that is sure, or has the most, needs no more than it has and is being given: it closes as
    soon as nothing of it is out. Any other needs the least, and beyond that one at a time, so that
    each is asked for in the light of those before.
    """
    engaged = trusted + leased
    more = np.maximum(engaged, np.maximum(trusted + 1, rule.least))
    return np.where(rule.closed(trusted, probability), engaged, more).astype(np.int64)


def order_of(
    rule: Stopping,
    trusted: NDArray[np.integer[Any]],  # (item,)
    posterior: _Floats,  # (item, truth)
    confusion: _Floats,  # (truth, label)
    correlation: float = 0.0,
) -> _Integers:
    """Items in the order in which a judge of this confusion should judge them.

    Those below the least first, the fewest first; then those that gain most from them; last those
    that need nothing. A gain is scaled by n_eff(v + 1) - n_eff(v): where judges err together, the
    tenth judgment is less informative than the third.
    """
    gain = gain_of(posterior, confusion) * count_further(trusted, correlation)
    first = rule.queue(trusted, posterior.max(axis=1), gain)
    rest = np.ones(len(trusted), dtype=np.bool_)
    rest[first] = False
    return np.concatenate([first, np.flatnonzero(rest)])


_TRIED = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
_COMPARED = 20_000  # that are compared, spread over all


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
    sums, counts, posterior = _products(consensus)
    if not len(counts):
        return 0.0
    prior = np.log(np.maximum(consensus.overall_prevalence, _FLOOR))
    losses = []
    for tried in _TRIED:
        logs = prior + (count_effective(counts, tried) / counts)[:, None] * sums
        logs -= logs.max(axis=1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        losses.append(-float(np.mean(np.einsum("ik,ik->i", posterior, logs))))
    return _TRIED[int(np.argmin(losses))]


def _products(consensus: Consensus) -> tuple[_Floats, NDArray[np.int64], _Floats]:
    """Of some items: the sums of log confusions, judgments, and the fit's probabilities."""
    judgments = consensus.judgments
    counts = judgments.counts_per_item
    open_ones = counts > 1
    if consensus.known is not None:
        open_ones &= consensus.known < 0
    chosen = np.flatnonzero(open_ones)
    chosen = chosen[:: max(1, -(-len(chosen) // _COMPARED))]
    many = counts[chosen].astype(np.int64)
    if not len(chosen):
        return np.empty((0, 0)), many, np.empty((0, 0))
    rows, _ = judgments.rows_of(chosen)
    rates = np.maximum(consensus.confusion, _FLOOR)
    logs = np.log(rates / rates.sum(axis=2, keepdims=True))  # (judge, truth, label)
    logs = np.broadcast_to(logs, (judgments.judge_count, *logs.shape[1:]))
    terms = logs[judgments.judge[rows], :, judgments.label[rows]]  # (judgment, truth)
    return np.add.reduceat(terms, np.cumsum(many) - many, axis=0), many, consensus.posterior[chosen]
