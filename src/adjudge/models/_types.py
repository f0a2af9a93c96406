"""How judges are expected to label each type of item, before their own counts are added.

The expected row of judge j for label k is the typical row of k, made more or less sharp and slanted
towards some labels:

    row_jk[l]  is proportional to  typical_k[l]^a_j e^(b_j[l]),    a_j ~ N(1, 1/4),  b_j ~ N(0, 1)

A judge's own row of a label is drawn to it by ``strength`` pseudo-judgments, and the row of a type
(a kind of the label) differs from its label's as it does for the typical judge. All sums over
judges are in integer units, so that the order of judges does not change the result.

Then from fitted types to the answer: what types mean, the blend with the vote, judges' counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Dependence
from adjudge.data.judges import OPTIMISM, logit
from adjudge.data.judgments import MODEL, PERSON, Judgments
from adjudge.data.source import count_of
from adjudge.kernels.fixed import SHARE, WEIGHT
from adjudge.models._families import EffectiveJudges
from adjudge.models.dependence import count_effective, kind_balance
from adjudge.models.model import Prepared, count_judgments

_Floats = NDArray[np.float64]
_UNIT, _FINE = 2.0**24, 2.0**40  # of exact sums: of counts, of shares
_SHARPNESS, _SLANT = 4.0, 1.0  # prior precision of a and b


def exact_sum(values: _Floats, *, fine: bool = False) -> _Floats:
    """Sum over the first axis with a result that does not depend on the order.

    Values are rounded to units of 2^-24; with ``fine`` to 2^-40, for values of at most 1.
    """
    unit = _FINE if fine else _UNIT
    return np.asarray(np.rint(values * unit).astype(np.int64).sum(axis=0) / unit)


def normalise(rows: _Floats) -> _Floats:
    """Divide rows by their sums."""
    return np.asarray(rows / rows.sum(axis=-1, keepdims=True))


class JudgeRows:
    """The expected rows of all judges, updated from counts."""

    def __init__(self, cells: _Floats, weight: _Floats, kinds: int, strength: float) -> None:
        judges, labels = cells.shape
        self.kinds, self.strength = kinds, strength
        self.weight = weight  # (judge,) of a judgment, and so of the prior
        self.base = normalise(exact_sum(cells) + 1.0)  # (label,) share of each label
        self.sharpness = np.ones(judges)
        self.slant = np.zeros((judges, labels))

    @property
    def types(self) -> int:
        """The number of types."""
        return len(self.base) * self.kinds

    @property
    def state(self) -> dict[str, _Floats]:
        """Sharpness and slant of each judge, to continue from."""
        return {"sharpness": self.sharpness, "slant": self.slant}

    def restore(self, state: dict[str, _Floats]) -> None:
        """Continue from an earlier state."""
        self.sharpness, self.slant = state["sharpness"], state["slant"]

    def update(self, counts: _Floats) -> _Floats:  # (judge, type, label)
        """Update sharpness and slant, and return the expected row of each judge and type."""
        label_row, type_row = self._typical(counts)
        by_label = counts.reshape(len(counts), len(self.base), self.kinds, -1).sum(axis=2)
        logs = np.log(label_row)
        self._step(by_label, logs)
        expected = self.strength * self.weight[:, None, None] * self._rows(logs)
        own = normalise(by_label + expected)  # (judge, label, label)
        ratio = type_row / np.repeat(label_row, self.kinds, axis=0)
        return normalise(np.repeat(own, self.kinds, axis=1) * ratio)

    def typical(self, counts: _Floats) -> _Floats:  # (type, label)
        """The row of a judge about whom nothing is known."""
        return self._typical(counts)[1]

    def _typical(self, counts: _Floats) -> tuple[_Floats, _Floats]:
        """The typical rows of each label and of each type, from the counts of all judges."""
        pooled, labels = exact_sum(counts), len(self.base)
        by_label = pooled.reshape(labels, self.kinds, labels).sum(axis=1)
        label_row = normalise(by_label + self.base + self.strength * np.eye(labels))
        drawn = self.strength * np.repeat(label_row, self.kinds, axis=0)
        return label_row, normalise(pooled + drawn)

    def _rows(self, logs: _Floats) -> _Floats:  # (judge, label, label)
        score = self.sharpness[:, None, None] * logs + self.slant[:, None, :]
        return normalise(np.exp(score - score.max(axis=-1, keepdims=True)))

    def _step(self, counts: _Floats, logs: _Floats) -> None:
        """Take one Newton step to the most probable sharpness and slant of each judge."""
        rows, total = self._rows(logs), counts.sum(axis=-1)
        residual = counts - total[:, :, None] * rows
        labels = counts.shape[-1]
        sharp, lean = _SHARPNESS * self.weight, _SLANT * self.weight
        gradient = np.empty((len(counts), labels + 1))
        gradient[:, 0] = np.einsum("jkl,kl->j", residual, logs) - sharp * (self.sharpness - 1.0)
        gradient[:, 1:] = residual.sum(axis=1) - lean[:, None] * self.slant
        mean = np.einsum("jkl,kl->jk", rows, logs)
        square = np.einsum("jkl,kl->jk", rows, logs**2)
        hessian = np.empty((len(counts), labels + 1, labels + 1))
        hessian[:, 0, 0] = (total * (square - mean**2)).sum(axis=1) + sharp
        weighted = total[:, :, None] * rows
        cross = np.einsum("jkl,kl->jl", weighted, logs) - np.einsum("jkl,jk->jl", weighted, mean)
        hessian[:, 0, 1:] = hessian[:, 1:, 0] = cross
        hessian[:, 1:, 1:] = -(weighted.transpose(0, 2, 1) @ rows)
        diagonal = np.arange(1, labels + 1)
        hessian[:, diagonal, diagonal] += weighted.sum(axis=1) + lean[:, None]
        step = np.clip(np.linalg.solve(hessian, gradient[..., None])[..., 0], -1.0, 1.0)
        self.sharpness = np.clip(self.sharpness + step[:, 0], -2.0, 4.0)
        self.slant = self.slant + step[:, 1:]


_KNOWN = 20.0  # judgments of a judge, or judges, that are enough to show something
_EXPONENT = 4.0  # of a judge's information, in the weight of the reference judge
_EVEN = 1.0  # judges who give every label alike, added to the reference judge
_VOTE = 0.5  # votes added to each label
# Power of the types' answer: less where it carries no information, and for each unit of the log of
# an item's judgments; the latter more for LLMs and less for people.
_TYPES, _TYPES_LESS, _TYPES_MANY, _TYPES_KIND = 0.94, 0.67, 0.087, 0.075
_SHARE, _SHARE_MORE = 0.24, 0.25  # power of the vote share: more where types carry no information
_JUDGE = 0.25  # weight of types, against the answer, in how judges differ in accuracy
_KIND_LEVEL = 0.13  # logit by which LLMs are overrated more than average, and people less
_TOPIC = 10.0  # pseudo-items of the overall prevalence, in that of a topic
_BLOCK = 5_000  # items at a time
_FEW_JUDGMENTS = 4  # per item, below which labels cannot show whether judges are independent


def weight_judges(prepared: Prepared) -> _Floats:  # (judge,)
    """The mean weight of each judge's judgments of an item.

    Priors weigh as much, so that two duplicates of weight one half are one judge.
    """
    effective = prepared.effective
    total = effective.fold(prepared.effective_cells(), weighted=True).sum(axis=1)
    return np.asarray(np.where(effective.items > 0, total / np.maximum(effective.items, 1), 1.0))


def read_types(prepared: Prepared, prevalence: _Floats, rates: _Floats) -> _Floats:
    """What each type means, (type, truth): what a reference judge says about it.

    The reference judge is a mean over judges, weighted by how informative they are; with few judges
    all weigh about the same. One more judge who gives every label alike has a share of
    1 / (judges + 1): few judges cannot show that they do not err together.
    """
    count, weight = prepared.effective.items.astype(np.float64), weight_judges(prepared)
    judges = float(exact_sum(weight * np.minimum(1.0, count / _KNOWN)))
    exponent = _EXPONENT * judges**2 / (judges**2 + _KNOWN**2)
    mean = np.einsum("t,jtl->jl", prevalence, rates)
    ratio = np.log(np.maximum(rates, 1e-300) / np.maximum(mean[:, None, :], 1e-300))
    bits = np.einsum("t,jtl,jtl->j", prevalence, rates, ratio) * count / (count + _KNOWN)
    bits = np.maximum(bits, 1e-6)
    say = np.where(count > 0, weight, 0.0) * (bits / bits.max(initial=1e-6)) ** exponent
    if not say.max(initial=0.0) > 0:
        say = np.ones(len(say))
    meaning = normalise(exact_sum(say[:, None, None] / say.max() * rates, fine=True))
    unknown = _EVEN / (judges + _EVEN)
    meaning = (1.0 - unknown) * meaning + unknown / meaning.shape[1]
    scale = prepared.judgments.scale
    if scale.truth_of == tuple(range(len(scale.truths))):
        return np.asarray(meaning)
    return normalise(meaning @ scale.stands.T.astype(np.float64) + 1e-9)


@dataclass(frozen=True, slots=True)
class Powers:
    """The powers of the two parts of the blend."""

    types: float  # of the types' answer for an item with one judgment
    many: float  # taken from it for each unit of the log of an item's judgments
    share: float  # of the vote share


def choose_powers(prepared: Prepared, posterior: _Floats) -> Powers:
    """Choose the powers of the types' answer and of the vote share."""
    x = measure_loss(prepared, posterior)
    many = _TYPES_MANY + _TYPES_KIND * kind_balance(prepared.judgments)
    return Powers(_TYPES - _TYPES_LESS * x, many, _SHARE + _SHARE_MORE * x)


