"""Sweeps over judgments that an engine holds: parameters in, expected counts out.

Parameters become whole numbers before a sweep and sums become counts after it, on one machine:
logarithms are taken once, and sums of whole numbers can be added up in any order, so that no split
of the work changes a bit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import Scale
from adjudge.engines._part import Coded, Part, zeros
from adjudge.engines.engine import Counts, Parameters, Tables, Task
from adjudge.kernels import confusion as kernels
from adjudge.kernels.fixed import LIKELIHOOD, LOG

_HALF = 20  # bits


@dataclass(frozen=True, slots=True, eq=False)
class CountCells:
    """The judgments of each label by each judge, or by all judges together."""

    shared: bool

    def run(self, part: Part) -> tuple[Any, ...]:  # (judge * label,) or (label,)
        """Count the cells of a part."""
        step = 0 if self.shared else part.labels

        def count(start: int, stop: int, cells: NDArray[np.int64]) -> None:
            offsets, judge, label = part.given
            rows = slice(offsets[start], offsets[stop])
            kernels.count_cells(judge[rows], label[rows], step, cells)

        judges = 1 if self.shared else part.judgments.judge_count
        return part.add_up(count, judges * part.labels)


@dataclass(frozen=True, slots=True, eq=False)
class _Expect:
    """Expected counts under tables; without tables, with vote shares for posteriors.

    Tables of types have more classes than there are truths, and gold does not overrule them.
    """

    tables: Tables | None
    shared: bool

    def run(self, part: Part, posterior: NDArray[np.float64] | None = None) -> tuple[Any, ...]:
        """Return counts, classes and log-likelihood; write the posterior (item, truth)."""
        tables, where = self.tables, part.where
        truths = part.truths if tables is None else len(tables.prior) // part.topics + 1
        cells = (1 if self.shared else part.judgments.judge_count) * part.labels
        step = 0 if self.shared else part.labels
        kernel: Any
        inputs: Any
        if tables is None:
            credit = part.judgments.scale.stands.T.astype(np.int64).reshape(-1)
            kernel, inputs = kernels.expectation(truths, voting=True), (credit, credit)
        else:
            kernel, inputs = kernels.expectation(truths), (tables.prior, tables.ratio)
            if tables.of_types:
                where = (part.topic, part.topic_step, np.full(1, -1, dtype=np.int16), 0)
        out = np.empty((1, 1)) if posterior is None else posterior

        def expect(start: int, stop: int, *sums: NDArray[np.int64]) -> None:
            given = (part.given, start, stop, where, inputs, step)
            sums[2][0] += kernel(*given, *sums[:2], out, posterior is not None)

        return part.add_up(expect, cells * (truths - 1), part.topics * (truths - 1), 1)


@dataclass(frozen=True, slots=True, eq=False)
class _CountAgainst:
    """How often each judge gave each label to items of each kind."""

    kinds: int

    def run(self, part: Part, reference: NDArray[np.int16]) -> tuple[Any, ...]:
        """Count (judge, kind, label) in a part; items whose reference is -1 are left out."""

        def count(start: int, stop: int, counts: NDArray[np.int64]) -> None:
            kernels.count_against(*part.given, start, stop, reference, counts)

        return part.add_up(count, (part.judgments.judge_count, self.kinds, part.labels))


@dataclass(frozen=True, slots=True, eq=False)
class _WeighVotes:
    """Weighted votes of every item, and the counts under them, in shares."""

    weight: NDArray[np.int64]  # (judge,)
    plain: NDArray[np.int64]  # (judge,)
    flip: NDArray[np.bool_]  # (judge,)

    def run(
        self, part: Part, posterior: NDArray[np.float64], fallback: NDArray[np.bool_]
    ) -> tuple[Any, ...]:
        """Return counts (judge, truth, label); write posteriors and the items that fell back."""
        truth_of = np.array(part.judgments.scale.truth_of, dtype=np.int64)
        judges = (truth_of, self.weight, self.plain, self.flip)
        kernel: Any = kernels.weigh_votes

        def vote(start: int, stop: int, counts: NDArray[np.int64]) -> None:
            kernel(part.given, start, stop, part.where[2:], *judges, posterior, fallback)
            kernels.count_under(*part.given, start, stop, posterior, counts)

        return part.add_up(vote, (part.judgments.judge_count, part.truths, part.labels))


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """The numbers of judgments and items that stay the same from sweep to sweep."""

    scale: Scale
    cells: NDArray[np.int64]  # (judge * label,), or (label,) where judges share one confusion
    items_of: NDArray[np.int64]  # (topic,)

    def make_tables(self, parameters: Parameters) -> tuple[Tables, float]:
        """Make the tables of a sweep, and the log-likelihood of truth 0, which it leaves out."""
        logs = kernels.log_units(parameters.confusion)  # (judge, truth, label)
        prevalence = kernels.log_units(parameters.prevalence)  # (topic, truth)
        truths = prevalence.shape[1]
        ratio = zeros(len(self.cells) * (truths - 1))
        prior = np.empty(len(self.items_of) * (truths - 1), dtype=np.int64)
        kernels.relative(logs, ratio)
        kernels.relative(prevalence[:, :, None], prior)
        base = sum_products(self.cells, logs[:, 0].reshape(-1))
        base += sum_products(self.items_of, prevalence[:, 0])
        return Tables(prior, ratio, parameters.of_types), base / LOG

    def read_counts(
        self, base: float, shares: NDArray[np.int64], classes: NDArray[np.int64], gain: Any = 0
    ) -> Counts:
        """Turn sums into numbers of judgments and items, with truth 0 put back."""
        labels = len(self.scale.labels)
        truths = len(classes) // len(self.items_of) + 1
        confusion = np.empty((len(self.cells) // labels, truths, labels))
        kinds = np.empty((len(self.items_of), truths))
        kernels.numbers(shares, self.cells, confusion)
        kernels.numbers(classes, self.items_of, kinds[:, :, None])
        likelihood = float(np.sum(gain)) / LIKELIHOOD + base
        return Counts(classes=kinds, confusion=confusion, log_likelihood=likelihood)


def sum_products(numbers: NDArray[np.int64], logs: NDArray[np.int64]) -> int:
    """Sum numbers times logs in units exactly, so that the order of judges changes no bit.

    Logs are taken in two halves: each product fits, for up to 10^11 judgments in all.
    """
    high = int(numbers @ (logs >> _HALF))
    low = int(numbers @ (logs & ((1 << _HALF) - 1)))
    return (high << _HALF) + low


class Sweeps(ABC):
    """Judgments loaded into an engine, ready to be swept; an engine says how a task is run."""

    def __init__(self, judgments: Coded, by_topic: bool, shared: bool) -> None:
        self.judgments, self.shared = judgments, shared
        items_of = np.array([judgments.item_count])
        if by_topic and judgments.topic is not None:
            items_of = np.bincount(judgments.topic, minlength=judgments.topic_count)
        (cells,) = self.run(CountCells(shared))
        self._frame = _Frame(judgments.scale, cells, items_of)

    @abstractmethod
    def run(
        self,
        task: Task,
        read: NDArray[Any] | None = None,
        into: tuple[NDArray[Any], ...] = (),
    ) -> tuple[Any, ...]:
        """Run a task on all judgments, and return its sums.

        ``read`` has one row per item for the task to read, and so have the arrays ``into`` which
        it writes.
        """

    def write_rows(self, task: Task, columns: int) -> NDArray[np.float64]:  # (item, column)
        """Collect what a task writes of every item."""
        out = np.empty((self.judgments.item_count, columns))
        self.run(task, into=(out,))
        return out

    def votes(self) -> Counts:
        """Count with vote shares for posteriors: where every model starts."""
        return self._frame.read_counts(math.nan, *self.run(_Expect(None, self.shared)))

    def expect(self, parameters: Parameters) -> Counts:
        """Return expected counts under the parameters, in one pass."""
        tables, base = self._frame.make_tables(parameters)
        return self._frame.read_counts(base, *self.run(_Expect(tables, self.shared)))

    def posterior(
        self, parameters: Parameters | None, *, own: bool
    ) -> tuple[NDArray[np.float64], Counts]:  # (item, truth)
        """Return the posterior of every item (without parameters: vote shares), with its counts.

        With ``own`` the counts are each judge's, even where judges share one confusion.
        """
        frame = self._frame
        if self.shared and own:
            frame = replace(frame, cells=self.run(CountCells(False))[0])
            if parameters is not None:  # a sweep that counts by judge also reads by judge
                shape = (self.judgments.judge_count, *parameters.confusion.shape[1:])
                confusion = np.broadcast_to(parameters.confusion, shape)
                parameters = Parameters(prevalence=parameters.prevalence, confusion=confusion)
        tables, base = (None, math.nan) if parameters is None else frame.make_tables(parameters)
        posterior = np.empty((self.judgments.item_count, len(self.judgments.scale.truths)))
        sums = self.run(_Expect(tables, self.shared and not own), into=(posterior,))
        return posterior, frame.read_counts(base, *sums)

    def cells(self) -> NDArray[np.int64]:  # (judge, label)
        """Count the judgments of each label by each judge."""
        cells = self.run(CountCells(False))[0] if self.shared else self._frame.cells
        return np.asarray(cells.reshape(-1, len(self.judgments.scale.labels)))

    def against(
        self, reference: NDArray[np.int16], kinds: int
    ) -> NDArray[np.int64]:  # (judge, kind, label)
        """Count how often each judge gave each label to items of each kind.

        ``reference`` (item,) is the kind of each item, -1 for items that are left out.
        """
        return np.asarray(self.run(_CountAgainst(kinds), reference)[0])

    def weigh(
        self,
        weight: NDArray[np.int64],  # (judge,)
        plain: NDArray[np.int64],  # (judge,)
        flip: NDArray[np.bool_],  # (judge,)
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
        """Weigh votes: shares (item, truth), items that fell back, (judge, truth, label) counts.

        An item whose judges have no weight falls back to ``plain`` weights; judges whom ``flip``
        marks vote for the other one of two truths. Counts are in shares.
        """
        posterior = np.empty((self.judgments.item_count, len(self.judgments.scale.truths)))
        fallback = np.zeros(self.judgments.item_count, dtype=np.bool_)
        (counts,) = self.run(_WeighVotes(weight, plain, flip), into=(posterior, fallback))
        return posterior, fallback, np.asarray(counts)

    def tables(self, parameters: Parameters) -> Tables:
        """Turn parameters into the whole numbers that tasks read."""
        return self._frame.make_tables(parameters)[0]

    def counts(self, shares: NDArray[np.int64], classes: NDArray[np.int64]) -> Counts:
        """Turn the shares (judge * label * (truth - 1)) and classes of a task into counts."""
        return self._frame.read_counts(0.0, shares, classes)
