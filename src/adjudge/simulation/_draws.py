"""Draws that crowds and panels consist of: streams of a seed, judges, labels, times.

The design says which judges judge which item. No judge judges an item twice, however unequal the
judges' activity. The judges of an item are those of successive sampling (Plackett-Luce): draw
judges one after another by their activity and pass over whoever was drawn before, until there are
enough. That is what happens here, for a block of items at once: draw as many as are needed with
replacement, keep the first of each, draw again as many as are missing, and so on. Since never more
are drawn than are missing, the rounds are the same stream of draws cut in pieces, and nothing is
approximate. Where few draws would be new (a judge with most of the activity, or most judges
wanted), the rest comes from exponential keys instead: of all judges not yet kept, those with the
smallest ``Exp(1) / activity``, which is the same distribution.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes
from adjudge.errors import BadSetting

ACTIVITIES = ("even", "zipf", "lognormal")
_ROUNDS = 24  # of drawing again, before the keys
_KEYS = 1 << 22  # (item, judge) keys held at a time
_START = 1_767_225_600.0  # the first judge comes after 2026-01-01 00:00 UTC

_WEEK = 7 * 86_400.0


def streams_of(seed: int, count: int) -> list[np.random.SeedSequence]:
    """Independent streams of one seed."""
    if seed < 0:
        raise BadSetting("seed", seed, "a whole number, 0 or more")
    return np.random.SeedSequence(seed).spawn(count)


def rng_of(stream: np.random.SeedSequence) -> np.random.Generator:
    """The generator of one stream."""
    return np.random.Generator(np.random.PCG64(stream))


def as_seen(
    truth: Codes,  # (judgment,)
    difficulty: NDArray[np.float64],  # (judgment,)
    prevalence: NDArray[np.float64],  # (topic, truth)
    topic: Codes | None,  # (judgment,)
    rng: np.random.Generator,
) -> Codes:  # (judgment,)
    """The truth as a judge sees it: drawn again with a chance of the item's difficulty."""
    lost = np.flatnonzero(rng.random(len(truth)) < difficulty)
    seen = truth.copy()
    seen[lost] = pick(rng.random(len(lost)), prevalence, None if topic is None else topic[lost])
    return seen


def labels_of(
    confusion: NDArray[np.float64],  # (judge, truth, label)
    judge: Codes,  # (judgment,)
    truth: Codes,  # (judgment,)
    rng: np.random.Generator,
) -> NDArray[np.int16]:  # (judgment,)
    """The label of each judgment: ``y ~ Cat(theta_judge[truth, :])``."""
    judges, truths, labels = confusion.shape
    rows = confusion.reshape(judges * truths, labels)
    return pick(rng.random(len(judge)), rows, judge * np.int32(truths) + truth)


def pick(
    uniform: NDArray[np.float64],  # (draw,)
    shares: NDArray[np.float64],  # (row, category)
    row: Codes | None,  # (draw,), the first row for all if None
) -> NDArray[np.int16]:  # (draw,)
    """The category that each uniform number falls into, by the shares of its row."""
    edges = np.cumsum(shares, axis=1)
    edges /= edges[:, -1:]  # the last is 1 exactly, so that a share of 0 is never picked
    chosen = np.zeros(len(uniform), dtype=np.int16)
    for edge in np.ascontiguousarray(edges[:, :-1].T):
        chosen += uniform >= (edge[0] if row is None else edge[row])
    return chosen


