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
from adjudge.engines.engine import Counts, Engine, Parameters, RowTask, Sampler, Sweeps, Tally, Task
from adjudge.engines.tables import Tables
from adjudge.kernels import item_types as kernels
from adjudge.kernels.fixed import SHARE, WEIGHT

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


class VoiceSweeps:
    """Sweeps by judges over judgments by voices."""

    def __init__(
        self,
        engine: Engine,
        judgments: Judgments,  # by voices
        voices: Voices,
        known: NDArray[np.int16] | None,
        *,
        by_topic: bool,
        shared: bool,
    ) -> None:
        self.voices, self.shared, self.judgments = voices, shared, judgments
        self.by_topic = by_topic and judgments.topic is not None
        self.inner: Sweeps = engine.load(judgments, known, by_topic=by_topic)

    def tables(self, parameters: Parameters) -> Tables:
        """The parameters, spoken by voices, as the whole numbers that tasks read."""
        return self.inner.tables(self._spoken(parameters))

    def votes(self) -> Counts:
        """Counts with weighted vote shares for posteriors."""
        return self._folded(self._voted()[1], own=not self.shared, weighted=True)

    def expect(self, parameters: Parameters) -> Counts:
        """Expected counts under the parameters."""
        counts = self.inner.expect(self._spoken(parameters))
        return self._folded(counts, own=not self.shared, weighted=True)

    def posterior(
        self, parameters: Parameters | None, *, own: bool
    ) -> tuple[NDArray[np.float64], Counts]:
        """The posterior of every item; counts of all judgments alike, to measure judges by."""
        if parameters is not None:
            posterior, counts = self.inner.posterior(self._spoken(parameters), own=True)
            return posterior, self._folded(counts, own=own or not self.shared, weighted=False)
        posterior, counts = self._voted()
        return posterior, self._folded(counts, own=own or not self.shared, weighted=False)

    def _voted(self) -> tuple[NDArray[np.float64], Counts]:
        """Weighted vote shares, and counts of voices under them."""
        units = self.voices.units
        none = np.zeros(len(units), dtype=np.bool_)
        posterior, _, shares = self.inner.weigh(units, units, none)
        counts = Counts(
            classes=self._classes(posterior),
            confusion=shares / SHARE,
            log_likelihood=float("nan"),
        )
        return posterior, counts

    def cells(self) -> _Whole:
        """How many judgments there are of each label by each judge."""
        return self.voices.fold(self.inner.cells(), weighted=False).astype(np.int64)

    def against(self, reference: NDArray[np.int16], kinds: int) -> _Whole:
        """How often each judge gave each label to items of each kind."""
        return self.voices.fold(self.inner.against(reference, kinds), weighted=False).astype(
            np.int64
        )

    def weigh(
        self, weight: _Whole, plain: _Whole, flip: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], _Whole]:
        """Weighted votes, of weights of judges times those of voices."""
        voices = self.voices

        def spoken(given: _Whole) -> _Whole:
            return np.rint(given[voices.judge_of] * voices.weight).astype(np.int64)

        posterior, fallback, counts = self.inner.weigh(
            spoken(weight), spoken(plain), flip[voices.judge_of]
        )
        return posterior, fallback, voices.fold(counts, weighted=False).astype(np.int64)

    def ask(self, task: Task) -> tuple[Any, ...]:
        """The sums of a task, which sees voices."""
        return self.inner.ask(task)

    def rows(self, task: RowTask, columns: int) -> NDArray[np.float64]:
        """What a task, which sees voices, writes of every item."""
        return self.inner.rows(task, columns)

    def _spoken(self, parameters: Parameters) -> Parameters:
        """Parameters by voices: rates to the power of the weight."""
        confusion = parameters.confusion
        if len(confusion) == 1 and self.voices.judges != 1:
            confusion = np.broadcast_to(confusion, (self.voices.judges, *confusion.shape[1:]))
        spoken = confusion[self.voices.judge_of]
        first = self.voices.judges  # those before weigh one
        spoken[first:] **= self.voices.weight[first:, None, None]
        return replace(parameters, confusion=spoken)

    def _folded(self, counts: Counts, *, own: bool, weighted: bool) -> Counts:
        folded = self.voices.fold(counts.confusion, weighted=weighted)
        if not own:
            folded = folded.sum(axis=0, keepdims=True)
        return replace(counts, confusion=folded)

    def _classes(self, posterior: NDArray[np.float64]) -> NDArray[np.float64]:  # (topic, truth)
        """Items of each truth, added up in whole units so that their order changes nothing."""
        units = np.rint(posterior * SHARE).astype(np.int64)
        topic = self.judgments.topic
        if not self.by_topic or topic is None:
            return np.asarray(units.sum(axis=0, keepdims=True) / SHARE)
        sums = np.zeros((self.judgments.topic_count, units.shape[1]), dtype=np.int64)
        np.add.at(sums, topic, units)
        return sums / SHARE


class VoiceSampler:
    """A sampler by judges over judgments by voices.

    Weighted counts are rounded to whole judgments, which is what draws of learnt priors read.
    """

    def __init__(self, inner: Sampler, voices: Voices) -> None:
        self.inner, self.voices = inner, voices

    def start(self, chain: int, choice: NDArray[np.int16]) -> Tally:
        """Counts under a given truth of each item."""
        return self._folded(self.inner.start(chain, choice))

    def draw(self, chain: int, iteration: int, prior: _Whole, ratio: _Whole, keep: float) -> Tally:
        """Draw every truth, and count under it."""
        voices = self.voices
        table = ratio.reshape(voices.judges, -1)[voices.judge_of] * voices.weight[:, None]
        spoken = np.rint(table).astype(np.int64).reshape(-1)
        return self._folded(self.inner.draw(chain, iteration, prior, spoken, keep))

    def mean(self, chain: int) -> NDArray[np.float64]:
        """The posteriors that a chain added up."""
        return self.inner.mean(chain)

    def restore(self, chain: int, mean: NDArray[np.float64]) -> None:
        """Go on from posteriors that a chain added up before."""
        self.inner.restore(chain, mean)

    def _folded(self, tally: Tally) -> Tally:
        counts = np.rint(self.voices.fold(tally.counts, weighted=True)).astype(np.int64)
        return replace(tally, counts=counts)
