"""The first screen of a report: a verdict, four figures, and what to do next."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal

import numpy as np

from adjudge.data.names import look_up
from adjudge.data.results import DOUBT, SURE, inferred_probability
from adjudge.data.source import count_of
from adjudge.evaluation.against_gold import Evaluation
from adjudge.evaluation.diagnosis.families import FamilySummary
from adjudge.report.results import Results
from adjudge.report.words import join_names, percent, worth_judging

READY, USABLE = 0.9, 0.8  # accuracy that the interval has to reach
_BELIEVABLE = 0.05  # calibration error up to which probabilities can be read as percentages
_NAMED = 4  # judges named in an action
_ACTIONS = 3
_WIDE = 0.1  # an interval of accuracy that is worth saying
Tone = Literal["good", "warn", "plain"]


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure with what it counts and a line below it."""

    figure: str
    what: str
    detail: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Action:
    """Something to do next, and the command for it where there is one."""

    what: str
    why: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Headline:
    """What the first screen says."""

    verdict: str
    tone: Tone
    tiles: tuple[Tile, ...]
    actions: tuple[Action, ...]


def make_headline(results: Results) -> Headline:
    """Return the verdict, the figures and at most three next actions."""
    verdict, tone = _judge(results)
    actions = _list_actions(results)
    first = actions[0].what if actions else "Use the labels"
    tiles = (
        _count_labels(results),
        _measure_accuracy(results, tone),
        _count_judges(results),
        Tile(str(len(actions)), "to do next" if actions else "left to do", first),
    )
    return Headline(verdict, tone, tiles, tuple(actions[:_ACTIONS]))


def _judge(results: Results) -> tuple[str, Tone]:
    """Return whether the labels can be used, in one sentence."""
    found = results.evaluation
    if found is None or not found["accuracy"].defined:
        expected = (
            float(results.consensus.probability.mean()) if len(results.consensus.choice) else 0
        )
        return (
            f"About {percent(expected)} of the labels should be right, by the model's own "
            "probabilities: check this with gold labels before you rely on it.",
            "plain",
        )
    score = found["accuracy"]
    unsure = score.low is not None and score.high is not None and score.high - score.low > _WIDE
    between = f" ({score.low:.1%} to {score.high:.1%})" if unsure else ""
    said = (
        f"{score.value:.1%}{between} of the labels are right on "
        f"{count_of(found.scored, 'gold item')}{_compare_with_vote(results, found)}"
    )
    least = score.value if score.low is None else score.low
    if least >= READY:
        return f"{said}: ready to use.", "good"
    if least >= USABLE:
        return f"{said}: usable, if people check the least certain labels.", "plain"
    if unsure and score.high is not None and score.high >= USABLE:
        return f"{said}: too little gold to say whether they can be used alone.", "plain"
    return f"{said}: not ready to use alone.", "warn"


def _compare_with_vote(results: Results, found: Evaluation) -> str:
    """Return how the labels compare with the majority vote on the same gold items.

    Ties of the vote count as shares. The comparison is paired, by a 95% interval.
    """
    if results.vote is None:
        return ""
    at = look_up(found.items, results.vote.judgments.items)
    judged = at >= 0
    share = results.vote.posterior[at[judged]]
    top = share == share.max(axis=1, keepdims=True)
    right = top[np.arange(len(top)), found.truth[judged]] / top.sum(axis=1)
    if not len(right):
        return ""
    gain = found.correct[judged] - right
    error = 1.96 * float(gain.std()) / np.sqrt(len(gain))
    than = "about as many as by"
    if abs(gain.mean()) > error:
        than = "more than by" if gain.mean() > 0 else "fewer than by"
    return f", {than} majority vote ({right.mean():.1%})"


def _count_labels(results: Results) -> Tile:
    probability = inferred_probability(results.consensus)
    labels = len(results.consensus.choice)
    by_gold = labels - len(probability)
    parts = [f"{by_gold:,} given by gold"] if by_gold else []
    if len(probability):
        sure = percent(float((probability >= SURE).mean()))
        others = f"of the other {len(probability):,} " if by_gold else ""
        parts.append(f"{sure} {others}are at least {SURE:.0%} sure")
    return Tile(f"{labels:,}", "label" if labels == 1 else "labels", "; ".join(parts))


