"""The table of judges with everything that is known of each, and the advice on them.

A judge's card is a row of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, ndtri

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judges import LEVEL
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.data.source import count_of
from adjudge.evaluation.diagnosis._confusions import (
    Commonest,
    Confusions,
    confusions_from,
    find_commonest,
    keep_draws,
    name_codes,
    pool_rates,
    right_labels,
)
from adjudge.evaluation.diagnosis._gold_evidence import GoldEvidence, weigh_gold
from adjudge.evaluation.diagnosis._skill import Skill, measure_skill
from adjudge.evaluation.diagnosis.advice import Limits
from adjudge.models.features import available, measure_features

_ONE_LABEL = Limits().single
_MOSTLY = 0.5  # of their gold judgments, beyond doubt
_BY_CHANCE = 0.001  # an average judge would do so on the same items once in a thousand times


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Evidence:
    """What the advice on every judge rests on: gold judgments alone, where there are enough."""

    gold: NDArray[np.int64]  # (judge,) judgments of gold items
    gold_right: NDArray[np.float64]  # (3, judge) share of them that is right, low, high
    judgments: NDArray[np.int64]  # (judge,)
    told: NDArray[np.int64]  # (judge,) those on items that others judged too, or on gold
    accuracy: NDArray[np.float64]  # (3, judge) value, low, high
    bits: NDArray[np.float64]  # (judge,)
    skill: Skill
    bias: NDArray[np.float64]  # (3, judge) NaN where grades have no order
    mistake: NDArray[np.float64]  # (3, judge) rate of the commonest, NaN where there is none
    usual: NDArray[np.float64]  # (judge,) rate of that mistake over all judges together
    confused: list[tuple[str, str]]  # (judge,) its truth and label
    favourite: list[str]  # (judge,) the label they give most often
    favoured: NDArray[np.float64]  # (judge,) how often they give it, as a share
    deserved: NDArray[np.float64]  # (judge,) how often an average judge would, on the same items


def _advise(found: _Evidence, limits: Limits) -> tuple[list[str], list[str]]:  # (judge,), (judge,)
    """The advice on each judge, and a sentence that says why.

    Gold decides on who has ``least`` gold judgments or more. Nobody who is right on most of them is
    dropped, even if their labels tell nothing: always giving the commonest label does no harm.
    """
    skill = found.skill
    decided = _is_decided(found, limits)
    few = (found.told < limits.least) & ~decided
    unsure = skill.p_useless > limits.doubt
    drop = skill.p_useless >= limits.drop
    with np.errstate(invalid="ignore"):
        drop &= ~(decided & (found.gold_right[1] > _MOSTLY))
        drop |= unsure & ~decided & _single(found, limits)
        rate, low, _ = found.mistake
        wrong = (rate >= limits.mistake) & (low > found.usual + limits.excess)
        value, below, above = found.bias
        leans = (np.abs(value) >= limits.bias) & ((below > 0) | (above < 0))
    able = skill.p_chance <= limits.sure
    case = np.select([few, drop, wrong & able, leans & able, unsure], range(5), 5)
    advice = np.array(["watch", "drop", "train", "train", "watch", "keep"])[case].tolist()
    tell = (_few, _drop, _wrong, _leans, _unsure, _keep)
    why = []
    for judge, which in enumerate(case.tolist()):
        if not decided[judge]:
            why.append(tell[which](found, judge))
            continue
        reason = _skill if tell[which] is _keep else tell[which]
        why.append(f"{_on_gold_items(found, judge)}; {reason(found, judge)}")
    return advice, why


def _is_decided(found: _Evidence, limits: Limits) -> NDArray[np.bool_]:  # (judge,)
    return np.asarray(found.gold >= max(limits.least, 1))


def _on_gold_items(found: _Evidence, judge: int) -> str:
    share = _interval(found.gold_right[:, judge], "{:.0%}")
    return f"right on {share} of {count_of(int(found.gold[judge]), 'gold item')}"


def _single(found: _Evidence, limits: Limits) -> NDArray[np.bool_]:  # (judge,)
    """Who gives one label only, where an average judge on the same items would not."""
    hits = found.favoured * found.judgments
    misses = found.judgments - hits
    with np.errstate(invalid="ignore"):
        chance = betainc(np.maximum(hits, 1e-9), misses + 1.0, np.clip(found.deserved, 0.0, 1.0))
    return np.asarray((found.favoured >= limits.single) & (chance <= _BY_CHANCE))


def _few(found: _Evidence, judge: int) -> str:
    return f"{_count(found, judge)}: too few to say"


def _drop(found: _Evidence, judge: int) -> str:
    if found.skill.high[judge] < 0:
        return (
            f"worse than chance: {_skill(found, judge)}; {_count(found, judge)}; "
            "the scale may have been read the wrong way round: ask before you drop"
        )
    text = f"hardly better than chance: {_skill(found, judge)}"
    if found.favoured[judge] >= _ONE_LABEL:
        text += f"; gave {found.favourite[judge]} in {found.favoured[judge]:.0%} of judgments"
    return f"{text}; {_count(found, judge)}"


def _unsure(found: _Evidence, judge: int) -> str:
    return f"too near to chance to say: {_skill(found, judge)}; {_count(found, judge)}"


def _wrong(found: _Evidence, judge: int) -> str:
    truth, label = found.confused[judge]
    how = _interval(found.mistake[:, judge], "{:.0%}")
    return (
        f"rates {truth} as {label} in {how} of cases; "
        f"all judges together in {found.usual[judge]:.0%}"
    )


def _leans(found: _Evidence, judge: int) -> str:
    value, low, high = found.bias[:, judge]
    high_or_low = "high" if value > 0 else "low"
    near, far = sorted((abs(low), abs(high)))
    how = _interval((abs(value), near, far), "{:.2f}")
    return f"rates {how} grades too {high_or_low} on average"


def _keep(found: _Evidence, judge: int) -> str:
    return f"{_right(found, judge)}; {found.bits[judge]:.2f} bits a judgment"


def _skill(found: _Evidence, judge: int) -> str:
    skill = found.skill
    how = _interval((skill.value[judge], skill.low[judge], skill.high[judge]), "{:.2f}")
    return f"skill {how}, where 0 is chance and 1 perfect"


def _right(found: _Evidence, judge: int) -> str:
    return f"right in {_interval(found.accuracy[:, judge], '{:.0%}')}"


def _count(found: _Evidence, judge: int) -> str:
    number, told = int(found.judgments[judge]), int(found.told[judge])
    text = count_of(number, "judgment")
    if told < number:
        text += f", {f'{told:,}' if told else 'none'} of them on items that others judged"
    return text


def _interval(values: Sequence[float] | NDArray[np.float64], form: str) -> str:
    value, low, high = map(form.format, values)
    return f"{value} ({low} to {high})".replace("-0.00", "0.00")


_TAIL = (1.0 - LEVEL) / 2
_REACH = float(ndtri(1.0 - _TAIL))
_VOTES = ("majority-vote", "vote", "pmf")  # models in which a judge's own vote makes them right
_Floats = NDArray[np.float64]


def list_judges(
    consensus: Consensus,
    gold: Gold | None,
    confusions: Confusions,
    commonest: Commonest,
    limits: Limits,
    flags: Mapping[str, Sequence[str]],
) -> tuple[Any, tuple[str, ...]]:
    """The table of judges, and notes on what it lacks."""
    table = consensus.judges
    evidence = weigh_gold(consensus, gold, limits.least)
    skill = measure_skill(consensus, evidence, limits.useful)
    bias = _measure_bias(consensus)
    mistake = _rate_mistakes(commonest, confusions)
    new: dict[str, Any] = {"p_chance": pa.array(skill.p_chance)}
    new |= _three("skill", np.stack([skill.value, skill.low, skill.high]))
    new |= _three("bias", bias)
    new["mistake_truth"] = name_codes(consensus.scale.truths, commonest.truth)
    new["mistake_label"] = name_codes(consensus.scale.labels, commonest.label)
    new |= _three("mistake", mistake, first="mistake_rate")
    notes: list[str] = []
    if consensus.judgments.seconds is not None:
        new["seconds"] = median_seconds(consensus.judgments)
    else:
        notes.append("no seconds: how long judges take is not known; a column 'seconds' adds it")
    new |= _on_gold(consensus, gold, notes)
    found = _gather_evidence(consensus, table, evidence, skill, bias, mistake, commonest)
    advice = zip(*_advise(found, limits), consensus.judgments.judges.to_pylist(), strict=True)
    heeded = [limits.heed_flags(word, why, flags.get(judge, ())) for word, why, judge in advice]
    for at, name in enumerate(("advice", "why")):
        new[name] = pa.array([row[at] for row in heeded], pa.large_string())
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


def _rate_mistakes(commonest: Commonest, confusions: Confusions) -> _Floats:  # (3, judge)
    """The rate of each judge's commonest mistake with its interval; NaN where there is none."""
    parts = (confusions.mean, confusions.low, confusions.high)
    rates = np.stack([commonest.of(part) for part in parts])
    rates[:, ~commonest.known] = np.nan
    return rates


