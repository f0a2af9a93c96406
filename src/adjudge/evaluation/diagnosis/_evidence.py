"""Evidence on judges: how they did on gold, and how far their skill is from chance.

With enough gold judgments gold decides, since the consensus may be wrong where judges err together.
The consensus only fills in truths with few gold judgments.

Skill is ``(S - 1) / (K - 1)``, S the sum over the K truths of the chance that the judge labels them
right: 1 for a judge who never errs, 0 for one whose labels do not depend on the truth; below 0 they
are worse than chance. For two truths it is sensitivity + specificity - 1. Unlike accuracy it is not
raised by always giving the commonest label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judges import LEVEL
from adjudge.evaluation.diagnosis._confusions import TAILS, keep_draws, summarise
from adjudge.evaluation.scores import beta_interval, tabulate

_JUST_ABOVE = 1e-12  # so that a certain value still has a distribution
_STRATA = 24  # of a Beta: 576 sums of two
_BLOCK = 4096  # judges worked on at a time
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldEvidence:
    """Judgments of gold items, and the counts that skill is measured on."""

    golds: _Floats  # (judge, truth, label) judgments of gold items, honeypots too
    counts: _Floats  # (judge, truth, label) what skill is measured on
    decides: NDArray[np.bool_]  # (judge,) who has enough gold judgments


def weigh_gold(consensus: Consensus, gold: Gold | None, least: int) -> GoldEvidence:
    """Count gold judgments, both of gold that the fit was given and of other gold.

    With ``least`` gold judgments or more they decide. Then each truth with fewer than ``least`` of
    them is filled up to that number by the judge's judgments of it according to the consensus. With
    fewer gold judgments, those that the fit did not know take the place of as many others.
    """
    judgments = consensus.judgments
    given = np.full(judgments.item_count, -1, dtype=np.int16)
    fitted = given if consensus.known is None else consensus.known
    if gold is not None:
        given = gold.align(judgments)
    golds = count_known(consensus, np.where(given >= 0, given, fitted))
    new = count_known(consensus, np.where(fitted >= 0, np.int16(-1), given))
    decides = golds.sum(axis=(1, 2)) >= max(least, 1)
    evidence = consensus.evidence
    lacking = np.maximum(least - golds.sum(axis=2), 0.0)
    fill = np.minimum(lacking / np.maximum(evidence.sum(axis=2), 1e-300), 1.0)
    left = 1.0 - new.sum(axis=(1, 2)) / np.maximum(judgments.counts_per_judge, 1)
    return GoldEvidence(
        golds=golds,
        counts=np.where(
            decides[:, None, None],
            golds + evidence * fill[:, :, None],
            new + evidence * left[:, None, None],
        ),
        decides=decides,
    )


def count_known(consensus: Consensus, known: NDArray[np.int16]) -> _Floats:  # (judge, truth, label)
    """Count the judgments of items whose truth is known."""
    judgments, truth = consensus.judgments, known[consensus.judgments.item]
    codes = (part[truth >= 0] for part in (judgments.judge, truth, judgments.label))
    return tabulate(consensus.counts.shape, *codes).astype(np.float64)


class Skill(NamedTuple):
    """Each judge's skill with its 90% interval, and probabilities of being below two levels."""

    value: _Floats  # (judge,)
    low: _Floats  # (judge,)
    high: _Floats  # (judge,)
    p_chance: _Floats  # (judge,) that they are no better than chance
    p_useless: _Floats  # (judge,) that their skill is below the useful level


def measure_skill(consensus: Consensus, evidence: GoldEvidence, useful: float) -> Skill:
    """Measure the skill of each judge, from draws if there are any; from counts if gold decides."""
    truths = len(consensus.scale.truths)
    if truths < 2:
        judges = consensus.judgments.judge_count
        return Skill(*[np.zeros(judges)] * 3, *[np.full(judges, 0.5)] * 2)
    counted = _from_counts(evidence.counts, consensus.scale.stands, useful)
    drawn = keep_draws(consensus)
    if drawn is None:
        return counted
    sums = np.einsum("sjkl,kl->sj", drawn, consensus.scale.stands)
    found = (sums - 1.0) / (truths - 1)  # (draw, judge)
    below = [(found <= end).mean(axis=0) for end in (0, useful)]
    return Skill(*np.where(evidence.decides, counted, [*summarise(found), *below]))


def _from_counts(counts: _Floats, right: NDArray[np.bool_], useful: float) -> Skill:
    """Measure skill from counts (judge, truth, label): S is a sum of Betas, one per truth.

    Each row has Jeffreys' prior with its mean at chance, so that a judge of no judgments has skill
    0 and is as likely above chance as below.
    """
    truths = counts.shape[1]
    hits = np.einsum("jkl,kl->jk", counts, right)
    a = np.maximum(hits, 0.0) + 0.5  # (judge, truth)
    b = np.maximum(counts.sum(axis=2) - hits, 0.0) + (truths - 1) / 2
    ends = (1.0, 1.0 + useful * (truths - 1))
    of = _of_two if truths == 2 else _of_many
    parts = range(0, len(a), _BLOCK)
    found = [of(a[at : at + _BLOCK], b[at : at + _BLOCK], ends) for at in parts]
    low, high, *chances = np.concatenate(found, axis=1)
    mean = (a / (a + b)).sum(axis=1)
    return Skill(*((total - 1.0) / (truths - 1) for total in (mean, low, high)), *chances)


def _of_two(a: _Floats, b: _Floats, ends: tuple[float, float]) -> _Floats:  # (4, judge)
    """Return the interval of a sum of two Betas, and its probabilities below two ends.

    It is computed over strata of both, since a sum such as that of a judge who saw one truth only
    is far from a Beta.
    """
    at = (np.arange(_STRATA) + 0.5) / _STRATA
    first, second = (betaincinv(a[:, [k]], b[:, [k]], at) for k in range(2))  # (judge, stratum)
    sums = (first[:, :, None] + second[:, None, :]).reshape(len(a), -1)
    low, high = np.quantile(sums, TAILS, axis=1)
    below = [
        betainc(a[:, [1]], b[:, [1]], np.clip(end - first, 0.0, 1.0)).mean(axis=1) for end in ends
    ]
    return np.stack([low, high, *below])


def _of_many(a: _Floats, b: _Floats, ends: tuple[float, float]) -> _Floats:  # (4, judge)
    """Return the same for three or more, approximated by a Beta of the same mean and variance."""
    truths = a.shape[1]
    mean = (a / (a + b)).mean(axis=1)  # of S / K
    spread = (a * b / ((a + b) ** 2 * (a + b + 1))).sum(axis=1) / truths**2
    strength = np.maximum(mean * (1 - mean) / spread - 1, _JUST_ABOVE)
    first, second = mean * strength, (1 - mean) * strength
    bounds = truths * np.stack(beta_interval(first, second, LEVEL))
    return np.stack([*bounds, *(betainc(first, second, end / truths) for end in ends)])
