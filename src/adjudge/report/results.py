"""Everything there is to show of one consensus, gathered once from evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import MODEL
from adjudge.evaluation.against_gold import (
    Evaluation,
    MoreGold,
    VoteComparison,
    compare_with_vote,
    evaluate,
)
from adjudge.evaluation.agreement import Agreement, measure_agreement
from adjudge.evaluation.crossvalidation import CrossValidation
from adjudge.evaluation.diagnosis.diagnose import Diagnosis, diagnose
from adjudge.evaluation.model_judges.answers import kinds_of
from adjudge.evaluation.model_judges.audit import Audit, audit
from adjudge.evaluation.predictive import Check, predictive_checks
from adjudge.evaluation.replay import accuracy_by_ratings
from adjudge.models.dawid_skene import DawidSkene
from adjudge.models.item_types import ItemTypes
from adjudge.models.majority_vote import MajorityVote
from adjudge.models.model import Model, Progress, Step

RESAMPLES = 200  # behind the intervals of agreement and scores
_CURVE = 2_000_000  # judgments up to which the curve is worth its time


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How a result came about, so that it can be had again."""

    title: str = "Judgments"
    command: str = ""  # as typed
    files: tuple[tuple[str, str], ...] = ()  # names and SHA-256 of what was read
    inputs: str = ""  # what was read, as arguments of a next command
    left_out: tuple[str, ...] = ()  # what the reader left out, in sentences
    made: str = ""  # when, as text; empty where it does not matter


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Results:
    """What was found: the consensus, and what evaluation says of it. Missing parts are None."""

    consensus: Consensus
    diagnosis: Diagnosis
    agreement: Agreement
    checks: tuple[Check, ...] = ()
    diagnostics: tuple[dict[str, Any], ...] = ()
    gold: Gold | None = None
    evaluation: Evaluation | None = None
    vote: Consensus | None = None  # the majority vote on the same judgments, where there is gold
    vote_comparison: VoteComparison | None = None  # log loss next to the plain vote's
    folds: int = 0  # of the gold, if each was scored by fits with the others
    blind: bool = False  # scored by a second fit without gold
    curve: Any | None = None  # table of accuracy by number of judgments
    audit: Audit | None = None  # of LLM judges, where some are known
    more_gold: MoreGold | None = None  # what more gold would show, where there is little
    provenance: Provenance = field(default_factory=Provenance)


def gather(
    consensus: Consensus,
    *,
    gold: Gold | None = None,
    blind: Consensus | None = None,
    crossed: CrossValidation | None = None,
    flags: Mapping[str, Sequence[str]] | None = None,
    provenance: Provenance | None = None,
    progress: Progress | None = None,
) -> Results:
    """What evaluation says of a consensus, of its judges, and of how it fares against gold.

    A consensus that used the gold cannot be scored by it. ``crossed`` is the same model fitted
    across folds of the gold, and ``blind`` the same fit without gold. ``flags`` are reasons to
    watch a judge.
    """
    judgments = consensus.judgments
    seed = int(str(consensus.settings.get("seed", 0)))
    report = _reporter(progress)
    report(0, "judges and items")
    diagnosis = diagnose(consensus, gold=gold, flags=flags)
    report(1, "agreement")
    agreement = measure_agreement(judgments, resamples=RESAMPLES, seed=seed)
    report(2, "model checks")
    checks: tuple[Check, ...] = ()
    diagnostics: tuple[dict[str, Any], ...] = ()
    if consensus.draws is not None and len(judgments):
        checks = predictive_checks(consensus, seed=seed)
        diagnostics = tuple(consensus.draws.diagnostics())
    report(3, "gold")
    guided = consensus.known is not None
    scored = blind if guided else consensus
    evaluation = None
    if gold is not None and scored is not None:
        evaluation = evaluate(scored, gold, resamples=RESAMPLES, seed=seed)
    folds = 0
    if guided and crossed is not None:
        evaluation, folds = crossed.pooled, len(crossed.folds)
    report(4, "fewer judgments")
    curve = None
    if gold is not None and 0 < len(judgments) <= _CURVE:
        curve = _curve(consensus, gold, seed)
    report(5, "LLM judges")
    kinds = kinds_of(judgments)
    audited = None
    if kinds is not None and (kinds == MODEL).any():
        some = gold is not None and (gold.align(judgments) >= 0).any()
        audited = audit(judgments, gold if some else None, seed=seed)
    report(6, "")
    return Results(
        consensus=consensus,
        diagnosis=diagnosis,
        agreement=agreement,
        checks=checks,
        diagnostics=diagnostics,
        gold=gold,
        evaluation=evaluation if evaluation is None or evaluation.scored else None,
        vote=None if evaluation is None else MajorityVote(seed=seed).fit(judgments),
        vote_comparison=None if evaluation is None else compare_with_vote(evaluation, judgments),
        folds=folds,
        blind=guided and not folds,
        curve=curve if curve is not None and len(curve) else None,
        audit=audited,
        more_gold=MoreGold.of(consensus, gold),
        provenance=Provenance() if provenance is None else provenance,
    )


def _reporter(progress: Progress | None) -> Callable[[int, str], None]:
    def report(done: int, note: str) -> None:
        if progress is not None:
            progress(Step("looking", done, 6, note))

    return report


def _curve(consensus: Consensus, gold: Gold, seed: int) -> Any:
    """Accuracy with fewer judgments, of the vote, of Dawid and Skene's model and of the default."""
    models: dict[str, Model] = {
        "majority-vote": MajorityVote(seed=seed),
        "dawid-skene": DawidSkene(),
        "item-types": ItemTypes(seed=seed),
    }
    return accuracy_by_ratings(models, consensus.judgments, gold, seed=seed)