def _gather_evidence(
    consensus: Consensus,
    table: Any,
    evidence: GoldEvidence,
    skill: Skill,
    bias: _Floats,
    mistake: _Floats,
    commonest: Commonest,
) -> _Evidence:
    """What the advice rests on; where gold decides, bias and mistakes are those on gold."""
    scale, golds, decides = consensus.scale, evidence.golds, evidence.decides
    given = consensus.counts.sum(axis=1)  # (judge, label)
    total = np.maximum(given.sum(axis=1), 1e-300)
    favourite = given.argmax(axis=1)
    rates = pool_rates(consensus.counts)
    average = consensus.counts.sum(axis=2) @ rates / total[:, None]  # (judge, label)
    usual = commonest.of(np.broadcast_to(rates, golds.shape))
    truth, label = commonest.truth, commonest.label
    if decides.any():
        own = find_commonest(golds, scale)
        truth, label = np.where(decides, (own.truth, own.label), (truth, label))
        mistake = np.where(decides, _rate_mistakes(own, confusions_from(golds)), mistake)
        usual = np.where(decides, own.of(np.broadcast_to(pool_rates(golds), golds.shape)), usual)
        bias = np.where(decides, _bias_from_counts(golds, scale), bias)
    told = np.where(decides[:, None, None], consensus.evidence, evidence.counts)
    seen = golds.sum(axis=(1, 2))
    right = np.einsum("jkl,kl->j", golds, right_labels(scale))
    return _Evidence(
        gold=np.rint(seen).astype(np.int64),
        gold_right=np.stack([right / np.maximum(seen, 1), *_bound_share(right, seen)]),
        judgments=consensus.judgments.counts_per_judge,
        told=np.rint(told.sum(axis=(1, 2))).astype(np.int64),
        accuracy=np.stack([_floats(table[f"accuracy{part}"]) for part in ("", "_low", "_high")]),
        bits=_floats(table["bits"]),
        skill=skill,
        bias=bias,
        mistake=mistake,
        usual=usual,
        confused=[
            (scale.truths[one], scale.labels[other])
            for one, other in zip(truth.tolist(), label.tolist(), strict=True)
        ],
        favourite=[scale.labels[label] for label in favourite.tolist()],
        favoured=given.max(axis=1) / total,
        deserved=average[np.arange(len(average)), favourite],
    )


