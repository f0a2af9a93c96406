"""How good a judge is: information per judgment, and shares with intervals that hold.

Labels alone do not show how often judges err: where judges err together, a model takes the errors
for the truth. On real data with gold, the logit of a judge's accuracy is off by a standard
deviation of about .6, of which .38 is common to all judges of a data set. So a share with no gold
behind it has that uncertainty on top of its sampling error, and gold on a judge's items reduces it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.names import Names, restore
from adjudge.data.results import Result
from adjudge.data.scale import Scale
from adjudge.data.source import count_of

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus

LEVEL = 0.9  # of every interval in the table
OPTIMISM = 0.41  # logit by which models that take their classes for labels overrate judges
_NORMAL = 1.645  # standard errors at that level
_COMMON, _OWN = 0.38, 0.46  # standard deviations: common to all judges, and of each
_ALONE = 1.0  # the same of a judge whose judgments nothing can be compared with
_STEPS = 12  # of Newton's method

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Judges(Result):
    """The judges of a consensus: an Arrow table with a chart, a summary and a view in notebooks.

    It has all attributes of the table, and passes through the Arrow C interface. ``to_table()`` is
    the table itself, for functions that check the type.
    """

    table: Any  # one row per judge

    @property
    def facts(self) -> str:
        """How many judges there are, and how many judgments they gave."""
        judgments = sum(self.table["judgments"].to_pylist())
        return f"{count_of(len(self), 'judge')}, {count_of(judgments, 'judgment')}"

    def to_table(self) -> Any:
        """Return the Arrow table."""
        return self.table

    def equals(self, other: Any) -> bool:
        """Whether the other judges, or the other table, are the same."""
        return bool(self.table.equals(other.table if isinstance(other, Judges) else other))

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, column: str | int) -> Any:
        return self.table[column]

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "table"), name)


def information(
    counts: _Floats,  # (judge, truth, label)
    prevalence: _Floats,  # (truth,)
) -> _Floats:  # (judge,)
    """Mutual information between the true label and a judge's label, in bits per judgment.

    A judge whose rows are all alike has 0 bits. Each row is first drawn towards the judge's own
    marginal by one pseudo-judgment, or a judge of three judgments would look certain.
    """
    total = counts.sum(axis=(1, 2), keepdims=True)
    labels = counts.shape[2]
    marginal = (counts.sum(axis=1, keepdims=True) + 1.0 / labels) / (total + 1.0)
    rows = counts.sum(axis=2, keepdims=True)
    theta = (counts + marginal) / (rows + 1.0)
    mixed = np.einsum("k,jkl->jl", prevalence, theta)[:, None, :]
    return np.asarray(
        np.maximum(np.einsum("k,jkl->j", prevalence, theta * np.log2(theta / mixed)), 0.0)
    )


def logit(share: _Floats) -> _Floats:
    """The logit of shares, kept away from 0 and 1."""
    kept = np.clip(share, 0.02, 0.98)
    return np.asarray(np.log(kept / (1.0 - kept)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """How often each judge was right, as a model has it and on gold."""

    hits: _Floats  # (judge,) on items without gold, in expectation
    total: _Floats  # (judge,) judgments of such items
    compared: _Floats  # (judge,) the share of them on items that others judged too
    gold_hits: _Floats  # (judge,)
    gold_total: _Floats  # (judge,)

    @property
    def known(self) -> NDArray[np.bool_]:  # (judge,)
        """For whom there is anything to go by."""
        return (self.total * self.compared > 1e-9) | (self.gold_total > 0)


def estimate_shares(evidence: Evidence, level: _Floats) -> tuple[_Floats, _Floats, _Floats]:
    """Estimate how often each judge is right: the most probable share, and its 90% interval.

    ``level`` (judge,) is added to the logit of the model's shares. The true logit of a judge is
    that, plus an error common to all judges, plus one of their own. Newton's method finds the most
    probable values of all of these given gold; intervals are from the curvature there.
    """
    share = evidence.hits / np.maximum(evidence.total, 1e-9)
    compared = evidence.total * evidence.compared
    prior = logit(share) + level
    p = _expit(prior)
    own = _OWN**2 + 1.0 / np.maximum(compared * p * (1.0 - p), 1e-9)
    alone = compared <= 1e-9
    if alone.any():  # without evidence, like the others
        prior[alone] = fsum(prior[~alone]) / (~alone).sum() if not alone.all() else 0.0
        own[alone] = _OWN**2 + _ALONE**2
    z, common = prior.copy(), 0.0
    for _ in range(_STEPS):
        p = _expit(z)
        gold = evidence.gold_total * p * (1.0 - p)
        curvature = gold + 1.0 / own
        apart = (z - prior - common) / own
        gradient = evidence.gold_hits - evidence.gold_total * p - apart
        precision = 1.0 / _COMMON**2 + fsum(gold / own / curvature)
        pull = fsum(apart + gradient / own / curvature) - common / _COMMON**2
        step = min(max(pull / precision, -1.0), 1.0)
        common += step
        z = z + np.clip((gradient + step / own) / curvature, -1.0, 1.0)
    p = _expit(z)
    curvature = evidence.gold_total * p * (1.0 - p) + 1.0 / own
    precision = 1.0 / _COMMON**2 + fsum(1.0 / own - 1.0 / own**2 / curvature)
    error = _NORMAL * np.sqrt(1.0 / curvature + 1.0 / (own * curvature) ** 2 / precision)
    return p, _expit(z - error), _expit(z + error)


def _expit(z: _Floats) -> _Floats:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * z)))  # never overflows


_FOR_BITS = 400  # draws behind the bits: enough for an interval, and logarithms are slow
_BLOCK = 100_000  # items looked through at a time


def tabulate_judges(consensus: Consensus) -> Judges:
    """One row per judge of a consensus, and what its model adds to the table."""
    known: dict[str, Any] = {
        "names": restore(consensus.judgments.judges, consensus.judgments.types.get("judge")),
        "scale": consensus.scale,
        "counts": consensus.counts,
        "prevalence": consensus.overall_prevalence,
    }
    if consensus.draws is not None:
        confusion = consensus.draws.confusion
        table = _from_draws(**known, confusion=confusion.reshape(-1, *confusion.shape[2:]))
    else:
        table = _from_counts(
            **known,
            compared=share_held_against(consensus),
            gold=count_gold(consensus),
            level=consensus.level,
        )
    if consensus.about_judges is not None:
        for name in consensus.about_judges.column_names:
            table = table.append_column(name, consensus.about_judges[name])
    return Judges(table)


def tabulate_topics(consensus: Consensus) -> Any:
    """One row per topic of a consensus, or one of all."""
    judgments, prevalence = consensus.judgments, consensus.prevalence
    names, items = pa.array(["all"], pa.large_string()), [judgments.item_count]
    if judgments.topics is not None and judgments.topic is not None and len(prevalence) != 1:
        names = restore(judgments.topics, judgments.types.get("topic"))
        items = np.bincount(judgments.topic, minlength=judgments.topic_count).tolist()
    columns: dict[str, Any] = {"topic": names, "items": pa.array(items)}
    for code, truth in enumerate(consensus.scale.truths):
        columns[f"p_{truth}"] = pa.array(np.ascontiguousarray(prevalence[:, code]))
        if consensus.draws is not None:
            low, high = consensus.draws.prevalence_interval(code)
            columns[f"p_{truth}_low"], columns[f"p_{truth}_high"] = pa.array(low), pa.array(high)
    return pa.table(columns)


def share_held_against(consensus: Consensus) -> NDArray[np.float64]:  # (judge,)
    """The share of each judge's judgments that something can be held against."""
    judgments, families = consensus.judgments, consensus.families
    source = np.arange(judgments.judge_count) if families is None else families.family
    checked = np.zeros(judgments.judge_count)
    for begin in range(0, judgments.item_count, _BLOCK):
        offsets = judgments.offsets[begin : begin + _BLOCK + 1]
        judge = judgments.judge[offsets[0] : offsets[-1]]
        count = np.diff(offsets)
        several = np.zeros(len(count), dtype=np.bool_)
        if len(judge):
            first, some = offsets[:-1][count > 0] - offsets[0], source[judge]
            several[count > 0] = np.minimum.reduceat(some, first) != np.maximum.reduceat(
                some, first
            )
        if consensus.known is not None:
            several |= consensus.known[begin : begin + _BLOCK] >= 0
        checked += np.bincount(judge[np.repeat(several, count)], minlength=len(checked))
    return checked / np.maximum(judgments.counts_per_judge, 1)


