"""People and models of one panel: who agrees with whom, who errs, and what gold bought."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import MODEL, PERSON, Judgments
from adjudge.data.model_answers import ModelAnswers
from adjudge.errors import AdjudgeError, BadData
from adjudge.evaluation.against_gold import Evaluation
from adjudge.evaluation.agreement import pairs_of_judgments
from adjudge.evaluation.crossvalidation import cross_validate
from adjudge.evaluation.model_judges._contests import kinds_of
from adjudge.evaluation.model_judges.alignment import align
from adjudge.evaluation.model_judges.replacement import Replacement, may_replace
from adjudge.evaluation.scores import jeffreys
from adjudge.models.calibrated import with_calibration
from adjudge.models.registry import MODELS
from adjudge.models.registry import model as build_model

_NAN = float("nan")
_MANY = 200_000  # judgments up to which five fits are worth their time
_LEAST_GOLD = 20
_ROWS = 60  # models that are listed
_MOST_PAIRS = 20_000_000  # of judgments that are compared: about 1 GB


@dataclass(frozen=True, slots=True, kw_only=True)
class _Company:
    """How far two kinds of judges agree on the items that both judged."""

    who: str
    pairs: int  # of judgments
    same: float  # share of pairs with one label
    kappa: float  # the same with chance taken off


@dataclass(frozen=True, slots=True)
class _ErrorRate:
    """How often a judge, or all people together, is right on gold."""

    who: str
    kind: str  # people or model
    gold: int  # judgments of gold items
    accuracy: float
    low: float | None
    high: float | None
    kappa: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _GoldBought:
    """The consensus on gold that it was not told, without any gold and with the other folds'."""

    gold: int
    accuracy: tuple[float, float]  # before, after
    log_loss: tuple[float, float]
    calibration_error: tuple[float, float]  # its bias corrected


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PanelSummary:
    """What is to be said of people and models who judged the same items."""

    people: int
    models: int
    company: tuple[_Company, ...]
    errors: tuple[_ErrorRate, ...]
    bought: _GoldBought | None
    replacement: Replacement | None
    untested: str  # why there is no verdict, where there is none


def summarise_panel(
    consensus: Consensus,
    gold: Gold | None,
    before: Evaluation | None,
    *,
    after: Evaluation | None = None,
    seed: int = 0,
) -> PanelSummary | None:
    """People and models side by side; None where the judgments do not tell them apart.

    ``before`` scores the same fit without gold, ``after`` across folds of it, where that is known.
    """
    judgments = consensus.judgments
    kinds = kinds_of(judgments)
    if kinds is None or not (kinds == MODEL).any():
        return None
    replacement, untested = None, ""
    try:
        replacement = may_replace(judgments, seed=seed, resamples=500)
    except BadData as fault:
        untested = str(fault)
    return PanelSummary(
        people=int((kinds == PERSON).sum()),
        models=int((kinds == MODEL).sum()),
        company=_company(consensus, kinds),
        errors=() if gold is None else _errors(judgments, kinds, gold),
        bought=None if gold is None else _bought(consensus, gold, before, after, seed),
        replacement=replacement,
        untested=untested,
    )


def _company(consensus: Consensus, kinds: NDArray[np.int8]) -> tuple[_Company, ...]:
    """Agreement among people, among models, between them, and within families of models.

    A family is declared, or found by a model that looks for near copies.
    """
    judgments = consensus.judgments
    size = judgments.counts_per_item
    if int((size * (size - 1) // 2).sum()) > _MOST_PAIRS:
        return ()
    left, right = pairs_of_judgments(size, judgments.offsets)
    a, b = judgments.judge[left], judgments.judge[right]
    family = -1 - np.arange(judgments.judge_count)  # nobody else's
    if consensus.families is not None:
        family = consensus.families.family.astype(np.int64)
    elif judgments.family is not None:
        family = np.where(judgments.family >= 0, judgments.family, family)
    kin = family[a] == family[b]
    models, people = kinds == MODEL, kinds == PERSON
    groups = {
        "people with people": people[a] & people[b],
        "people with models": (people[a] & models[b]) | (models[a] & people[b]),
        "models with other models": models[a] & models[b] & ~kin,
        "models of one family": models[a] & models[b] & kin,
    }
    other = a != b  # samples of one judge are no company
    found = []
    for who, mask in groups.items():
        chosen = mask & other
        if chosen.any():
            found.append(_agreement(who, judgments, left[chosen], right[chosen], people))
    return tuple(found)


def _agreement(
    who: str,
    judgments: Judgments,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    people: NDArray[np.bool_],  # (judge,)
) -> _Company:
    """Agreement over pairs of judgments; of mixed pairs the person comes first."""
    swap = ~people[judgments.judge[left]] & people[judgments.judge[right]]
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    labels = len(judgments.scale.labels)
    first = np.bincount(judgments.label[left], minlength=labels) / len(left)
    second = np.bincount(judgments.label[right], minlength=labels) / len(right)
    same = float((judgments.label[left] == judgments.label[right]).mean())
    chance = float(first @ second)
    kappa = (same - chance) / (1 - chance) if chance < 1 else float("nan")
    return _Company(who=who, pairs=len(left), same=same, kappa=kappa)


def _errors(judgments: Judgments, kinds: NDArray[np.int8], gold: Gold) -> tuple[_ErrorRate, ...]:
    """How often people together and each model are right on gold."""
    found = []
    people = kinds == PERSON
    known = gold.align(judgments)
    truth = known[judgments.item]
    mine = people[judgments.judge] & (truth >= 0)
    if mine.any():
        stands = np.array(judgments.scale.truth_of)
        hits, total = int((stands[judgments.label[mine]] == truth[mine]).sum()), int(mine.sum())
        low, high = jeffreys(hits, total, 0.95)
        who = f"all {int(people.sum()):,} people"
        found.append(_ErrorRate(who, "people", total, hits / total, float(low), float(high), _NAN))
    models = judgments.select(judgments=(kinds == MODEL)[judgments.judge])
    try:
        versions = align(ModelAnswers.of(models), gold, resamples=0).versions
    except BadData:  # no model judged an item with gold
        return tuple(found)
    ranked = sorted(versions, key=lambda one: (-one.gold, one.judge))[:_ROWS]
    for one in ranked:
        if one.gold:
            accuracy = one.accuracy.value, one.accuracy.low, one.accuracy.high
            found.append(_ErrorRate(one.judge, "model", one.gold, *accuracy, one.kappa.value))
    return tuple(found)


def _bought(
    consensus: Consensus, gold: Gold, before: Evaluation | None, after: Evaluation | None, seed: int
) -> _GoldBought | None:
    """What the other folds' gold makes of the consensus on gold that it is not told."""
    many = len(consensus.judgments) > _MANY or consensus.draws is not None
    if before is None or before.scored < _LEAST_GOLD:
        return None
    if after is None:
        if many or consensus.model not in MODELS:
            return None
        try:
            fitted = with_calibration(build_model(consensus.model, **consensus.settings))
            after = cross_validate(fitted, consensus.judgments, gold, folds=5, seed=seed).pooled
        except (AdjudgeError, TypeError):
            return None
    scores = ("accuracy", "log_loss", "corrected_calibration_error")
    pairs = [(before[name].shown.value, after[name].shown.value) for name in scores]
    return _GoldBought(
        gold=after.scored, accuracy=pairs[0], log_loss=pairs[1], calibration_error=pairs[2]
    )
