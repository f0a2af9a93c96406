"""Parameters as the whole numbers that sweeps read, and sums of whole numbers back as counts.

Every engine goes through here before and after a sweep, on one machine: logarithms are taken once,
and what travels and is added up are whole numbers, so that no split of the work changes a bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import Scale
from adjudge.engines.engine import Counts, Parameters
from adjudge.kernels import confusion as kernels
from adjudge.kernels.fixed import LIKELIHOOD, LOG, log_units


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """What a sweep reads beside the judgments: log ratios to truth 0, in units."""

    prior: NDArray[np.int64]  # (topic * (truth - 1),)
    ratio: NDArray[np.int64]  # (judge * label * (truth - 1),)
    of_types: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What a sweep over some of the items leaves, in whole units: added up in any order."""

    counts: NDArray[np.int64]  # (judge * label * (truth - 1),)
    classes: NDArray[np.int64]  # (topic * (truth - 1),)
    likelihood: int

    def add(self, other: Sums) -> Sums:
        """The sums of both; the arrays of this one are used up."""
        np.add(self.counts, other.counts, out=self.counts)
        np.add(self.classes, other.classes, out=self.classes)
        return Sums(self.counts, self.classes, self.likelihood + other.likelihood)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The numbers of judgments and items that stay the same from sweep to sweep."""

    scale: Scale
    cells: NDArray[np.int64]  # (judge * label,), or (label,) where judges share one confusion
    items_of: NDArray[np.int64]  # (topic,)

    def tables(self, parameters: Parameters) -> tuple[Tables, float]:
        """The tables of a sweep, and the log-likelihood of truth 0, which sweeps leave out."""
        logs = log_units(parameters.confusion)  # (judge, truth, label)
        prevalence = log_units(parameters.prevalence)  # (topic, truth)
        truths = prevalence.shape[1]
        ratio = zeros(len(self.cells) * (truths - 1))
        prior = np.empty(len(self.items_of) * (truths - 1), dtype=np.int64)
        kernels.relative(logs, ratio)
        kernels.relative(prevalence[:, :, None], prior)
        base = product_of(self.cells, logs[:, 0].reshape(-1))
        base += product_of(self.items_of, prevalence[:, 0])
        return Tables(prior, ratio, parameters.of_types), base / LOG

    def counts(self, sums: Sums, base: float) -> Counts:
        """Sums as numbers of judgments and items, truth 0 put back."""
        labels = len(self.scale.labels)
        truths = len(sums.classes) // len(self.items_of) + 1
        confusion = np.empty((len(self.cells) // labels, truths, labels))
        kinds = np.empty((len(self.items_of), truths))
        kernels.numbers(sums.counts, self.cells, confusion)
        kernels.numbers(sums.classes, self.items_of, kinds[:, :, None])
        likelihood = sums.likelihood / LIKELIHOOD + base
        return Counts(classes=kinds, confusion=confusion, log_likelihood=likelihood)


def product_of(numbers: NDArray[np.int64], logs: NDArray[np.int64]) -> int:
    """The sum of numbers times logs in units, exactly, so that the order of judges changes no bit.

    Logs are taken in two halves: each product fits, for up to 10^11 judgments in all.
    """
    high = int(numbers @ (logs >> _HALF))
    low = int(numbers @ (logs & ((1 << _HALF) - 1)))
    return (high << _HALF) + low


_HALF = 20  # bits
_LINE = 64  # bytes that a processor fetches at once


def zeros(size: int) -> NDArray[np.int64]:
    """Zeros that begin where a line of the processor's cache does.

    Rows of a table are then in as few lines as can be, which is what a sweep waits for once the
    tables are larger than the cache.
    """
    room = np.zeros(size + _LINE // 8, dtype=np.int64)
    skip = -room.ctypes.data % _LINE // 8
    return room[skip : skip + size]


def spelt_out(parameters: Parameters, judges: int) -> Parameters:
    """Parameters with a shared confusion given to every judge.

    The kernel has one step for reading and counting, so a sweep that counts by judge reads so too.
    """
    spelt = np.broadcast_to(parameters.confusion, (judges, *parameters.confusion.shape[1:]))
    return Parameters(prevalence=parameters.prevalence, confusion=spelt)