def count_gold(consensus: Consensus) -> NDArray[np.float64]:  # (judge, truth, label)
    """How often each judge gave each label to gold items of each true label."""
    judgments, known = consensus.judgments, consensus.known
    shape = (judgments.judge_count, len(consensus.scale.truths), len(consensus.scale.labels))
    if known is None:
        return np.zeros(shape)
    rows, item = judgments.rows_of(np.flatnonzero(known >= 0))
    truth = known[known >= 0][item].astype(np.int64)
    cell = (judgments.judge[rows] * np.int64(shape[1]) + truth) * shape[2] + judgments.label[rows]
    return np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)


def _from_counts(
    *,
    names: Names,
    scale: Scale,
    counts: NDArray[np.float64],  # (judge, truth, label)
    prevalence: NDArray[np.float64],  # (truth,)
    compared: NDArray[np.float64],  # (judge,)
    gold: NDArray[np.float64],  # (judge, truth, label)
    level: NDArray[np.float64] | None,  # (judge,)
) -> Any:
    """One row per judge: judgments, accuracy, bits per judgment, and rates, with 90% intervals.

    Rates of a binary truth are sensitivity and specificity; of an ordinal one, the bias: the mean
    of label minus truth, in grades. Shares are null where nothing can be compared and there is no
    gold.
    """
    right, total = _right(scale), counts.sum(axis=(1, 2))
    rest = np.maximum(counts - gold, 0.0)  # counts include gold
    columns = _begin_table(names, total)
    places: dict[str, Any] = {"accuracy": slice(None)}
    if len(scale.truths) == 2:
        places |= {"sensitivity": 1, "specificity": 0}
    for name, rows in places.items():
        every = np.zeros_like(right)
        every[rows] = 1.0
        sums = [
            np.einsum("jkl,kl->j", table, cells)
            for table in (rest, gold)
            for cells in (right * every, every)
        ]
        evidence = Evidence(
            hits=sums[0], total=sums[1], compared=compared, gold_hits=sums[2], gold_total=sums[3]
        )
        _share(columns, name, evidence, level)
        if name == "accuracy":
            columns["bits"] = pa.array(information(counts, prevalence))
    if _has_bias(scale):
        shift = np.einsum("jkl,kl->j", counts, _distances(scale))
        columns["bias"] = _or_null(shift / np.maximum(total, 1e-300), total > 0)
    return pa.table(columns)