def _measure_accuracy(results: Results, tone: Tone) -> Tile:
    found = results.evaluation
    if found is None or not found["accuracy"].defined:
        probability = results.consensus.probability
        expected = float(probability.mean()) if len(probability) else 0.0
        return Tile(f"{expected:.0%}", "right, as expected", "not checked against gold")
    score = found["accuracy"]
    between = "" if score.low is None else f"{score.low:.1%} to {score.high:.1%} "
    detail = f"{between}on {found.scored:,} gold; log loss {float(found.scores['log_loss']):.2f}"
    return Tile(f"{score.value:.1%}", "right", detail, tone)


def _count_judges(results: Results) -> Tile:
    advice = results.diagnosis.judges["advice"].to_pylist()
    detail = ", ".join(
        f"{name} {advice.count(name):,}"
        for name in ("keep", "watch", "train", "drop")
        if advice.count(name)
    )
    tone: Tone = "good" if "keep" in advice else "plain"
    return Tile(f"{len(advice):,}", "judges", detail, "warn" if "drop" in advice else tone)


def _list_actions(results: Results) -> list[Action]:
    """Return what to do, the most urgent first."""
    about = results.provenance
    named = shlex.quote(about.files[0][0]) if about.files else "JUDGMENTS"
    file = about.inputs or named
    found: list[Action] = []
    if (more := results.more_gold) is not None:
        found.append(
            Action(
                f"Label {count_of(more.labels, 'gold item')}",
                f"They measure accuracy to ±{more.margin:.0%}.",
                f"adjudge next {file} --gold {more.labels} -o gold-to-fill.csv",
            )
        )
    few = results.diagnosis.few
    if few is not None:
        found.append(
            Action(
                f"Ask {count_of(len(few.judges), 'judge')} instead of {few.of:,}",
                f"{join_names(few.judges[:_NAMED], len(few.judges))} do as well as all: log loss "
                f"{few.log_loss:.2f}, all judges {few.log_loss_all:.2f}. Both are by a simpler "
                f"model, cross-validated on {count_of(few.items, 'gold item')}.",
                f"adjudge judges {file}",
            )
        )
    judges = results.diagnosis.judges.sort_by([("judgments", "descending")])
    advice = np.array(judges["advice"].to_pylist(), dtype=object)
    if (dropped := int((advice == "drop").sum())) > 0:
        given = judges["judgments"].to_numpy()
        share = float(given[advice == "drop"].sum()) / max(float(given.sum()), 1.0)
        names = judges["judge"].to_numpy()[advice == "drop"][:_NAMED].tolist()
        found.append(
            Action(
                f"Stop asking {count_of(dropped, 'judge')}",
                f"{join_names(names, dropped)} gave {percent(share)} of the judgments, and they "
                "say almost nothing about the true labels.",
                f"adjudge judges {file} -o judges.csv",
            )
        )
    suspected = len(FamilySummary(results.consensus).suspected)
    if suspected:
        found.append(
            Action(
                f"Check {count_of(suspected, 'group')} of judges who agree too much",
                "They still count separately. If they are one source, declare them a family: "
                "it counts as one judge.",
                f"adjudge judges {file} --show families -o families.csv",
            )
        )
    evaluation = results.evaluation
    calibration = None if evaluation is None else evaluation.calibration
    if (
        calibration is not None
        and calibration.shown > _BELIEVABLE
        and results.consensus.known is None
    ):
        found.append(
            Action(
                "Let gold calibrate the probabilities",
                f"They are off by {100 * calibration.shown:.0f} percentage points on average.",
                f"adjudge consensus {file} --use-gold -o labels.csv",
            )
        )
    if (trained := int((advice == "train").sum())) > 0 and len(results.diagnosis.common):
        common = results.diagnosis.common.sort_by([("judgments", "descending")])
        row = common.slice(0, 1).to_pylist()[0]
        found.append(
            Action(
                f"Train {count_of(trained, 'judge')}",
                f"The most common mistake: {row['truth']} called {row['label']}. "
                "Add an example to the guidelines.",
            )
        )
    doubtful = int((results.consensus.probability < DOUBT).sum())
    if worth_judging(results):
        found.append(
            Action(
                "Collect more judgments where they help most",
                f"{count_of(doubtful, 'label', 'is', 'are')} less than {DOUBT:.0%} sure.",
                f"adjudge next {file} -o next.csv",
            )
        )
    return found
