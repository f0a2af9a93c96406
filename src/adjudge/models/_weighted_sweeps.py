"""Sweeps and chains of effective judges, as their judges: see ``adjudge.models._families``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines.engine import Counts, Engine, Parameters, Sampler, Tables, Tally, Task
from adjudge.engines.sweeps import Sweeps
from adjudge.kernels.fixed import SHARE
from adjudge.models._families import EffectiveJudges

_Ints = NDArray[np.int64]


class WeightedSweeps(Sweeps):
    """Sweeps by judges over judgments by effective judge."""

    def __init__(
        self,
        engine: Engine,
        judgments: Judgments,  # by effective judge
        effective: EffectiveJudges,
        known: NDArray[np.int16] | None,
        *,
        by_topic: bool,
        shared: bool,
    ) -> None:
        self.effective, self.shared, self.judgments = effective, shared, judgments
        self.by_topic = by_topic and judgments.topic is not None
        self.inner: Sweeps = engine.load(judgments, known, by_topic=by_topic)

    def tables(self, parameters: Parameters) -> Tables:
        """The parameters, of effective judges as the integers that tasks read."""
        return self.inner.tables(self._split(parameters))

    def counts(self, shares: _Ints, classes: _Ints) -> Counts:
        """Shares of effective judges that a task left, as weighted counts."""
        return self._folded(self.inner.counts(shares, classes), own=True, weighted=True)

    def votes(self) -> Counts:
        """Counts with weighted vote shares for posteriors."""
        return self._folded(self._count_votes()[1], own=not self.shared, weighted=True)

    def expect(self, parameters: Parameters) -> Counts:
        """Expected counts under the parameters."""
        counts = self.inner.expect(self._split(parameters))
        return self._folded(counts, own=not self.shared, weighted=True)

    def posterior(
        self, parameters: Parameters | None, *, own: bool
    ) -> tuple[NDArray[np.float64], Counts]:
        """The posterior of every item; counts of all judgments alike, to measure judges by."""
        if parameters is not None:
            posterior, counts = self.inner.posterior(self._split(parameters), own=True)
            return posterior, self._folded(counts, own=own or not self.shared, weighted=False)
        posterior, counts = self._count_votes()
        return posterior, self._folded(counts, own=own or not self.shared, weighted=False)

    def _count_votes(self) -> tuple[NDArray[np.float64], Counts]:
        """Weighted vote shares, and counts of effective judges under them."""
        units = self.effective.units
        none = np.zeros(len(units), dtype=np.bool_)
        posterior, _, shares = self.inner.weigh(units, units, none)
        counts = Counts(
            classes=self._classes(posterior),
            confusion=shares / SHARE,
            log_likelihood=float("nan"),
        )
        return posterior, counts

    def cells(self) -> _Ints:
        """How many judgments there are of each label by each judge."""
        return self.effective.fold(self.inner.cells(), weighted=False).astype(np.int64)

    def against(self, reference: NDArray[np.int16], kinds: int) -> _Ints:
        """How often each judge gave each label to items of each kind."""
        return self.effective.fold(self.inner.against(reference, kinds), weighted=False).astype(
            np.int64
        )

    def weigh(
        self, weight: _Ints, plain: _Ints, flip: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], _Ints]:
        """Weighted votes, of weights of judges times those of effective judges."""
        effective = self.effective

        def split(given: _Ints) -> _Ints:
            return np.rint(given[effective.judge_of] * effective.weight).astype(np.int64)

        posterior, fallback, counts = self.inner.weigh(
            split(weight), split(plain), flip[effective.judge_of]
        )
        return posterior, fallback, effective.fold(counts, weighted=False).astype(np.int64)

    def run(
        self,
        task: Task,
        read: NDArray[Any] | None = None,
        into: tuple[NDArray[Any], ...] = (),
    ) -> tuple[Any, ...]:
        """Run a task, which sees effective judges."""
        return self.inner.run(task, read, into)

    def _split(self, parameters: Parameters) -> Parameters:
        """Parameters by effective judge: rates to the power of the weight."""
        confusion = parameters.confusion
        if len(confusion) == 1 and self.effective.judges != 1:
            confusion = np.broadcast_to(confusion, (self.effective.judges, *confusion.shape[1:]))
        split = confusion[self.effective.judge_of]
        first = self.effective.judges  # those before weigh one
        split[first:] **= self.effective.weight[first:, None, None]
        return replace(parameters, confusion=split)

    def _folded(self, counts: Counts, *, own: bool, weighted: bool) -> Counts:
        folded = self.effective.fold(counts.confusion, weighted=weighted)
        if not own:
            folded = folded.sum(axis=0, keepdims=True)
        return replace(counts, confusion=folded)

    def _classes(self, posterior: NDArray[np.float64]) -> NDArray[np.float64]:  # (topic, truth)
        """Items of each truth, added up in integer units so that their order changes nothing."""
        units = np.rint(posterior * SHARE).astype(np.int64)
        topic = self.judgments.topic
        if not self.by_topic or topic is None:
            return np.asarray(units.sum(axis=0, keepdims=True) / SHARE)
        sums = np.zeros((self.judgments.topic_count, units.shape[1]), dtype=np.int64)
        np.add.at(sums, topic, units)
        return sums / SHARE


class WeightedSampler:
    """A sampler by judges over judgments by effective judge.

    Weighted counts are rounded to integers, which is what draws of learnt priors read.
    """

    def __init__(self, inner: Sampler, effective: EffectiveJudges) -> None:
        self.inner, self.effective = inner, effective

    def start(self, chain: int, choice: NDArray[np.int16]) -> Tally:
        """Counts under a given truth of each item."""
        return self._folded(self.inner.start(chain, choice))

    def draw(self, chain: int, iteration: int, prior: _Ints, ratio: _Ints, keep: float) -> Tally:
        """Draw every truth, and count under it."""
        effective = self.effective
        table = ratio.reshape(effective.judges, -1)[effective.judge_of] * effective.weight[:, None]
        split = np.rint(table).astype(np.int64).reshape(-1)
        return self._folded(self.inner.draw(chain, iteration, prior, split, keep))

    def mean(self, chain: int) -> NDArray[np.float64]:
        """The posteriors that a chain added up."""
        return self.inner.mean(chain)

    def restore(self, chain: int, mean: NDArray[np.float64]) -> None:
        """Go on from posteriors that a chain added up before."""
        self.inner.restore(chain, mean)

    def _folded(self, tally: Tally) -> Tally:
        counts = np.rint(self.effective.fold(tally.counts, weighted=True)).astype(np.int64)
        return replace(tally, counts=counts)
