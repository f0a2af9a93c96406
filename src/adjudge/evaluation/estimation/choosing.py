"""Items to label next for a target: drawn with inclusion probabilities that are written down.

An item is worth labelling for a target if its truth is uncertain and matters: the spread of what it
may add, sigma_i = sd of adds[i, truth] under the beliefs. Inclusion probabilities in proportion to
the spread make the variance of the estimate least (Neyman 1934; for predictions, Zrnic and Candes
2024, arXiv:2403.03208). Beliefs may be wrong, so a part of an item's range counts next to it: two
fifths until gold has calibrated beliefs, an eighth after that. So every item that matters can be
drawn, and its weight is bounded by its range. Because the probabilities are known, the estimate
stays valid whatever they are.

A batch has a fixed size. For a mean or a share items are ordered by topic, and within a topic by
what they are expected to add, and neighbours compete (the ordered pivotal method, Deville and Tille
1998, doi:10.1093/biomet/85.1.89): every topic and every kind of item has its part, and what
neighbours have in common is no error. Even steps from one start would hit the same place of every
topic where topics are of one size, and no spread would show it. Two consecutive drawn items are a
stratum, whose difference gives the variance. For a ranking the order is random, and at least a
fifth of the probabilities go to documents in no place that counts, since they decide what the best
ranking could have. A later batch is drawn among the items without gold, as a round of its own.

The worth of a draw is known in advance: with probabilities pi the expected variance is
sum (1 - pi) / pi sigma^2, and the table reports how many items drawn at random would have the same.

``draw_gold`` draws items for no particular target: at random, or stratified by doubt about their
labels. Its rows are in random order, so that rows filled in from the top are a random sample too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.columns import roles_of
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.runs import Run
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.estimation._sampling import align_judged, by_item
from adjudge.evaluation.estimation._targets import RANGE, Target
from adjudge.evaluation.estimation.estimate import Plan
from adjudge.evaluation.scores import name_codes
from adjudge.models.cross_calibration import CrossFit

_Floats = NDArray[np.float64]
# Items, inclusion probabilities, rounds and strata, one entry per row of the table.
_Rows = tuple[NDArray[np.int64], _Floats, NDArray[np.int64], NDArray[np.int64]]
_FEWEST = 2
_CALIBRATED = 50  # gold items from which beliefs are known to mean what they say
_SURE = 0.125  # of an item's range that then counts next to its spread
_CLOSE = 1e-9
_OTHERS = 0.2  # of the chances that documents in no place that counts have at least


def choose_items(
    fit: CrossFit,
    name: str,
    budget: int,
    *,
    gold: Gold | None = None,
    runs: Sequence[Run] = (),
    plan: Plan | None = None,
) -> Any:
    """Return a table of the items to label, after those with gold.

    Columns: item, topic and document if known, gold (empty for items to label), believed (the
    label by the consensus) and its probability, sampling_probability, sampling_round and
    sampling_stratum. The schema's metadata has ``labels_at_random``: how many items drawn at
    random are worth as much.
    """
    how = plan if plan is not None else Plan()
    target = how.target(name, fit.consensus, runs)
    consensus = fit.consensus
    known = align_judged(gold, consensus.judgments)
    chance, row, variance = _chances(fit, target, known, budget, how)
    taken, part = _draw(chance, how.seed, row)
    drawn = (target.item[taken], chance[taken], part)
    rows = _with_earlier(consensus.judgments, gold, len(target.item), drawn)
    item = rows[0]
    believed = {
        "believed": name_codes(consensus.scale.truths, consensus.choice[item]),
        "probability": pa.array(consensus.probability[item]),
    }
    chosen = _table(consensus.judgments, known, rows, believed)
    return chosen.replace_schema_metadata({"labels_at_random": str(_at_random(chance, variance))})


def draw_gold(
    judgments: Judgments,
    count: int,
    *,
    gold: Gold | None = None,
    by_doubt: CrossFit | None = None,
    seed: int = 0,
) -> Any:
    """Draw judged items without gold for people to label, as a table with an empty gold column.

    Every item has the same inclusion probability. With ``by_doubt``, a fit without gold, items in
    doubt are drawn more often: their inclusion probability grows with the standard deviation of
    whether their label is right, as in ``choose_items`` for the target ``agreement``.

    Columns: item, topic and document if known, texts of the item if the judgments have any, gold,
    sampling_probability, sampling_round, sampling_stratum. Labels by judges and models are left
    out, since they would influence the person. Earlier gold comes first, then the drawn items in
    random order.
    """
    known = align_judged(gold, judgments)
    row = None
    if by_doubt is None:
        item = np.flatnonzero(judgments.counts_per_item > 0)
        size = (known[item] < 0).astype(np.float64)
        free = int(size.sum())
        if free < _FEWEST:
            raise BadData(
                f"gold can be drawn from {count_of(free, 'judged item')} without gold; expected "
                f"{_FEWEST} at least",
                code="no-items-to-draw",
            )
        if not _FEWEST <= count <= free:
            limits = f"{_FEWEST} to {free:,} (judged items without gold: {free:,})"
            raise BadSetting("count", count, limits)
        chance = _share_out(size, count)
    else:
        plan = Plan(seed=seed)
        target = plan.target("agreement", by_doubt.consensus, ())
        item = target.item
        chance, row, _ = _chances(by_doubt, target, known, count, plan)
    taken, part = _draw(chance, seed, row)
    order = np.random.default_rng([seed, 8]).permutation(len(taken))
    taken, part = taken[order], part[order]
    drawn = (item[taken], chance[taken], part)
    return _table(judgments, known, _with_earlier(judgments, gold, len(item), drawn))


def _at_random(chance: _Floats, variance: _Floats) -> int:  # (member,), (member,)
    """Return how many items drawn at random have the same expected variance as this draw."""
    able = chance > 0
    total = float(variance[able].sum())
    if not total > 0:
        return round(float(chance.sum()))
    left = float(((1.0 / chance[able] - 1.0) * variance[able]).sum())
    return round(float(able.sum()) / (1.0 + left / total))


def _chances(
    fit: CrossFit, target: Target, known: NDArray[np.int16], budget: int, plan: Plan
) -> tuple[_Floats, _Floats | None, _Floats]:  # (member,), (key, member), (member,)
    """Return the inclusion probability of each of the target's items, 0 for those with gold.

    Then the keys to order items by, None for a random order, and the variance of what each item
    adds that the probabilities are based on.
    """
    have = known[target.item] >= 0
    belief = fit.consensus.posterior
    if have.sum() >= plan.folds:
        belief = fit.beliefs(known, folds=plan.folds, seed=plan.seed)
    belief = np.array(belief[target.item])
    given = belief.copy()
    given[have] = np.eye(belief.shape[1])[known[target.item][have]]
    sure = target.is_sum and have.sum() >= _CALIBRATED
    expansion = target.expand(given, None)
    variance = expansion.doubt(belief, _SURE if sure else RANGE)
    size = np.where(have, 0.0, np.sqrt(variance))
    able = int((size > 0).sum())
    if budget < _FEWEST:
        raise BadSetting("budget", budget, f"at least {_FEWEST} items")
    if able < budget:
        raise BadData(
            f"there are too few items to draw for {target.name}: {count_of(able, 'item')} without "
            f"gold; expected at least the budget, {budget:,}: use a smaller one"
        )
    kind = target.strata()
    if kind is not None:
        spared = _reduce_sizes(size, kind) if target.is_normalised else size
        return _share_out(spared, budget), None, variance
    topics = np.zeros(len(size)) if target.topics is None else target.topics
    row: _Floats = np.stack([topics, expansion.expected(belief)])
    return _share_out(size, budget), row, variance


def _reduce_sizes(size: _Floats, kind: NDArray[np.int64]) -> _Floats:  # (member,)
    """Return sizes of which documents in no place that counts have at least a fifth."""
    others, counted = float(size[kind == 0].sum()), float(size[kind == 1].sum())
    if not others > 0:
        return size
    more = max(_OTHERS / (1 - _OTHERS) * counted / others, 1.0)
    return np.where(kind == 0, more * size, size)


def _share_out(size: _Floats, budget: int) -> _Floats:  # (member,)
    """Return probabilities in proportion to sizes that add up to the budget, at most 1."""
    chance = np.zeros(len(size))
    sure = np.zeros(len(size), dtype=np.bool_)
    while True:
        left = budget - int(sure.sum())
        chance = np.where(sure, 1.0, left * size / max(float(size[~sure].sum()), 1e-300))
        beyond = ~sure & (chance >= 1.0)
        if not beyond.any():
            return np.asarray(chance)
        sure |= beyond


def _draw(
    chance: _Floats,  # (member,)
    seed: int,
    row: _Floats | None = None,  # (key, member) topics first
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (drawn,), (drawn,)
    """Draw as many items as the probabilities add up to, and return the stratum of each, from 1.

    In an order, two consecutive items are a stratum; in a random order, all are one.
    """
    random = np.random.default_rng([seed, 7])
    sure = np.flatnonzero(chance >= 1.0)
    order = random.permutation(np.flatnonzero(chance < 1.0))
    if row is not None:
        topic = random.permutation(int(row[0].max(initial=0)) + 1)[row[0].astype(np.int64)]
        order = order[np.lexsort((row[1][order], topic[order]))]
    taken = order[_along(chance[order], random)]
    count = len(taken)
    part = np.ones(count, dtype=np.int64)
    if row is not None:
        part = 1 + np.minimum(np.arange(count) // 2, max(count // 2 - 1, 0))
    item = np.concatenate([sure, taken])
    part = np.concatenate([np.ones(len(sure), dtype=np.int64), part])
    by = np.argsort(item, kind="stable")
    return item[by], part[by]


def _along(chance: _Floats, random: np.random.Generator) -> NDArray[np.int64]:  # (drawn,)
    """Draw places, neighbours seldom both, by the ordered pivotal method.

    Two items at a time compete until one is drawn or out; the other goes on to the next.
    """
    drawn: list[int] = []
    held, mine = -1, 0.0
    for place, (own, luck) in enumerate(
        zip(chance.tolist(), random.random(len(chance)).tolist(), strict=True)
    ):
        both = mine + own
        if both < 1.0 - _CLOSE:  # one of them is out
            if luck * both < own:
                held = place
            mine = both
            continue
        stays = luck * (2.0 - both) < 1.0 - mine  # the one before goes on, this one is drawn
        drawn.append(place if stays else held)
        held, mine = held if stays else place, max(both - 1.0, 0.0)
    if mine > 0.5:
        drawn.append(held)
    return np.sort(np.array(drawn, dtype=np.int64))


def _with_earlier(
    judgments: Judgments,
    gold: Gold | None,
    size: int,
    drawn: tuple[NDArray[np.int64], _Floats, NDArray[np.int64]],  # items, chances, strata
) -> _Rows:
    """Return earlier gold, a random draw unless it has probabilities, then the drawn as a round."""
    item = np.flatnonzero(align_judged(gold, judgments) >= 0)
    ones = np.ones(len(item), dtype=np.int64)
    chance, turn, stratum = np.full(len(item), len(item) / max(size, 1)), ones, ones
    if gold is not None and gold.sampling is not None:
        found: list[NDArray[Any]] = [
            ones if values is None else by_item(values, gold, judgments)[item]
            for values in (gold.sampling, gold.round, gold.stratum)
        ]
        chance, turn, stratum = found
    rounds = np.append(turn, np.full(len(drawn[0]), int(turn.max(initial=0)) + 1))
    return (
        np.append(item, drawn[0]),
        np.append(chance, drawn[1]),
        rounds,
        np.append(stratum, drawn[2]),
    )


def _table(
    judgments: Judgments,
    known: NDArray[np.int16],
    rows: _Rows,
    believed: dict[str, Any] | None = None,
) -> Any:
    """Return the table to fill in; ``believed`` are columns to put after gold."""
    item, chance, rounds, strata = rows
    at = pa.array(item)
    columns = {name: column.take(at) for name, column in judgments.item_columns.items()}
    end = {
        "gold": name_codes(judgments.scale.truths, known[item]),
        **(believed or {}),
        "sampling_probability": pa.array(chance),
        "sampling_round": pa.array(rounds),
        "sampling_stratum": pa.array(strata),
    }
    columns |= _texts(judgments, at, [*columns, *end])
    return pa.table(columns | end)


def _texts(judgments: Judgments, at: Any, taken: list[str]) -> dict[str, Any]:
    """Return the columns on items of the judgments file, but no label or judge."""
    if judgments.fields is None:
        return {}
    names = judgments.fields.column_names
    roles = roles_of([*taken, *names])
    taken += [name for role, name in roles.items() if role not in ("topic", "document")]
    return {name: judgments.fields[name].take(at) for name in names if name not in taken}
