"""Gold that is not about what a model judges now: of another version, or another mix of items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, ks_2samp

from adjudge.data.model_answers import ModelAnswers
from adjudge.data.source import count_of
from adjudge.evaluation.model_judges.soft_judgments import SoftJudgments
from adjudge.evaluation.significance import adjust

_LEAST_GOLD = 20  # gold items of a version, below which its error rates are not known
_MANY = 30  # items with and without gold from which the two are compared
_SURE = 0.01  # adjusted p
_FAR = 0.1  # share of labels that would have to move
_SPREAD = 0.2  # distance of the distributions of lengths
_TOPICS = 0.5  # of the topics that gold drawn at random would have reached


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something that a person should know of a judge, an item or the gold."""

    kind: str
    subject: str  # empty where it is about all
    sentence: str


def stale_versions(
    answers: ModelAnswers, soft: SoftJudgments, known: NDArray[np.int16]
) -> list[Remark]:
    """Versions with hardly any gold, of models of which another version has enough."""
    names = answers.judgments.judges.to_pylist()
    judges = answers.judgments.judge_count
    items = np.bincount(soft.judge, minlength=judges)
    gold = np.bincount(soft.judge[known[soft.item] >= 0], minlength=judges)
    found = []
    for judge, model in enumerate(answers.model):
        kin = [j for j in range(judges) if model and answers.model[j] == model and j != judge]
        measured = [j for j in kin if gold[j] >= _LEAST_GOLD]
        if not measured or gold[judge] >= _LEAST_GOLD or items[judge] < _LEAST_GOLD:
            continue
        other = max(measured, key=lambda j: int(gold[j]))
        found.append(
            Remark(
                kind="stale version",
                subject=names[judge],
                sentence=(
                    f"{names[judge]} judged {count_of(int(items[judge]), 'item')}, of which "
                    f"{gold[judge]:,} {'has' if gold[judge] == 1 else 'have'} gold; the gold "
                    f"was taken with {names[other]} ({gold[other]:,}). How right "
                    "this version is, is not known: have some of its items judged by people."
                ),
            )
        )
    return found


def stale_mix(answers: ModelAnswers, soft: SoftJudgments, known: NDArray[np.int16]) -> list[Remark]:
    """Where items without gold are of another kind than those with it."""
    found = [*_labels_moved(answers, soft, known), *_lengths_moved(answers, known)]
    topics = _topics_missed(answers, known)
    return [*found, topics] if topics is not None else found


def _labels_moved(
    answers: ModelAnswers, soft: SoftJudgments, known: NDArray[np.int16]
) -> list[Remark]:
    """Judges who give other labels on items without gold than on those with it."""
    names = answers.judgments.judges.to_pylist()
    has = known[soft.item] >= 0
    tested: list[tuple[int, float, float]] = []
    for judge in range(answers.judgments.judge_count):
        own = soft.judge == judge
        tables = np.array([soft.shares[own & has].sum(axis=0), soft.shares[own & ~has].sum(axis=0)])
        if min(int((own & has).sum()), int((own & ~has).sum())) < _MANY:
            continue
        tables = tables[:, tables.sum(axis=0) > 0]
        shares = tables / tables.sum(axis=1, keepdims=True)
        moved = 0.5 * float(np.abs(shares[0] - shares[1]).sum())
        p = float(chi2_contingency(tables).pvalue) if tables.shape[1] > 1 else 1.0
        tested.append((judge, moved, p))
    sure = adjust(np.array([p for _, _, p in tested])) <= _SURE
    return [
        Remark(
            kind="stale mix",
            subject=names[judge],
            sentence=(
                f"{names[judge]} gives other labels where there is no gold: {moved:.0%} of them "
                "would have to move. The mix of items has changed since the gold was taken, or the "
                "gold was not drawn at random: what it says of the judge may not hold there."
            ),
        )
        for (judge, moved, _), certain in zip(tested, sure, strict=True)
        if certain and moved >= _FAR
    ]


def _lengths_moved(answers: ModelAnswers, known: NDArray[np.int16]) -> list[Remark]:
    length = answers.length
    if length is None:
        return []
    with_gold, without = (length[mask & ~np.isnan(length)] for mask in (known >= 0, known < 0))
    if min(len(with_gold), len(without)) < _MANY:
        return []
    test = ks_2samp(with_gold, without)
    if test.pvalue > _SURE or test.statistic < _SPREAD:
        return []
    middle = f"{np.median(with_gold):,.0f} and {np.median(without):,.0f}"
    return [
        Remark(
            kind="stale mix",
            subject="",
            sentence=(
                f"Items with gold and without differ in length (medians {middle}): the gold may "
                "not speak for the others."
            ),
        )
    ]


def _topics_missed(answers: ModelAnswers, known: NDArray[np.int16]) -> Remark | None:
    """Gold that stands in far fewer topics than if it had been drawn at random."""
    topic = answers.judgments.topic
    if topic is None or answers.judgments.topics is None:
        return None
    size = np.bincount(topic, minlength=len(answers.judgments.topics)).astype(np.float64)
    reached = np.unique(topic[known >= 0]).size
    share = float((known >= 0).mean())
    expected = float((1 - (1 - share) ** size).sum())
    if not reached or reached >= _TOPICS * expected or expected - reached < 5:
        return None
    return Remark(
        kind="stale mix",
        subject="",
        sentence=(
            f"The gold is of {count_of(reached, 'topic')}, where gold drawn at random would be of "
            f"{expected:,.0f}: of the other topics nothing is known."
        ),
    )
