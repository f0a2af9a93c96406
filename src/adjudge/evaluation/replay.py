"""Collection replayed on existing judgments: adaptive closing, and fewer judgments per item.

Existing judgments are treated as not yet collected. Each item first gets the least number of them,
drawn at random; then the rule collects, a few items at a time, the judgments with the highest
expected information, by the item's doubt, the judge's confusion and, where judges err together, the
number of judgments so far. The model is refitted after every round, and items close by the rule. It
is compared with as many judgments drawn at random, and with a fixed number per item.

``accuracy_by_ratings`` keeps at most so many judgments per item, drawn at random, fits each model
to what is left, without gold, and scores it on the gold items, after C. Liu and Y.-M. Wang (2012).
Beyond what most items have, the curve is flat because there is nothing to add.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, takes_tables
from adjudge.data.names import look_up
from adjudge.engines.engine import Engine
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation._resampling import shuffled_places
from adjudge.evaluation.against_gold import evaluate
from adjudge.evaluation.scores import wilson
from adjudge.evaluation.stopping import Stopping, gain_of
from adjudge.models.dependence import count_further
from adjudge.models.model import Model, Progress, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """One replay: judgments used and accuracy, by the rule, at random, and with a fixed number."""

    seed: int
    fixed_judgments: int
    fixed_accuracy: float
    adaptive_judgments: int
    adaptive_accuracy: float
    random_accuracy: float  # of as many judgments as the rule used, drawn at random

    @property
    def saved(self) -> float:
        """The share of the fixed design's judgments that the rule saved."""
        return 1.0 - self.adaptive_judgments / self.fixed_judgments


@takes_tables
def replays(
    judgments: JudgmentsLike,
    gold: GoldLike,
    *,
    model: Model,
    rule: Stopping,
    seeds: int = 20,
    rounds: int = 20,
    budget: float = 1.0,
    progress: Progress | None = None,
) -> list[Replay]:
    """Replay the collection in several orders of the judgments; accuracy is on gold items.

    ``budget`` is the share of the fixed design's judgments at which collection always ends.
    """
    if not 0 < budget <= 1:
        raise BadSetting("budget", budget, "a share above 0, at most 1")
    if seeds < 1 or rounds < 1:
        raise BadSetting("seeds" if seeds < 1 else "rounds", min(seeds, rounds), "1 or more")
    known = look_up(gold.items, judgments.items)
    if not (known >= 0).any():
        raise BadData("no gold item has a judgment", expected="gold to measure by")
    truth = gold.codes(judgments.scale)
    found = []
    for seed in range(1, seeds + 1):
        found.append(_replay(judgments, known, truth, model, rule, seed, rounds, budget))
        if progress is not None:
            progress(Step("replay", seed, seeds, f"{found[-1].saved:.0%} saved"))
    return found


def _replay(
    judgments: Judgments,
    known: NDArray[np.int32],
    truth: NDArray[Any],
    model: Model,
    rule: Stopping,
    seed: int,
    rounds: int,
    budget: float,
) -> Replay:
    rng = np.random.default_rng(seed)
    place = shuffled_places(judgments, rng)

    def fit(mask: NDArray[np.bool_]) -> Consensus:
        return model.fit(judgments.select(judgments=mask, keep_empty=True))

    def right(consensus: Consensus) -> float:
        there = known >= 0
        return float(np.mean(consensus.choice[known[there]] == truth[there]))

    fixed, taken = place < rule.most, place < rule.least
    limit = int(budget * fixed.sum())
    step = max(1, -(-int(limit - taken.sum()) // rounds))
    consensus = fit(taken)
    while True:
        room = min(step, limit - int(taken.sum()))
        chosen = _choose(consensus, judgments, taken, rule)[: max(room, 0)]
        if not len(chosen):
            break
        taken[chosen] = True
        consensus = fit(taken)
    at_random = np.zeros(len(judgments), dtype=np.bool_)
    at_random[rng.permutation(np.flatnonzero(fixed))[: int(taken.sum())]] = True
    return Replay(
        seed=seed,
        fixed_judgments=int(fixed.sum()),
        fixed_accuracy=right(fit(fixed)),
        adaptive_judgments=int(taken.sum()),
        adaptive_accuracy=right(consensus),
        random_accuracy=right(fit(at_random)),
    )


def _choose(
    consensus: Consensus, judgments: Judgments, taken: NDArray[np.bool_], rule: Stopping
) -> NDArray[np.int64]:
    """Choose the next judgments, best first: per open item that of the most informative judge."""
    here = judgments.item
    counts = np.bincount(here[taken], minlength=judgments.item_count)
    closed = rule.closed(counts, consensus.probability)
    left = np.flatnonzero(~taken & ~closed[here])
    item = here[left]
    confusion = np.broadcast_to(
        consensus.confusion, (judgments.judge_count, *consensus.confusion.shape[1:])
    )
    gain = gain_of(consensus.posterior[item], confusion[judgments.judge[left]])
    gain *= count_further(counts, consensus.correlation or 0.0)[item]
    order = np.lexsort((-gain, item))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = item[order][1:] != item[order][:-1]
    best = order[first]
    return np.asarray(left[best[np.argsort(-gain[best], kind="stable")]], dtype=np.int64)


_MOST = 6  # points of a curve


def _thin_judgments(judgments: Judgments, ratings: int, seed: int) -> Judgments:
    """Keep at most so many judgments of each item, drawn at random; items and judges stay."""
    place = shuffled_places(judgments, np.random.default_rng(seed))
    return judgments.select(judgments=place < ratings, keep_empty=True)


def _rating_steps(judgments: Judgments, gold: Gold, most: int = _MOST) -> tuple[int, ...]:
    """Return numbers of judgments from 1 to what a quarter of the judged gold items have."""
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
    """Return a table of method, ratings, accuracy, low, high, runs: the mean of runs, Wilson's 95%.

    Every model sees the same judgments in a run.
    """
    steps = _rating_steps(judgments, gold) if ratings is None else tuple(ratings)
    if runs < 1:
        raise BadSetting("runs", runs, "at least one run")
    if any(step < 1 for step in steps):
        raise BadSetting("ratings", min(steps), "at least one judgment per item")
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
    share, scored = right / np.maximum(scored, 1), scored / runs
    pairs = zip(share.flat, scored.flat, strict=True)
    bounds = [wilson(p * n, n) if n else (None, None) for p, n in pairs]
    return pa.table(
        {
            "method": np.repeat(tuple(models), len(steps)).tolist(),
            "ratings": np.tile(np.array(steps, dtype=np.int64), len(models)),
            "accuracy": share.reshape(-1),
            "low": pa.array([low for low, _ in bounds], pa.float64()),
            "high": pa.array([high for _, high in bounds], pa.float64()),
            "runs": pa.array([runs] * share.size, pa.int64()),
        }
    )