def work(
    judge: Codes,  # (judgment,)
    paces: NDArray[np.float64],  # (judge,)
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # (judgment,)
    """When each judgment was given and the seconds it took, judge after judge without a break."""
    arrival = _START + _WEEK * rng.random(len(paces))
    pace = paces * np.exp(0.3 * rng.standard_normal(len(paces)))
    seconds = pace[judge] * np.exp(0.5 * rng.standard_normal(len(judge)))
    seconds = np.maximum(np.round(seconds, 1), 0.1)
    order = np.argsort(judge, kind="stable")
    running = np.cumsum(seconds[order])
    counts = np.bincount(judge, minlength=len(paces))
    before = np.append(0.0, running)[np.cumsum(counts) - counts]  # (judge,)
    time = np.empty(len(judge), dtype=np.float64)
    time[order] = running + np.repeat(arrival - before, counts)
    return np.round(time, 3), seconds


def truth_of(
    judgments: Judgments,
    truth: Codes,  # (item,)
    honeypot: NDArray[np.bool_] | None = None,  # (item,)
) -> Gold:
    """The truth of every item, as gold."""
    return Gold(
        items=judgments.items,
        value=truth,
        values=judgments.scale.truths,
        topics=judgments.item_columns.get("topic"),
        honeypot=honeypot,
        source="truth",
    )


def activity_of(
    name: str, steepness: float, judges: int, rng: np.random.Generator
) -> NDArray[np.float64]:  # (judge,)
    """Each judge's share of the activity; they sum to 1.

    ``even``: all alike. ``zipf``: the judge of rank r has ``r ** -steepness``, the ranks dealt at
    random. ``lognormal``: ``exp(steepness N(0, 1))``.
    """
    if name == "zipf":
        weight = (1.0 + rng.permutation(judges)) ** -steepness
    elif name == "lognormal":
        weight = np.exp(steepness * rng.standard_normal(judges))
    else:
        weight = np.ones(judges)
    return np.asarray(weight / weight.sum())


def assign(
    counts: NDArray[np.int64],  # (item,)
    activity: NDArray[np.float64],  # (judge,)
    rng: np.random.Generator,
    *,
    repeats: bool = False,
) -> Codes:  # (judgment,)
    """The judges of each item, grouped by item: ``counts`` of them, distinct unless ``repeats``."""
    wide = int(counts.max(initial=0))
    cumulative = _cumulative(activity)
    if repeats:
        return _draw(cumulative, int(counts.sum()), rng)
    if 2 * wide > len(activity):
        judge = np.full((wide, len(counts)), -1, dtype=np.int32)
        _by_keys(judge, activity, rng)
    else:
        judge = _by_rounds(counts, wide, activity, cumulative, rng)
    asked = np.arange(wide) < counts[:, None]  # (item, place)
    return np.ascontiguousarray(judge.T)[asked]


def _by_rounds(
    counts: NDArray[np.int64],  # (item,)
    wide: int,
    activity: NDArray[np.float64],  # (judge,)
    cumulative: NDArray[np.float64] | int,
    rng: np.random.Generator,
) -> Codes:  # (place, item)
    """Distinct judges by drawing with replacement and drawing the duplicates again."""
    # Places beyond an item's count hold codes that no judge has, so that they never look alike.
    nobody = (np.arange(wide, dtype=np.int32) + np.int32(len(activity)))[:, None]
    asked = np.arange(wide)[:, None] < counts
    judge = np.where(asked, _draw(cumulative, asked.size, rng).reshape(asked.shape), nobody)
    left = np.arange(len(counts))
    part = judge
    for _ in range(_ROUNDS):
        again = _seen_before(part)
        wrong = again.any(axis=0)
        if not wrong.any():
            return judge
        left, part, again = left[wrong], part[:, wrong], again[:, wrong]
        part[again] = _draw(cumulative, int(np.count_nonzero(again)), rng)
        judge[:, left] = part
    part[_seen_before(part)] = -1
    _by_keys(part, activity, rng)
    judge[:, left] = part
    return judge


def _seen_before(judge: Codes) -> NDArray[np.bool_]:  # (place, item)
    """Which places hold a judge whom an earlier place of the same item holds."""
    again = np.zeros(judge.shape, dtype=np.bool_)
    for place in range(1, len(judge)):
        np.any(judge[:place] == judge[place], axis=0, out=again[place])
    return again


def _by_keys(
    judge: Codes,  # (place, item), changed: every -1 gets a judge
    activity: NDArray[np.float64],  # (judge,)
    rng: np.random.Generator,
) -> None:
    """Fill the open places of each item with distinct judges by exponential keys."""
    wide, judges = len(judge), len(activity)
    step = max(1, _KEYS // judges)
    for start in range(0, judge.shape[1], step):
        part = judge[:, start : start + step].T  # (item, place)
        keys = rng.standard_exponential((len(part), judges)) / activity
        item, place = np.nonzero((part >= 0) & (part < judges))
        keys[item, part[item, place]] = np.inf  # kept already
        chosen = np.argpartition(keys, wide - 1, axis=1)[:, :wide]
        best = np.argsort(np.take_along_axis(keys, chosen, axis=1), axis=1)
        chosen = np.take_along_axis(chosen, best, axis=1).astype(np.int32)
        missing = part < 0
        rank = np.cumsum(missing, axis=1) - 1  # the first open place gets the smallest key
        part[missing] = np.take_along_axis(chosen, np.maximum(rank, 0), axis=1)[missing]


def _cumulative(activity: NDArray[np.float64]) -> NDArray[np.float64] | int:
    """The running sum of the activity, or only the number of judges where all are alike."""
    if np.all(activity == activity[0]):
        return len(activity)
    total = np.cumsum(activity)
    return np.asarray(total / total[-1])


def _draw(
    cumulative: NDArray[np.float64] | int, count: int, rng: np.random.Generator
) -> Codes:  # (count,)
    """Judges drawn by their activity, with replacement."""
    if isinstance(cumulative, int):
        return rng.integers(cumulative, size=count, dtype=np.int32)
    return np.searchsorted(cumulative, rng.random(count), side="right").astype(np.int32)
