"""Ready-made simulated data: the demonstration, and copies of judges."""

from __future__ import annotations

from dataclasses import replace
from string import ascii_lowercase

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.scale import Scale
from adjudge.errors import BadSetting, UnknownName
from adjudge.simulation._crowd import (
    PARTS,
    Crowd,
    Simulated,
    as_seen,
    labels_of,
    rng_of,
    streams_of,
    work,
)
from adjudge.simulation._judges import Matrix
from adjudge.simulation._population import Population

MODEL_NAME = "llm-judge-8b"

MODEL: Matrix = ((0.72, 0.2, 0.08), (0.08, 0.67, 0.25), (0.02, 0.1, 0.88))  # too kind to 0 and 1


def demo(seed: int = 7) -> Simulated:
    """A small crowd with something of everything: 400 items in 20 topics, 40 judges, 3 grades.

    39 people with a long tail of activity, 4 to 6 on each item: most are skilled, some strict or
    kind, six are spammers, one is lazy and one an adversary. A language model judged every item,
    at a second each, and is too kind. A fifth of the items are gold, 20 of them honeypots.
    """
    crowd = Crowd(
        items=400,
        population=Population.parse(
            "skilled:27,biased(-1):2,biased(1):2,spammer:4,spammer(prevalence):2,"
            "lazy(0):1,adversary:1"
        ),
        scale=Scale.parse("0<1<2"),
        prevalence=(0.55, 0.3, 0.15),
        topics=20,
        concentration=8.0,
        per_item=(4, 6),
        activity="zipf",
        steepness=0.7,
        difficulty=(1.0, 5.0),
        gold=0.2,
        honeypots=0.05,
        timed=True,
    )
    return _with_model(crowd.make(seed), np.array([MODEL]), seed)


def copy_judge(simulated: Simulated, name: str, copies: int = 1) -> Simulated:
    """The same judgments, with copies of a judge, who say the same: NAME-b, NAME-c, ..."""
    old = simulated.judgments
    names = old.judges.to_pylist()
    if name not in names:
        raise UnknownName("judge", name, names)
    if not 0 <= copies <= len(ascii_lowercase) - 1:
        raise BadSetting("copies", copies, f"0 to {len(ascii_lowercase) - 1}")
    code = names.index(name)
    own = np.flatnonzero(old.judge == code)
    row = np.sort(np.concatenate([np.arange(len(old)), np.repeat(own, copies)]), kind="stable")
    again = row == np.concatenate([[-1], row[:-1]])
    place = np.arange(len(row)) - np.flatnonzero(~again)[row]  # 0 for the judgment itself
    added = np.bincount(old.item[own], minlength=old.item_count) * copies
    letters = pa.array([f"{name}-{letter}" for letter in ascii_lowercase[1 : copies + 1]])
    judgments = replace(
        old,
        judges=pa.concat_arrays([old.judges, letters.cast(pa.large_string())]),
        offsets=old.offsets + np.concatenate([[0], np.cumsum(added)]),
        judge=np.where(place > 0, old.judge_count + place - 1, old.judge[row]).astype(np.int32),
        label=old.label[row],
        time=None if old.time is None else old.time[row],
        seconds=None if old.seconds is None else old.seconds[row],
        families=None,
        family=None,
    )
    return replace(
        simulated,
        judgments=judgments,
        confusion=np.concatenate(
            [simulated.confusion, np.repeat(simulated.confusion[[code]], copies, 0)]
        ),
        kinds=(*simulated.kinds, *["copy"] * copies),
    )


def _with_model(simulated: Simulated, confusion: NDArray[np.float64], seed: int) -> Simulated:
    """The same judgments and one more judge, who judged every item, last of its judgments."""
    rng = rng_of(streams_of(seed, len(PARTS) + 1)[-1])  # a stream that the crowd does not use
    old = simulated.judgments
    alone = np.zeros(old.item_count, dtype=np.int32)
    seen = simulated.truth.value
    if simulated.difficulty is not None:
        seen = as_seen(seen, simulated.difficulty, simulated.prevalence, old.topic, rng)
    label = labels_of(confusion, alone, seen, rng)
    time, seconds = work(alone, np.array([1.0]), rng)
    ends = old.offsets[1:]
    judgments = replace(
        old,
        judges=pa.concat_arrays([old.judges, pa.array([MODEL_NAME], pa.large_string())]),
        offsets=old.offsets + np.arange(old.item_count + 1),
        judge=np.insert(old.judge, ends, old.judge_count),
        label=np.insert(old.label, ends, label),
        time=None if old.time is None else np.insert(old.time, ends, time),
        seconds=None if old.seconds is None else np.insert(old.seconds, ends, seconds),
    )
    return replace(
        simulated,
        judgments=judgments,
        confusion=np.concatenate([simulated.confusion, confusion]),
        kinds=(*simulated.kinds, "model"),
    )
