"""The table of judges with everything that is known of each: a judge's card is a row of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judges import LEVEL
from adjudge.evaluation.advice import Evidence, Limits, advise
from adjudge.evaluation.confusions import (
    Commonest,
    Confusions,
    kept_draws,
    pooled_rates,
    texts,
)
from adjudge.evaluation.features import median_seconds
from adjudge.evaluation.skill import Skill, skill_of
from adjudge.models.features import available, measure_features

_TAIL = (1.0 - LEVEL) / 2
_REACH = float(ndtri(1.0 - _TAIL))
_VOTES = ("majority-vote", "vote", "pmf")  # models in which a judge's own vote makes them right

_Floats = NDArray[np.float64]


def judges_of(
    consensus: Consensus,
    gold: Gold | None,
    confusions: Confusions,
    commonest: Commonest,
    limits: Limits,
) -> tuple[Any, tuple[str, ...]]:
    """The table of judges, and notes on what it lacks."""
    table = consensus.judges
    skill = skill_of(consensus, limits.useful)
    bias = bias_of(consensus)
    mistake = np.stack(
        [commonest.of(part) for part in (confusions.mean, confusions.low, confusions.high)]
    )
    mistake[:, ~commonest.known] = np.nan
    new: dict[str, Any] = {"p_chance": pa.array(skill.p_chance)}
    new |= _three("skill", np.stack([skill.value, skill.low, skill.high]))
    new |= _three("bias", bias)
    new["mistake_truth"] = texts(consensus.scale.truths, commonest.truth)
    new["mistake_label"] = texts(consensus.scale.labels, commonest.label)
    new |= _three("mistake", mistake, first="mistake_rate")
    notes: list[str] = []
    if consensus.judgments.seconds is not None:
        new["seconds"] = median_seconds(consensus.judgments)
    else:
        notes.append("no seconds: how long judges take is not known; a column 'seconds' adds it")
    new |= _on_gold(consensus, gold, notes)
    new["advice"], new["why"] = _advice(consensus, table, skill, bias, mistake, commonest, limits)
    if consensus.draws is None:
        notes.append(
            "no draws: intervals know how few judgments there are, not how unsure the truth is; "
            "a sampled model such as hierarchical-confusion adds that"
        )
    if consensus.model in _VOTES:
        notes.append(
            f"in {consensus.model} a judge's own judgment counts towards what is held for true, "
            "which flatters judges; a model of confusion such as item-types does not"
        )
    for name, column in new.items():
        if name not in table.column_names:
            table = table.append_column(name, column)
    return table, tuple(notes)


def _three(name: str, values: _Floats, first: str | None = None) -> dict[str, Any]:
    """A value and its interval (3, judge) as columns; null where there is none."""
    names = (first or name, f"{name}_low", f"{name}_high")
    parts = zip(names, values, strict=True)
    return {column: pa.array(part, mask=np.isnan(part)) for column, part in parts}


def _advice(
    consensus: Consensus,
    table: Any,
    skill: Skill,
    bias: _Floats,
    mistake: _Floats,
    commonest: Commonest,
    limits: Limits,
) -> tuple[Any, Any]:
    """Advice and reason, as columns."""
    scale = consensus.scale
    given = consensus.counts.sum(axis=1)  # (judge, label)
    total = np.maximum(given.sum(axis=1), 1e-300)
    favourite = given.argmax(axis=1)
    rates = pooled_rates(consensus)
    pooled = np.broadcast_to(rates, consensus.counts.shape)
    average = consensus.counts.sum(axis=2) @ rates / total[:, None]  # (judge, label)
    found = Evidence(
        judgments=consensus.judgments.counts_per_judge,
        told=np.rint(consensus.evidence.sum(axis=(1, 2))).astype(np.int64),
        accuracy=np.stack([_floats(table[f"accuracy{part}"]) for part in ("", "_low", "_high")]),
        bits=_floats(table["bits"]),
        skill=skill,
        bias=bias,
        mistake=mistake,
        usual=commonest.of(pooled),
        confused=[
            (scale.truths[truth], scale.labels[label])
            for truth, label in zip(commonest.truth.tolist(), commonest.label.tolist(), strict=True)
        ],
        favourite=[scale.labels[label] for label in favourite.tolist()],
        favoured=given.max(axis=1) / total,
        deserved=average[np.arange(len(average)), favourite],
    )
    advice, why = advise(found, limits)
    return pa.array(advice, pa.large_string()), pa.array(why, pa.large_string())


def _floats(column: Any) -> _Floats:
    """An Arrow column as numbers, NaN where it is null."""
    return np.asarray(column.to_numpy(), dtype=np.float64)


def bias_of(consensus: Consensus) -> _Floats:  # (3, judge)
    """The mean of label minus truth, in grades, and its interval; NaN without an order.

    A label that stands for no truth is no grade and is left out. Two truths are taken as lower and
    higher.
    """
    scale = consensus.scale
    judges = consensus.judgments.judge_count
    if not (scale.ordinal or len(scale.truths) == 2) or len(scale.truths) < 2:
        return np.full((3, judges), np.nan)
    stands = np.array(scale.truth_of)
    graded = stands >= 0  # (label,)
    shift = (stands[None, :] - np.arange(len(scale.truths))[:, None]) * graded[None, :]
    drawn = kept_draws(consensus)
    if drawn is not None:
        prevalence = consensus.overall_prevalence
        values = np.einsum("k,sjkl,kl->sj", prevalence, drawn, shift.astype(np.float64))
        share = np.einsum("k,sjkl,l->sj", prevalence, drawn, graded.astype(np.float64))
        values = values / np.maximum(share, 1e-300)
        low, high = np.quantile(values, [_TAIL, 1.0 - _TAIL], axis=0)
        return np.stack([values.mean(axis=0), low, high])
    return _bias_from_counts(consensus.evidence * graded, shift)


def _bias_from_counts(counts: _Floats, shift: NDArray[np.int64]) -> _Floats:  # (3, judge)
    """Mean shift of the counts (judge, truth, label), give or take its error.

    The error is that of a mean, as if half a judgment a grade too high and half a one too low had
    been seen too: a judge of three judgments, all right, may still be biased.
    """
    total = counts.sum(axis=(1, 2))
    safe = np.where(total > 0, total, 1.0)
    mean = np.einsum("jkl,kl->j", counts, shift) / safe
    square = np.einsum("jkl,kl->j", counts, shift**2)
    spread = np.maximum((square + 1.0) / (total + 1.0) - mean**2, 0.0)
    reach = _REACH * np.sqrt(spread / (total + 2.0))
    found = np.stack([mean, mean - reach, mean + reach])
    found[:, total <= 0] = np.nan
    return found


def _on_gold(consensus: Consensus, gold: Gold | None, notes: list[str]) -> dict[str, Any]:
    """How each judge did on gold and on honeypots, where there are any."""
    judgments = consensus.judgments
    wanted = {"graded-accuracy-gold": "gold", "honeypot-accuracy": "honeypot"}
    able = tuple(name for name in wanted if name in available(judgments, gold))
    if not able:
        notes.append("no gold: how judges do on items of known truth is not known; gold adds it")
        return {}
    found = measure_features(judgments, gold, names=able)
    columns: dict[str, Any] = {}
    for name in able:
        value, count = found[name], found.counts[name]
        unknown = np.isnan(value)
        hits = np.where(unknown, 0.0, value * count)
        columns[f"{wanted[name]}_judgments"] = pa.array(count.astype(np.int64))
        columns[f"{wanted[name]}_accuracy"] = pa.array(value, mask=unknown)
        for suffix, at in (("low", _TAIL), ("high", 1.0 - _TAIL)):
            bound = betaincinv(hits + 0.5, count - hits + 0.5, at)
            columns[f"{wanted[name]}_{suffix}"] = pa.array(bound, mask=unknown)
    return columns
