"""The findings in words: which labels, how sure, whom to keep, what to collect, does it fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjudge.data.draws import HIGHEST
from adjudge.data.results import DOUBT, SURE, inferred_probability
from adjudge.data.source import count_of
from adjudge.evaluation.against_gold import Evaluation
from adjudge.evaluation.diagnosis.families import FamilySummary
from adjudge.evaluation.model_judges.audit import Audit
from adjudge.evaluation.model_judges.judge_audit import NO_GOLD, NOT_READY, READY, WITH_CORRECTION
from adjudge.report.results import Results

_GAIN = 0.001  # bits per item below which one more judgment is not worth its price
_NAMED = 5  # judges named in a sentence
_SHOWN = 4  # labels named in a sentence
_NEXT = 3  # items that are named as the next to judge

_OFF = 0.05  # a gap between sure and right, or a calibration error, that is worth a warning
_FAR = 1.05  # an R-hat that is more than a trifle too high
VERDICT_BADGES = {READY: "keep", WITH_CORRECTION: "train", NOT_READY: "drop", NO_GOLD: "watch"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """One question a reader has, and the answer."""

    question: str
    answer: tuple[str, ...]  # sentences
    tone: str = "plain"  # plain, good or warn


def percent(share: float) -> str:
    """A share as people say it; what is nearly nothing, or nearly all, does not look like it."""
    if not np.isfinite(share):
        return "–"
    if 0 < share < 0.01:
        return "under 1%"
    if 0.99 < share < 1:
        return "over 99%"
    return f"{share:.0%}"


def findings(results: Results) -> list[_Finding]:
    """What a person wants to know, in the order in which they ask."""
    parts = [
        _labels_found(results),
        certainty(results),
        _judges_found(results),
        _families_found(results),
        _next_judgments(results),
        _model_fits(results),
    ]
    return [part for part in parts if part is not None]


def join_names(names: Iterable[str], total: int | None = None) -> str:
    """Names in a sentence: ``a, b and c``, or ``a, b and 3 more``."""
    chosen = list(names)
    hidden = 0 if total is None else total - len(chosen)
    if hidden > 0:
        return f"{', '.join(chosen)} and {hidden:,} more"
    if len(chosen) < 2:
        return "".join(chosen)
    return f"{', '.join(chosen[:-1])} and {chosen[-1]}"


def _labels_found(results: Results) -> _Finding:
    """Which labels there are, and how they fare against gold."""
    consensus = results.consensus
    items = len(consensus.choice)
    counts = np.bincount(consensus.choice, minlength=len(consensus.scale.truths))
    order = np.argsort(-counts, kind="stable")[:_SHOWN]
    named = [
        f"{consensus.scale.truths[code]} for {counts[code]:,} ({percent(counts[code] / items)})"
        for code in order
        if items
    ]
    hidden = int((counts > 0).sum() - (counts[order] > 0).sum())
    more = f", and {count_of(hidden, 'other label')}" if hidden > 0 else ""
    answer = [f"{count_of(items, 'item', 'has', 'have')} a label: {', '.join(named)}{more}."]
    if items:
        differs = int(np.count_nonzero(results.diagnosis.items["differs"].to_numpy()))
        answer.append(
            f"{differs:,} {'label' if differs == 1 else 'labels'} ({percent(differs / items)}) "
            f"{'differs' if differs == 1 else 'differ'} from the majority vote."
        )
    return _Finding(question="Which labels?", answer=tuple(answer))


def certainty(results: Results) -> _Finding:
    """How sure the labels are, and whether that can be believed."""
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
    tone = "plain"
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
            said, tone = _believable(results, found)
            answer += said
    return _Finding(question="How sure?", answer=tuple(answer), tone=tone)


def _believable(results: Results, found: Evaluation) -> tuple[list[str], str]:
    """Say whether the probabilities can be believed, next to those of the vote."""
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
        said.append("Its probabilities can be believed: they match the share right.")
        return said, "good"
    elif warning is None:
        said.append(
            "It is about as sure as it is right on average, but too sure of some labels and too "
            "modest about others: see the calibration plot."
        )
    return said, "warn"


def _judges_found(results: Results) -> _Finding:
    """Whom to keep, train, watch or drop."""
    judges = results.diagnosis.judges.sort_by([("judgments", "descending")])
    total = max(len(results.consensus.judgments), 1)
    answer, tone = [], "good"
    advice = np.array(judges["advice"].to_pylist(), dtype=object)
    given = judges["judgments"].to_numpy()
    parts = [
        f"{name}: {int((advice == name).sum()):,} "
        f"({percent(float(given[advice == name].sum()) / total)} of the judgments)"
        for name in ("keep", "train", "drop", "watch")
        if (advice == name).any()
    ]
    answer.append(f"Of {count_of(len(judges), 'judge')}, {'; '.join(parts)}.")
    for name, verb in (("drop", "First to drop"), ("train", "First to train")):
        rows = judges.filter(advice == name)
        if len(rows):
            tone = "warn"
            first = rows["judge"].slice(0, _NAMED).to_pylist()
            answer.append(f"{verb}, with most judgments: {join_names(first, len(rows))}.")
    common = results.diagnosis.common
    if len(common):
        row = common.sort_by([("judgments", "descending")]).slice(0, 1).to_pylist()[0]
        answer.append(
            f"The most common mistake, for the guidelines: {row['truth']} called "
            f"{row['label']}, in {percent(row['rate'])} of such judgments; it is the most common "
            f"of {count_of(row['judges'], 'judge')}."
        )
    pairs = results.diagnosis.pairs
    if pairs is not None and len(pairs):
        tone = "warn"
        answer.append(
            f"{count_of(len(pairs), 'pair')} of judges {'agrees' if len(pairs) == 1 else 'agree'} "
            "more than expected: look for copying."
        )
    return _Finding(question="Which judges?", answer=tuple(answer), tone=tone)


def _families_found(results: Results) -> _Finding | None:
    """Families, suspected groups, and the effective number of judges."""
    families = FamilySummary(results.consensus)
    answer = families.sentences
    if results.diagnosis.few is not None:
        answer.append(str(results.diagnosis.few))
    if not answer:
        return None
    tone = "warn" if families.suspected else "plain"
    return _Finding(question="Are the judges independent?", answer=tuple(answer), tone=tone)


def summarise_verdicts(found: Audit) -> str:
    """Say how many LLM judges have each verdict."""
    counts = Counter(one.verdict for one in found.judges)
    said = [f"{counts[verdict]} {verdict}" for verdict in VERDICT_BADGES if counts[verdict]]
    return f"Verdicts: {', '.join(said)}."


def _next_judgments(results: Results) -> _Finding | None:
    """What to collect next."""
    items = results.diagnosis.items
    if not len(items):
        return None
    if not worth_judging(results):
        return _Finding(
            question="What to collect next?",
            answer=(nothing_to_judge(results),),
            tone="good",
        )
    gain = items["gain"].to_numpy()
    order = np.argsort(-gain, kind="stable")
    share = np.cumsum(gain[order]) / max(float(gain.sum()), 1e-12)
    half = int(np.searchsorted(share, 0.5)) + 1
    first = items["item"].take(order[:_NEXT]).to_pylist()
    counts = items["judgments"].to_numpy()
    few = int((counts < 2).sum())
    answer = [
        f"One more judgment adds most to {join_names(first, None)}. Half of the expected "
        f"information gain is in {count_of(half, 'item')} ({percent(half / len(items))}): start "
        "with these."
    ]
    if few:
        answer.append(f"{count_of(few, 'item', 'has', 'have')} fewer than two judgments.")
    if results.curve is not None:
        answer.append(_flattens(results.curve))
    return _Finding(question="What to collect next?", answer=tuple(answer))


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


def _flattens(curve: Any) -> str:
    """Whether more judgments per item still buy accuracy."""
    rows = [row for row in curve.to_pylist() if row["method"] == "item-types"]
    if len(rows) < 2:
        return "There are too few judgments per item to say what more would help."
    last, before = rows[-1], rows[-2]
    gained = last["accuracy"] - before["accuracy"]
    if gained > 0.01:
        return (
            f"Accuracy still rises with more judgments per item: by {gained:.1%} from "
            f"{before['ratings']} to {last['ratings']}."
        )
    return (
        f"Accuracy hardly rises beyond {before['ratings']} judgments per item: better judges "
        "would help more than more judgments."
    )


def _model_fits(results: Results) -> _Finding:
    """Whether the model is one to believe."""
    consensus = results.consensus
    answer, tone = [], "good"
    if consensus.draws is None:
        if consensus.converged is False:
            tone = "warn"
            answer.append("The fit stopped before it converged: allow more iterations.")
        elif consensus.converged:
            answer.append(f"The fit converged after {count_of(len(consensus.trace), 'iteration')}.")
        answer.append(
            "Only sampled models, such as hierarchical-confusion, can be checked for fit: "
            "adjudge report FILE -m hierarchical-confusion."
        )
        return _Finding(question="Does the model fit?", answer=tuple(answer), tone="plain")
    failed = [check for check in results.checks if check.fails]
    if failed:
        tone = "warn"
        named = "; ".join(
            f"{check.name} is {check.observed:.3f} where it expects {check.low:.3f} to "
            f"{check.high:.3f}"
            for check in failed[:3]
        )
        answer.append(
            f"{len(failed)} of {count_of(len(results.checks), 'check')} fail: {named}. Items "
            "differ in ways this model does not know, so its probabilities are too sure."
        )
    elif results.checks:
        answer.append(
            f"All {len(results.checks)} checks pass: the model would have given such judgments."
        )
    known = [row["r_hat"] for row in results.diagnostics if row["r_hat"] is not None]
    if known and max(known) > HIGHEST:
        tone = "warn"
        how = "do not quite agree" if max(known) < _FAR else "do not agree"
        answer.append(f"The chains {how} (R-hat up to {max(known):.3f}): draw more.")
    elif known:
        answer.append(f"The chains agree (R-hat at most {max(known):.3f}).")
    return _Finding(question="Does the model fit?", answer=tuple(answer), tone=tone)


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
            "no judge is known as an LLM: their audit next to people; "
            "a column 'kind' (person or model) adds it"
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
