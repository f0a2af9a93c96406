"""The table of judges with the advice on each, and the table of their features.

The features are those of ``adjudge.models.weighting``, which votes use. Here they get intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betainc, ndtri

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
    pool_rates,
    summarise,
)
from adjudge.evaluation.diagnosis._evidence import (
    GoldEvidence,
    Skill,
    measure_skill,
    weigh_gold,
)
from adjudge.evaluation.diagnosis.advice import Limits
from adjudge.evaluation.scores import interval_columns, jeffreys, name_codes, reals
from adjudge.models.weighting import available, measure_features

_ONE_LABEL = Limits().single
_MOSTLY = 0.5  # of their gold judgments, at least
_BY_CHANCE = 0.001  # probability that an average judge would do so on the same items
_REACH = float(ndtri((1.0 + LEVEL) / 2))
_VOTES = ("majority-vote", "vote", "pmf")  # models in which a judge's own vote makes them right
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Evidence:
    """The basis of the advice on every judge: gold judgments only, where there are enough."""

    gold: NDArray[np.int64]  # (judge,) judgments of gold items
    gold_right: _Floats  # (3, judge) share of them that is right, low, high
    judgments: NDArray[np.int64]  # (judge,)
    shared: NDArray[np.int64]  # (judge,) on items that others judged too, or on gold
    accuracy: _Floats  # (3, judge) value, low, high
    bits: _Floats  # (judge,)
    skill: Skill
    bias: _Floats  # (3, judge) NaN where grades have no order
    mistake: _Floats  # (3, judge) rate of the commonest, NaN where there is none
    usual: _Floats  # (judge,) rate of that mistake over all judges together
    confused: list[tuple[str, str]]  # (judge,) its truth and label
    favourite: list[str]  # (judge,) the label they give most often
    favoured: _Floats  # (judge,) how often they give it, as a share
    deserved: _Floats  # (judge,) how often an average judge would, on the same items


_ADVICE = ("watch", "drop", "train", "train", "watch", "keep")  # case by case


def _advise(found: _Evidence, limits: Limits) -> tuple[list[str], list[str]]:  # (judge,), (judge,)
    """Return the advice on each judge, and a sentence that says why.

    With ``least`` gold judgments or more, gold decides. Judges who are right on most of them are
    never dropped, even if their labels say nothing: always giving the commonest label does no harm.
    """
    skill = found.skill
    decided = found.gold >= max(limits.least, 1)
    few = (found.shared < limits.least) & ~decided
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
    cases = np.select([few, drop, wrong & able, leans & able, unsure], range(5), 5).tolist()
    why: list[str] = []
    for judge, case in enumerate(cases):
        if not decided[judge]:
            why.append(_explain(found, judge, case))
            continue
        share = _interval(found.gold_right[:, judge], "{:.0%}")
        on_gold = f"right on {share} of {count_of(int(found.gold[judge]), 'gold item')}"
        reason = _skill(found, judge) if case == 5 else _explain(found, judge, case)
        why.append(f"{on_gold}; {reason}")
    return [_ADVICE[case] for case in cases], why


def _single(found: _Evidence, limits: Limits) -> NDArray[np.bool_]:  # (judge,)
    """Return who gives one label only, where an average judge on the same items would not."""
    hits = found.favoured * found.judgments
    misses = found.judgments - hits
    with np.errstate(invalid="ignore"):
        chance = betainc(np.maximum(hits, 1e-9), misses + 1.0, np.clip(found.deserved, 0.0, 1.0))
    return np.asarray((found.favoured >= limits.single) & (chance <= _BY_CHANCE))


def _explain(found: _Evidence, judge: int, case: int) -> str:
    """Say why a judge gets the advice of a case."""
    number, shared = int(found.judgments[judge]), int(found.shared[judge])
    count, skill = count_of(number, "judgment"), _skill(found, judge)
    if shared < number:
        count += f", {f'{shared:,}' if shared else 'none'} of them on items that others judged"
    if case == 0:
        return f"{count}: too few to say"
    if case == 1 and found.skill.high[judge] < 0:
        return (
            f"worse than chance: {skill}; {count}; the scale may have been read the wrong way "
            "round: ask before you drop"
        )
    if case == 1:
        most = f"; gave {found.favourite[judge]} in {found.favoured[judge]:.0%} of judgments"
        most = most if found.favoured[judge] >= _ONE_LABEL else ""
        return f"hardly better than chance: {skill}{most}; {count}"
    if case == 2:
        truth, label = found.confused[judge]
        how = _interval(found.mistake[:, judge], "{:.0%}")
        return (
            f"rates {truth} as {label} in {how} of cases; all judges together in "
            f"{found.usual[judge]:.0%}"
        )
    if case == 3:
        value, *ends = found.bias[:, judge]
        how = _interval(np.abs([value, *sorted(ends, key=abs)]), "{:.2f}")
        return f"rates {how} grades too {'high' if value > 0 else 'low'} on average"
    if case == 4:
        return f"too near to chance to say: {skill}; {count}"
    right = _interval(found.accuracy[:, judge], "{:.0%}")
    return f"right in {right}; {found.bits[judge]:.2f} bits per judgment"


def _skill(found: _Evidence, judge: int) -> str:
    how = _interval([part[judge] for part in found.skill[:3]], "{:.2f}")
    return f"skill {how}, where 0 is chance and 1 perfect"


def _interval(values: Sequence[float] | _Floats, form: str) -> str:
    value, low, high = map(form.format, values)
    return f"{value} ({low} to {high})".replace("-0.00", "0.00")


def list_judges(
    consensus: Consensus,
    gold: Gold | None,
    confusions: Confusions,
    commonest: Commonest,
    limits: Limits,
    flags: Mapping[str, Sequence[str]],
) -> tuple[Any, tuple[str, ...]]:
    """Return the table of judges, and notes on what it lacks."""
    table = consensus.judges.to_table()
    evidence = weigh_gold(consensus, gold, limits.least)
    skill = measure_skill(consensus, evidence, limits.useful)
    bias = _measure_bias(consensus)
    mistake = _rate_mistakes(commonest, confusions)
    new: dict[str, Any] = {"p_chance": pa.array(skill.p_chance)}
    new |= interval_columns("skill", skill[:3])
    new |= interval_columns("bias", bias)
    new["mistake_truth"] = name_codes(consensus.scale.truths, commonest.truth)
    new["mistake_label"] = name_codes(consensus.scale.labels, commonest.label)
    new |= interval_columns("mistake", mistake, first="mistake_rate")
    notes: list[str] = []
    if consensus.judgments.seconds is not None:
        new["seconds"] = median_seconds(consensus.judgments)
    else:
        notes.append("no seconds: time per judgment is not known; a column 'seconds' adds it")
    new |= _on_gold(consensus, gold, notes)
    found = _gather_evidence(consensus, table, evidence, skill, bias, mistake, commonest)
    advice = zip(*_advise(found, limits), consensus.judgments.judges.to_pylist(), strict=True)
    heeded = [limits.heed_flags(word, why, flags.get(judge, ())) for word, why, judge in advice]
    for at, name in enumerate(("advice", "why")):
        new[name] = pa.array([row[at] for row in heeded], pa.large_string())
    if consensus.draws is None:
        notes.append(
            "no draws: intervals account for the number of judgments, not for the uncertainty of "
            "the truth; a sampled model such as hierarchical-confusion adds that"
        )
    if consensus.model in _VOTES:
        notes.append(
            f"in {consensus.model} a judge's own judgment counts towards the label, which makes "
            "judges look too good; a model of confusion such as item-types avoids that"
        )
    for name, column in new.items():
        if name not in table.column_names:
            table = table.append_column(name, column)
    return table, tuple(notes)


def _rate_mistakes(commonest: Commonest, confusions: Confusions) -> _Floats:  # (3, judge)
    """Return the rate of each judge's commonest mistake with its interval; NaN for no mistake."""
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
    """Gather the basis of the advice; where gold decides, bias and mistakes are those on gold."""
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
    shared = np.where(decides[:, None, None], consensus.evidence, evidence.counts)
    seen = golds.sum(axis=(1, 2))
    right = np.einsum("jkl,kl->j", golds, scale.stands)
    return _Evidence(
        gold=np.rint(seen).astype(np.int64),
        gold_right=np.stack([right / np.maximum(seen, 1), *jeffreys(right, seen, LEVEL)]),
        judgments=consensus.judgments.counts_per_judge,
        shared=np.rint(shared.sum(axis=(1, 2))).astype(np.int64),
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


def _floats(column: Any) -> _Floats:
    """Return an Arrow column as numbers, NaN for null."""
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _measure_bias(consensus: Consensus) -> _Floats:  # (3, judge)
    """Return the mean of label minus truth, in grades, and its interval; NaN without an order.

    A label that means no truth has no grade and is left out. Two truths count as lower and higher.
    """
    scale = consensus.scale
    drawn = keep_draws(consensus)
    shift, graded = _shift(scale)
    if drawn is None or np.isnan(shift).all():
        return _bias_from_counts(consensus.evidence, scale)
    prevalence = consensus.overall_prevalence
    values = np.einsum("k,sjkl,kl->sj", prevalence, drawn, shift)
    share = np.einsum("k,sjkl,l->sj", prevalence, drawn, graded)
    values = values / np.maximum(share, 1e-300)
    return summarise(values)


def _shift(scale: Scale) -> tuple[_Floats, _Floats]:  # (truth, label), (label,)
    """Return grades between truth and label, NaN without an order, and graded labels."""
    truth_of, truths = np.array(scale.truth_of), len(scale.truths)
    graded = (truth_of >= 0).astype(np.float64)
    if truths < 2 or (truths > 2 and not scale.ordinal):
        return np.full((truths, len(truth_of)), np.nan), graded
    return (truth_of - np.arange(truths)[:, None]) * graded, graded


def _bias_from_counts(every: _Floats, scale: Scale) -> _Floats:  # (3, judge)
    """Return the mean shift of the counts (judge, truth, label), and its interval.

    The error is that of a mean with half a judgment one grade too high and half a judgment one
    grade too low added: a judge of three judgments, all right, may still be biased.
    """
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
    """Measure each judge on gold and on honeypots, if there are any."""
    judgments = consensus.judgments
    kinds = {"graded-accuracy-gold": "gold", "honeypot-accuracy": "honeypot"}
    able = tuple(name for name in kinds if name in available(judgments, gold))
    if not able:
        notes.append("no gold: accuracy on items of known truth is not known; gold adds it")
        return {}
    found = measure_features(judgments, gold, names=able)
    columns: dict[str, Any] = {}
    for name in able:
        value, count, kind = found[name], found.counts[name], kinds[name]
        columns[f"{kind}_judgments"] = pa.array(count.astype(np.int64))
        bounds = jeffreys(value * count, count, LEVEL)  # NaN where the share is
        columns |= interval_columns(kind, (value, *bounds), first=f"{kind}_accuracy")
    return columns


def median_seconds(judgments: Judgments) -> Any:
    """Return the median of the seconds that each judge spent per judgment."""
    if judgments.seconds is None:
        return reals(np.full(judgments.judge_count, np.nan))
    order = np.argsort(judgments.judge, kind="stable")
    parts = np.split(judgments.seconds[order], np.cumsum(judgments.counts_per_judge)[:-1])
    known = (part[~np.isnan(part)] for part in parts)
    return reals([float(np.median(part)) if part.size else None for part in known])


def feature_table(
    judgments: Judgments,
    gold: Gold | None = None,
    *,
    names: tuple[str, ...] | None = None,
    priors: tuple[float, ...] | None = None,
    seed: int = 0,
) -> Any:
    """Return one row per judge: the features named, by default all possible ones.

    Shares have 90% intervals under Jeffreys' prior, in columns ``<feature>_low`` and ``_high``, and
    the number of judgments behind them in ``<feature>_count``.
    """
    chosen = available(judgments, gold) if names is None else names
    found = measure_features(judgments, gold, names=chosen, priors=priors, seed=seed)
    columns = {"judge": judgments.judges, "judgments": pa.array(judgments.counts_per_judge)}
    for name in chosen:
        value, count = found[name], found.counts[name]
        columns[name] = reals(value)
        columns[f"{name}_count"] = pa.array(count.astype(np.int64))
        if "accuracy" in name:
            columns |= interval_columns(name, (value, *jeffreys(value * count, count, LEVEL)))
    return pa.table(columns)
