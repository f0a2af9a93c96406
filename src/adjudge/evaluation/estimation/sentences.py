"""Estimates in sentences: what a report says of a panel's shares and grades."""

from __future__ import annotations

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.source import count_of
from adjudge.errors import AdjudgeError
from adjudge.evaluation.estimation.estimate import Estimate, Plan, estimate_from
from adjudge.models.cross_calibration import CrossFit


def tell_estimates(consensus: Consensus, gold: Gold, *, seed: int) -> tuple[str, ...]:
    """A sentence on each target that the scale has, from a consensus fitted without gold."""
    scale = consensus.scale
    targets = {}
    if scale.truth_relevant is not None:
        targets["share"] = f"The share of relevant items ({', '.join(scale.relevant)})"
    if scale.ordinal and len(scale.truths) > 2:
        targets["mean-grade"] = "The mean grade"
    fit = CrossFit.of(consensus)
    told = []
    for name, words in targets.items():
        try:
            found = estimate_from(fit, gold, name, [], Plan(seed=seed))
        except AdjudgeError as error:
            told.append(f"{words} cannot be estimated: {error}.")
            continue
        told.append(_sentence(words, found))
    return tuple(told)


def _sentence(words: str, found: Estimate) -> str:
    """The estimate, what gold alone gives, what that saves, and reasons to trust it less."""
    drawn = "as its chances say" if not found.notes else "at random"
    text = (
        f"{words} is {found.estimate:.3f}, {found.low:.3f} to {found.high:.3f} at "
        f"{found.level:.0%}, if the {found.gold:,} gold items were drawn {drawn}; gold alone gives "
        f"{found.classical_low:.3f} to {found.classical_high:.3f}"
    )
    if found.saved is not None and found.saved > 0:
        text += f", and would need {count_of(found.saved, 'more label')} for an interval as narrow"
    return "; ".join([f"{text}.", *(f"but {warning}." for warning in found.warnings)]).replace(
        ".; but", "; but"
    )
