"""Truths that have traded places, put back: each fit is aligned to the votes it came from.

Truths are exchangeable in the likelihood of a free confusion: a fit in which Bad and Good have
traded places explains the judgments as well. A start from votes nearly always ends with truths
where they belong, but not from a handful of items. So after a fit without gold its truths are put
into the order in which labels mean them as often as possible, as M. Stephens (2000,
doi:10.1111/1467-9868.00265) puts draws into the order nearest a reference: an assignment problem
on the table of expected truths against labels given, which is the vote's say.

Where topics have a prevalence each, judges and topics that nothing connects are apart: data sets
of their own, each with an order of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale

_LEAST = 0.5  # judgments that an order must win over the one there is


@dataclass(frozen=True, slots=True, eq=False)
class Separate:
    """Which judges, topics and items belong together; 0 for all where everything does."""

    count: int
    judge: NDArray[np.int64]  # (judge,)
    topic: NDArray[np.int64]  # (topic,)
    item: NDArray[np.int64]  # (item,)


def separate(judgments: Judgments, *, by_topic: bool, topics: int) -> Separate:
    """The parts that share neither judge nor prevalence."""
    judges, items = judgments.judge_count, judgments.item_count
    if not by_topic or judgments.topic is None or topics < 2:
        none = (np.zeros(size, dtype=np.int64) for size in (judges, topics, items))
        return Separate(1, *none)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pair = np.unique(judgments.topic[judgments.item].astype(np.int64) * judges + judgments.judge)
    size = topics + judges
    ties = coo_array((np.ones(len(pair)), (pair // judges, topics + pair % judges)), (size, size))
    count, part = connected_components(ties, directed=False)
    part = part.astype(np.int64)
    return Separate(int(count), part[topics:], part[:topics], part[:topics][judgments.topic])


@dataclass(frozen=True, slots=True, eq=False)
class TruthOrder:
    """The order of the truths in every part, and where each is applied."""

    places: NDArray[np.int64]  # (part, truth)
    parts: Separate

    @property
    def switched(self) -> int:
        """How many parts have truths that traded places."""
        return int((self.places != np.arange(self.places.shape[1])).any(axis=1).sum())

    def judges(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values (..., judge, truth, label) in order."""
        place = self.places[self.parts.judge] if values.shape[-3] > 1 else self.places[:1]
        return np.take_along_axis(values, _lead(place[:, :, None], values.ndim), axis=-2)

    def topics(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values (..., topic, truth) in order."""
        return np.take_along_axis(
            values, _lead(self.places[self.parts.topic], values.ndim), axis=-1
        )

    def items(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values (item, truth) in order."""
        if self.parts.count == 1:
            return np.ascontiguousarray(values[:, self.places[0]])
        return np.take_along_axis(values, self.places[self.parts.item], axis=1)


def order_of(
    counts: NDArray[np.float64], scale: Scale, parts: Separate
) -> TruthOrder | None:  # (judge, truth, label)
    """The order in which truths agree best with the labels given; None if they are in it.

    A part changes only if the new order puts a judgment more, or half of one, in its place.
    """
    from scipy.optimize import linear_sum_assignment

    truths = len(scale.truths)
    sums = np.zeros((parts.count, *counts.shape[1:]))
    np.add.at(sums, parts.judge, counts)
    table = np.zeros((parts.count, truths, truths))  # (part, truth as found, truth by label)
    for label, truth in enumerate(scale.truth_of):
        if truth >= 0:
            table[:, :, truth] += sums[:, :, label]
    places = np.tile(np.arange(truths), (parts.count, 1))
    for part in np.flatnonzero(_doubtful(table)):
        found, named = linear_sum_assignment(table[part], maximize=True)
        if table[part][found, named].sum() > np.trace(table[part]) + _LEAST:
            places[part, named] = found
    order = TruthOrder(places, parts)
    return order if order.switched else None


def _doubtful(table: NDArray[np.float64]) -> NDArray[np.bool_]:  # (part,)
    """Parts in which some label is given more often to another truth than to the one it names."""
    own = np.diagonal(table, axis1=1, axis2=2)
    return np.asarray((table > own[:, None, :]).any(axis=(1, 2)))


def _lead(places: NDArray[np.int64], axes: int) -> NDArray[np.int64]:
    return places.reshape((1,) * (axes - places.ndim) + places.shape)


def describe_order(order: TruthOrder | None, scale: Scale) -> tuple[str, ...]:
    """A sentence on what was put back, where something was."""
    if order is None:
        return ()
    if order.parts.count > 1:
        return (
            f"label switching in {order.switched:,} of {order.parts.count:,} separate parts of the "
            "data: aligned to the votes",
        )
    moved = ", ".join(
        f"{scale.truths[found]} is now {scale.truths[at]}"
        for at, found in enumerate(order.places[0])
        if at != found
    )
    return (f"label switching: aligned to the votes ({moved})",)
