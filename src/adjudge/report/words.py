"""Sentences of a report: how sure the labels are, what is worth judging, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from adjudge.data.results import DOUBT, SURE, inferred_probability
from adjudge.data.source import count_of
from adjudge.evaluation.against_gold import Evaluation
from adjudge.evaluation.model_judges.audit import Audit
from adjudge.evaluation.model_judges.judge_audit import NO_GOLD, NOT_READY, READY, WITH_CORRECTION
from adjudge.report.results import Results

_GAIN = 0.001  # bits per item below which one more judgment is not worth its price

_OFF = 0.05  # a gap between sure and right, or a calibration error, that is worth a warning
VERDICT_BADGES = {READY: "keep", WITH_CORRECTION: "train", NOT_READY: "drop", NO_GOLD: "watch"}


def percent(share: float) -> str:
    """A share as people say it; what is nearly nothing, or nearly all, does not look like it."""
    if not np.isfinite(share):
        return "–"
    if 0 < share < 0.01:
        return "under 1%"
    if 0.99 < share < 1:
        return "over 99%"
    return f"{share:.0%}"


def join_names(names: Iterable[str], total: int | None = None) -> str:
    """Names in a sentence: ``a, b and c``, or ``a, b and 3 more``."""
    chosen = list(names)
    hidden = 0 if total is None else total - len(chosen)
    if hidden > 0:
        return f"{', '.join(chosen)} and {hidden:,} more"
    if len(chosen) < 2:
        return "".join(chosen)
    return f"{', '.join(chosen[:-1])} and {chosen[-1]}"


def certainty(results: Results) -> list[str]:
    """How sure the labels are, and whether one can rely on that."""
    probability = inferred_probability(results.consensus)
    items = len(probability)
    sure, doubt = int((probability >= SURE).sum()), int((probability < DOUBT).sum())
    by_gold = len(results.consensus.choice) - items
    answer = [f"{count_of(by_gold, 'label', 'is', 'are')} given by gold."] if by_gold else []
    if items:
        others = f"Of the other {items:,}, " if by_gold else ""
        answer.append(
            f"{others}{count_of(sure, 'label')} ({percent(sure / items)}) "
            f"{'is' if sure == 1 else 'are'} at least {SURE:.0%} sure; "
            f"{doubt:,} ({percent(doubt / items)}) "
            f"{'is' if doubt == 1 else 'are'} less than {DOUBT:.0%} sure."
        )
    found = results.evaluation
    if found is not None and found["accuracy"].defined:
        score = found["accuracy"]
        how = ", by a fit without it" if results.blind else ""
        if results.folds:
            how = f", each by a fit without it ({results.folds} folds of the gold)"
        between = "" if score.low is None else f" ({score.low:.1%} to {score.high:.1%})"
        answer.append(
            f"Against {count_of(found.scored, 'gold item')}, "
            f"{score.value:.1%}{between} of the labels are right{how}."
        )
        if found.calibration is not None and np.isfinite(found.calibration.error):
            answer += _believable(results, found)
    return answer


def _believable(results: Results, found: Evaluation) -> list[str]:
    """Say whether one can rely on the probabilities, next to those of the vote."""
    scores, calibration = found.scores, found.calibration
    corrected = 0.0 if calibration is None else calibration.shown
    said = [
        f"Log loss {float(scores['log_loss']):.3f}, Brier {float(scores['brier']):.3f}, "
        f"calibration error {corrected:.3f} (bias corrected)."
    ]
    warning = None if results.vote_comparison is None else results.vote_comparison.warning
    if warning is not None:
        said.append(warning)
    mean = float(found.posterior.max(axis=1).mean()) if found.posterior is not None else 0.0
    gap = mean - float(scores["accuracy"])
    if abs(gap) > _OFF:
        said.append(
            f"On them the model is {mean:.0%} sure on average: too "
            f"{'sure' if gap > 0 else 'modest'} by {abs(gap):.0%}; use these "
            "probabilities to rank items, not as percentages."
        )
    elif warning is None and corrected <= _OFF:
        said.append("You can rely on the probabilities: they match the share of correct labels.")
    elif warning is None:
        said.append(
            "It is about as sure as it is right on average, but too sure of some labels and too "
            "modest about others: see the calibration plot."
        )
    return said


def summarise_verdicts(found: Audit) -> str:
    """Say how many LLM judges have each verdict."""
    counts = Counter(one.verdict for one in found.judges)
    said = [f"{counts[verdict]} {verdict}" for verdict in VERDICT_BADGES if counts[verdict]]
    return f"Verdicts: {', '.join(said)}."


def nothing_to_judge(results: Results) -> str:
    """Say why no item is worth another judgment."""
    if not len(inferred_probability(results.consensus)):
        return "Every item has gold, so another judgment cannot change its label."
    return "Another judgment would hardly change any of the labels that gold does not fix."


def worth_judging(results: Results) -> bool:
    """Return whether one more judgment is worth its price on any item without gold."""
    items = results.diagnosis.items
    if not len(items):
        return False
    gain = items["gain"].to_numpy()
    if results.gold is not None:
        consensus = results.consensus.judgments
        known = results.gold.align(consensus) >= 0
        labelled = set(consensus.items.filter(known).to_pylist())
        gain = gain[[name not in labelled for name in items["item"].to_pylist()]]
    return bool(len(gain)) and float(gain.max()) >= _GAIN


def missing(results: Results) -> list[str]:
    """What is not in this report, and what would add it."""
    consensus, judgments = results.consensus, results.consensus.judgments
    found = []
    if results.gold is None:
        found.append("no gold: gold labels add accuracy, calibration and the curve of accuracy")
    if judgments.topics is None:
        found.append("no topics: prevalence and ranking by topic; a column 'topic' adds them")
    if results.audit is None:
        found.append(
            "no LLM judges declared: an audit next to people; a column 'kind' (person or model) "
            "adds it"
        )
    if consensus.draws is None:
        found.append(
            "no draws: posterior intervals, clouds, model checks and chains; a sampled model adds "
            "them, such as hierarchical-confusion"
        )
    if len(consensus.scale.truths) != 2:
        found.append(
            "more than two truths: no sensitivity and specificity; binary labels or a "
            "binary truth add them"
        )
    found += [
        note
        for note in results.diagnosis.notes
        if note.startswith("no ") and not note.startswith("no draws")
    ]
    return found