def measure_loss(prepared: Prepared, posterior: _Floats) -> float:
    """x: 0 where the types' answer carries as much information as the vote share, 1 where none."""
    truths, counts = posterior.shape[1], prepared.judgments.counts_per_item
    mean, entropy = np.zeros((2, truths)), np.zeros(2)  # of the types' answer, of the vote share
    for items in _blocks(posterior):
        judged = items[counts[items] > 0]
        votes = normalise(sum_votes(prepared, judged, truths) + _VOTE)
        for place, rows in enumerate((posterior[judged], votes)):
            mean[place] += exact_sum(rows)
            entropy[place] += float(exact_sum(_entropy(rows)))
    many = max(int((counts > 0).sum()), 1)
    # The mutual information of items and labels: entropy of the mean less mean entropy.
    types, share = _entropy(mean / many) - entropy / many
    return float(1.0 - min(types / max(share, 1e-9), 1.0))


def _entropy(rows: _Floats) -> _Floats:
    return np.asarray(-(rows * np.log(np.maximum(rows, 1e-12))).sum(axis=-1))


def _blocks(posterior: _Floats) -> list[NDArray[np.int64]]:
    return [
        np.arange(begin, min(begin + _BLOCK, len(posterior)))
        for begin in range(0, len(posterior), _BLOCK)
    ]


