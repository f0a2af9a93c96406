"""Accuracy against the number of judgments an item has, after C. Liu and Y.-M. Wang (2012).

Of each item at most so many judgments are kept, drawn at random; each model is fitted to what is
left, without gold, and scored on the gold items. More judgments than an item has cannot be drawn:
beyond what most items have, the curve is flat because there is nothing to add.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.engines.engine import Engine
from adjudge.errors import BadSetting
from adjudge.evaluation._resampling import shuffled_places
from adjudge.evaluation.against_gold import evaluate
from adjudge.evaluation.scores import wilson
from adjudge.models.model import Model, Progress, Step

_MOST = 6  # points of a curve


def _thin_judgments(judgments: Judgments, ratings: int, seed: int) -> Judgments:
    """At most so many judgments of each item, drawn at random; items and judges all stay."""
    place = shuffled_places(judgments, np.random.default_rng(seed))
    return judgments.select(judgments=place < ratings, keep_empty=True)


def _rating_steps(judgments: Judgments, gold: Gold, most: int = _MOST) -> tuple[int, ...]:
    """Numbers of judgments from 1 to what a quarter of the judged gold items still have."""
    counts = judgments.counts_per_item[gold.align(judgments) >= 0]
    counts = counts[counts > 0]
    if not len(counts):
        return ()
    highest = max(1, int(np.quantile(counts, 0.75)))
    steps = np.unique(np.rint(np.geomspace(1, highest, min(most, highest))).astype(np.int64))
    return tuple(int(step) for step in steps)


def accuracy_by_ratings(
    models: Mapping[str, Model],
    judgments: Judgments,
    gold: Gold,
    *,
    ratings: Sequence[int] | None = None,
    runs: int = 1,
    seed: int = 0,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Any:
    """A table of method, ratings, accuracy, low, high, runs: the mean of runs, Wilson's 95%.

    Every model sees the same judgments in a run.
    """
    steps = _rating_steps(judgments, gold) if ratings is None else tuple(ratings)
    if runs < 1:
        raise BadSetting("runs", runs, "at least one run")
    if any(step < 1 for step in steps):
        raise BadSetting("ratings", min(steps), "at least one judgment an item")
    right = np.zeros((len(models), len(steps)))
    scored = np.zeros((len(models), len(steps)))
    for at, step in enumerate(steps):
        for run in range(runs):
            if progress is not None:
                progress(Step("thinning", at * runs + run, len(steps) * runs, ""))
            less = _thin_judgments(judgments, step, seed + run)
            for row, model in enumerate(models.values()):
                result = evaluate(model.fit(less, engine=engine), gold)
                right[row, at] += int(result.correct.sum())
                scored[row, at] += result.scored
    return _table(tuple(models), steps, right / runs, scored / runs, runs)


def _table(
    methods: tuple[str, ...],
    steps: tuple[int, ...],
    right: NDArray[np.float64],  # (method, step)
    scored: NDArray[np.float64],  # (method, step)
    runs: int,
) -> Any:
    share = right / np.maximum(scored, 1)
    bounds = [
        wilson(float(a), float(b), 0.95) if b else (float("nan"), float("nan"))
        for a, b in zip(right.reshape(-1), scored.reshape(-1), strict=True)
    ]
    return pa.table(
        {
            "method": np.repeat(methods, len(steps)).tolist(),
            "ratings": pa.array(np.tile(np.array(steps, dtype=np.int64), len(methods))),
            "accuracy": pa.array(share.reshape(-1)),
            "low": pa.array([low for low, _ in bounds], pa.float64()),
            "high": pa.array([high for _, high in bounds], pa.float64()),
            "runs": pa.array([runs] * share.size, pa.int64()),
        }
    )