def _bound_share(right: _Floats, seen: _Floats) -> tuple[_Floats, _Floats]:
    """The 90% interval of a share, under Jeffreys' prior."""
    low, high = (betaincinv(right + 0.5, seen - right + 0.5, tail) for tail in (_TAIL, 1.0 - _TAIL))
    return low, high


def _floats(column: Any) -> _Floats:
    """An Arrow column as numbers, NaN where it is null."""
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _measure_bias(consensus: Consensus) -> _Floats:  # (3, judge)
    """The mean of label minus truth, in grades, and its interval; NaN without an order.

    A label that stands for no truth is no grade and is left out. Two truths are taken as lower and
    higher.
    """
    scale = consensus.scale
    drawn = keep_draws(consensus)
    if drawn is None or not _has_order(scale):
        return _bias_from_counts(consensus.evidence, scale)
    shift, graded = _shift(scale)
    prevalence = consensus.overall_prevalence
    values = np.einsum("k,sjkl,kl->sj", prevalence, drawn, shift)
    share = np.einsum("k,sjkl,l->sj", prevalence, drawn, graded)
    values = values / np.maximum(share, 1e-300)
    low, high = np.quantile(values, [_TAIL, 1.0 - _TAIL], axis=0)
    return np.stack([values.mean(axis=0), low, high])


def _has_order(scale: Scale) -> bool:
    return len(scale.truths) == 2 or (scale.ordinal and len(scale.truths) > 2)


def _shift(scale: Scale) -> tuple[_Floats, _Floats]:  # (truth, label), (label,)
    """Grades between truth and label, and which labels stand for a truth."""
    stands = np.array(scale.truth_of)
    graded = (stands >= 0).astype(np.float64)
    return (stands[None, :] - np.arange(len(scale.truths))[:, None]) * graded, graded


def _bias_from_counts(every: _Floats, scale: Scale) -> _Floats:  # (3, judge)
    """Mean shift of the counts (judge, truth, label), give or take its error.

    The error is that of a mean, as if half a judgment a grade too high and half a one too low had
    been seen too: a judge of three judgments, all right, may still be biased.
    """
    if not _has_order(scale):
        return np.full((3, len(every)), np.nan)
    shift, graded = _shift(scale)
    counts = every * graded
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
        for suffix, bound in zip(("low", "high"), _bound_share(hits, count), strict=True):
            columns[f"{wanted[name]}_{suffix}"] = pa.array(bound, mask=unknown)
    return columns


def median_seconds(judgments: Judgments) -> Any:
    """The median of the seconds that each judge spent on a judgment."""
    seconds = np.empty(0) if judgments.seconds is None else judgments.seconds
    known = np.flatnonzero(~np.isnan(seconds))
    order = known[np.lexsort((seconds[known], judgments.judge[known]))]
    count = np.bincount(judgments.judge[known], minlength=judgments.judge_count)
    some = count > 0
    begin = (np.cumsum(count) - count)[some]
    lower, upper = order[begin + (count[some] - 1) // 2], order[begin + count[some] // 2]
    medians = np.full(judgments.judge_count, np.nan)
    medians[some] = (seconds[lower] + seconds[upper]) / 2
    return pa.array(medians, mask=np.isnan(medians))