def count_votes(
    split: Judgments, effective: EffectiveJudges, items: NDArray[np.int64], truths: int
) -> _Floats:
    """Count the weighted votes (item, truth) of some items."""
    row, place = split.rows_of(items)
    truth = np.array(split.scale.truth_of)[split.label[row]]
    voted = truth >= 0
    units = effective.units[split.judge[row[voted]]]
    cell = place[voted] * truths + truth[voted]
    sums = np.bincount(cell, weights=units, minlength=len(items) * truths)
    return np.asarray(sums.reshape(len(items), truths) / WEIGHT)


def sum_votes(prepared: Prepared, items: NDArray[np.int64], truths: int) -> _Floats:
    """The votes for each true label of some items; a family counts as one judge."""
    return count_votes(prepared.split, prepared.effective, items, truths)


def blend(prepared: Prepared, posterior: _Floats, powers: Powers) -> None:
    """Blend the types' answer with the vote share, in place."""
    for items in _blocks(posterior):
        votes = sum_votes(prepared, items, posterior.shape[1])
        many = np.log(np.maximum(votes.sum(axis=1, keepdims=True), 1.0))
        logs = (powers.types - powers.many * many) * np.log(np.maximum(posterior[items], 1e-12))
        logs += powers.share * np.log(normalise(votes + _VOTE))
        posterior[items] = normalise(np.exp(logs - logs.max(axis=1, keepdims=True)))


def confusion_of(counts: _Floats) -> _Floats:  # (judge, truth, label)
    """Judges' rates from their counts, drawn to everybody's by one judgment per true label."""
    return normalise(counts + normalise(exact_sum(counts) + 1e-3))


