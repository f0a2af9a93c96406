"""Draws that a crowd and a panel are made of: streams of a seed, labels, times, and the truth."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes
from adjudge.errors import BadSetting

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
    topics = None
    if judgments.topics is not None and judgments.topic is not None:
        topics = judgments.topics.take(pa.array(judgments.topic))
    return Gold(
        items=judgments.items,
        value=truth,
        values=judgments.scale.truths,
        topics=topics,
        honeypot=honeypot,
        source="truth",
    )