def _begin_table(names: Names, total: NDArray[np.float64]) -> dict[str, Any]:
    return {"judge": names, "judgments": pa.array(np.rint(total).astype(np.int64))}


def _has_bias(scale: Scale) -> bool:
    return len(scale.truths) > 2 and scale.ordinal and scale.truths == scale.labels


def _distances(scale: Scale) -> NDArray[np.float64]:  # (truth, label)
    """How many grades a label is above a truth."""
    place = np.arange(len(scale.labels), dtype=np.float64)
    return np.asarray(place[None, :] - place[:, None])


def _from_draws(
    *,
    names: Names,
    scale: Scale,
    counts: NDArray[np.float64],  # (judge, truth, label)
    prevalence: NDArray[np.float64],  # (truth,)
    confusion: NDArray[np.float32],  # (draw, judge, truth, label)
) -> Any:
    """The same table from draws of every judge's confusion: posterior means and 90% intervals.

    ``p_chance`` is the probability that a judge is no better than chance: that the diagonal of the
    confusion sums to 1 or less (for two truths: sensitivity + specificity <= 1).
    """
    right = _right(scale)
    hits = np.einsum("sjkl,kl->sjk", confusion, right)  # (draw, judge, truth)
    columns = _begin_table(names, counts.sum(axis=(1, 2)))
    _drawn(columns, "accuracy", hits @ prevalence)
    few = confusion[:: max(1, len(confusion) // _FOR_BITS)].astype(np.float64)
    mixed = np.einsum("k,sjkl->sjl", prevalence, few)[:, :, None, :]
    tiny = np.finfo(np.float32).tiny
    logs = np.log2(np.maximum(few, tiny) / np.maximum(mixed, tiny))
    _drawn(columns, "bits", np.maximum(np.einsum("k,sjkl->sj", prevalence, few * logs), 0.0))
    columns["p_chance"] = pa.array((hits.sum(axis=2) <= 1.0).mean(axis=0))
    if len(scale.truths) == 2:
        _drawn(columns, "sensitivity", hits[:, :, 1])
        _drawn(columns, "specificity", hits[:, :, 0])
    elif _has_bias(scale):
        shift = np.einsum("k,sjkl,kl->sj", prevalence, confusion, _distances(scale))
        _drawn(columns, "bias", shift)
    return pa.table(columns)


def _drawn(columns: dict[str, Any], name: str, values: NDArray[Any]) -> None:  # (draw, judge)
    """A posterior mean and its interval as three columns."""
    tail = (1.0 - LEVEL) / 2
    low, high = np.quantile(values, [tail, 1.0 - tail], axis=0)
    columns[name] = pa.array(values.mean(axis=0).astype(np.float64))
    columns[f"{name}_low"] = pa.array(low.astype(np.float64))
    columns[f"{name}_high"] = pa.array(high.astype(np.float64))


def _share(
    columns: dict[str, Any], name: str, evidence: Evidence, level: NDArray[np.float64] | None
) -> None:
    """A share and its interval as three columns; null for judges about whom nothing is known.

    A model without a level of its own keeps its own share, within an interval that includes what
    such models overrate judges by.
    """
    given = np.full(len(evidence.total), -OPTIMISM) if level is None else level
    value, low, high = estimate_shares(evidence, given)
    if level is None:
        total = evidence.total + evidence.gold_total
        value = (evidence.hits + evidence.gold_hits) / np.maximum(total, 1e-9)
        low, high = np.minimum(low, value), np.maximum(high, value)
    for suffix, column in (("", value), ("_low", low), ("_high", high)):
        columns[f"{name}{suffix}"] = _or_null(column, evidence.known)


def _or_null(values: NDArray[np.float64], known: NDArray[np.bool_]) -> Any:
    return pa.array(values, mask=~known)


def _right(scale: Scale) -> NDArray[np.float64]:  # (truth, label)
    """1 where a label means a truth."""
    truth_of = np.array(scale.truth_of)
    return np.asarray(np.arange(len(scale.truths))[:, None] == truth_of[None, :], dtype=np.float64)
