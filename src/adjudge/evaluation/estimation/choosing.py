"""Which items people should label next for a target: drawn, with chances that are written down.

An item is worth labelling for a target if its truth is in doubt and matters: the spread of what it
may add, sigma_i = sd of adds[i, truth] under what is believed of it. Drawing items with chances in
proportion to their spread makes the variance of the estimate least (Neyman 1934; for predictions,
Zrnic and Candes 2024, arXiv:2403.03208). Beliefs may be wrong, so that a part of an item's range
counts beside it: two fifths as long as no gold has calibrated beliefs, an eighth once it has. No
item that matters goes without a chance, and none gets a weight that its range does not bound.
Because the chances are known, the estimate stays valid whatever they are.

A batch has a fixed size: items in a random order, taken at even steps along the sum of their
chances (Madow 1949). A later batch is drawn among the items that have no gold, as a round of its
own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.names import look_up
from adjudge.data.runs import Run
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.estimation.crossfit import CrossFit
from adjudge.evaluation.estimation.estimate import Plan, target_of
from adjudge.evaluation.estimation.expansion import RANGE, Target

_Floats = NDArray[np.float64]
_FEWEST = 2
_CALIBRATED = 50  # gold items from which beliefs are known to mean what they say
_SURE = 0.125  # of an item's range that then counts beside its spread


def choose_items(
    fit: CrossFit,
    name: str,
    budget: int,
    *,
    gold: Gold | None = None,
    runs: Sequence[Run] = (),
    plan: Plan | None = None,
) -> Any:
    """A table of the items to label, with the chance of each; earlier gold stands before them.

    Columns: item, topic and document if known, gold (empty where it is asked for), label and
    probability by the consensus, sampling_probability, sampling_round.
    """
    how = plan if plan is not None else Plan()
    target = target_of(name, fit.consensus, runs, how)
    table = fit.consensus.judgments
    known = np.full(table.item_count, -1, dtype=np.int16)
    if gold is not None:
        known = np.where(table.counts_per_item > 0, gold.align(table), -1).astype(np.int16)
    chance = _chances(fit, target, known, budget, how)
    taken = draw(chance, how.seed)
    earlier, rounds = _earlier(fit, gold, known, len(target.item))
    item = np.concatenate([earlier[0], target.item[taken]])
    told = np.concatenate([earlier[1], chance[taken]])
    turn = np.concatenate([rounds, np.full(len(taken), int(rounds.max(initial=0)) + 1)])
    return _table(fit, item, known, told, turn)


def _chances(
    fit: CrossFit, target: Target, known: NDArray[np.int16], budget: int, plan: Plan
) -> _Floats:  # (member,)
    """The chance of each of the target's items to be drawn; 0 where gold is known."""
    have = known[target.item] >= 0
    belief = fit.consensus.posterior
    if have.sum() >= plan.folds:
        belief = fit.beliefs(known, folds=plan.folds, seed=plan.seed)
    belief = np.array(belief[target.item])
    told = belief.copy()
    told[have] = np.eye(belief.shape[1])[known[target.item][have]]
    sure = target.is_sum and have.sum() >= _CALIBRATED
    size = np.sqrt(target.expand(told, None).doubt(belief, _SURE if sure else RANGE))
    size[have] = 0.0
    able = int((size > 0).sum())
    if budget < _FEWEST:
        raise BadSetting("budget", budget, f"at least {_FEWEST} items")
    if able < budget:
        raise BadData(
            f"{able:,} items matter to {target.name} and have no gold; wanted at least the budget "
            f"of {budget:,}"
        )
    return shared_out(size, budget)


def shared_out(size: _Floats, budget: int) -> _Floats:  # (member,)
    """Chances in proportion to sizes that add up to the budget, none above 1."""
    chance = np.zeros(len(size))
    sure = np.zeros(len(size), dtype=np.bool_)
    while True:
        left = budget - int(sure.sum())
        chance = np.where(sure, 1.0, left * size / max(float(size[~sure].sum()), 1e-300))
        beyond = ~sure & (chance >= 1.0)
        if not beyond.any():
            return np.asarray(chance)
        sure |= beyond


def draw(chance: _Floats, seed: int) -> NDArray[np.int64]:  # (drawn,)
    """Items drawn with their chances, as many as the chances add up to."""
    random = np.random.default_rng([seed, 7])
    order = random.permutation(len(chance))
    ends = np.cumsum(chance[order])
    count = round(float(ends[-1]))
    steps = random.random() + np.arange(count)
    taken = np.searchsorted(ends * (count / ends[-1]), steps, side="right")
    return np.sort(order[np.minimum(taken, len(order) - 1)])


def _earlier(
    fit: CrossFit, gold: Gold | None, known: NDArray[np.int16], size: int
) -> tuple[tuple[NDArray[np.int64], _Floats], NDArray[np.int64]]:
    """Earlier gold: items and chances, and rounds; without chances, a random draw of them all."""
    item = np.flatnonzero(known >= 0)
    chance = np.full(len(item), len(item) / max(size, 1))
    rounds = np.ones(len(item), dtype=np.int64)
    if gold is not None and gold.sampling is not None:
        where = look_up(gold.items, fit.consensus.judgments.items)
        spread = np.full(len(known) + 1, np.nan)
        spread[where] = gold.sampling
        chance = spread[item]
        turn = np.ones(len(known) + 1, dtype=np.int64)
        if gold.round is not None:
            turn[where] = gold.round
        rounds = turn[item]
    return (item, chance), rounds


def _table(
    fit: CrossFit,
    item: NDArray[np.int64],
    known: NDArray[np.int16],
    chance: _Floats,
    rounds: NDArray[np.int64],
) -> Any:
    """The table that people fill in."""
    consensus, judgments = fit.consensus, fit.consensus.judgments
    at = pa.array(item)
    truths = pa.array(consensus.scale.truths, pa.large_string())
    columns: dict[str, Any] = {"item": judgments.items.take(at)}
    if judgments.topics is not None and judgments.topic is not None:
        columns["topic"] = judgments.topics.take(pa.array(judgments.topic[item]))
    if judgments.documents is not None:
        columns["document"] = judgments.documents.take(at)
    columns["gold"] = truths.take(pa.array(known[item], mask=known[item] < 0))
    columns["believed"] = truths.take(pa.array(consensus.choice[item]))
    columns["probability"] = pa.array(consensus.probability[item])
    columns["sampling_probability"] = pa.array(chance)
    columns["sampling_round"] = pa.array(rounds)
    return pa.table(columns)