def count_effective_judgments(prepared: Prepared, dependence: Dependence | None) -> _Floats:
    """The effective number of judgments of each item, (item,)."""
    correlation = 0.0 if dependence is None else dependence.correlation
    return count_effective(prepared.effective_per_item(), correlation)


def level_of(  # (judge,)
    prepared: Prepared, counts: _Floats, kinds: int, posterior: _Floats
) -> _Floats:
    """What to add to the logit of each judge's accuracy, as ``posterior`` has it.

    The blended answer is cautious, and judges look too bad and too similar by it; types taken for
    labels make them look too good, on real data by about .41, and too different. The mean over
    judges is the second less that; how judges differ is a mean of both.
    """
    judgments, truths = prepared.judgments, posterior.shape[1]
    judge_counts = judgments.counts_per_judge
    if not len(judgments):
        return np.zeros(len(judge_counts))
    truth_of = np.array(judgments.scale.truth_of)
    meant = truth_of[None, :] == np.arange(truths)[:, None]  # (truth, label)
    own = np.repeat(truth_of, kinds)  # (type,)
    right = (own[:, None] == truth_of[None, :]) & (own[:, None] >= 0)
    trusted = np.einsum("jtl,tl->j", counts, right) / np.maximum(counts.sum(axis=(1, 2)), 1e-9)
    cautious = np.einsum("jkl,kl->j", count_judgments(judgments, posterior), meant)
    cautious = cautious / np.maximum(judge_counts, 1)
    weight = judge_counts / (judge_counts + _KNOWN)
    apart = logit(trusted) - logit(cautious)
    mean = exact_sum(weight * apart) / exact_sum(weight)
    level = mean - OPTIMISM - _KIND_LEVEL * kind_balance(judgments)
    return np.asarray(level + _JUDGE * weight * (apart - mean))


def describe(prepared: Prepared) -> list[str]:
    """What was assumed about judges, and what cannot be seen without gold."""
    judgments, notes = prepared.judgments, []
    if judgments.kind is not None and (judgments.kind >= 0).any():
        people, models = (int((judgments.kind == kind).sum()) for kind in (PERSON, MODEL))
        notes.append(
            f"declared: {count_of(people, 'human judge')}, {count_of(models, 'LLM judge')}; "
            "LLM judges are assumed to err together more often than people"
        )
    if prepared.known is not None or not len(judgments):
        return notes
    active = judgments.counts_per_judge > 0
    if len(np.unique(prepared.families.family[active])) == 1:
        notes.append(
            "all judgments come from one judge or family, so its error rate cannot be estimated: "
            "labels are the judge's own and probabilities are a guess; add gold or a second judge"
        )
    else:
        per_item = prepared.effective_per_item()
        mean = float(per_item[per_item > 0].mean())
        if mean < _FEW_JUDGMENTS:
            notes.append(
                f"with {mean:.1f} judgments per item and no gold, labels cannot show whether "
                "judges err independently: how sure labels are rests on an assumption"
            )
    return notes


def prevalence_of(judgments: Judgments, posterior: _Floats, *, by_topic: bool) -> _Floats:
    """The share of each true label among judged items; that of a topic is drawn to all."""
    truths = posterior.shape[1]
    topics = judgments.topic if by_topic else None
    sums = np.zeros((1 if topics is None else judgments.topic_count, truths))
    for items in _blocks(posterior):
        judged = items[judgments.counts_per_item[items] > 0]
        units = np.rint(posterior[judged] * SHARE)
        np.add.at(
            sums, np.zeros(len(judged), np.int64) if topics is None else topics[judged], units
        )
    total = sums.sum(axis=0)
    overall = normalise(total) if total.sum() > 0 else np.full(truths, 1.0 / truths)
    return overall[None] if topics is None else normalise(sums / SHARE + _TOPIC * overall)


def fill_empty(judgments: Judgments, posterior: _Floats, prevalence: _Floats) -> None:
    """Give items without judgments the prevalence of their topic, or of all."""
    empty = np.flatnonzero(judgments.counts_per_item == 0)
    if len(prevalence) > 1 and judgments.topic is not None:
        prevalence = prevalence[judgments.topic[empty]]
    posterior[empty] = prevalence
