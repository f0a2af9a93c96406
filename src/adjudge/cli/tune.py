"""adjudge tune: the threshold of a filter, chosen by cross-validation on gold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from adjudge.cli import Command, flag, option
from adjudge.cli import _options as o
from adjudge.cli._console import progress, say
from adjudge.cli._files import check_places, read_judgments
from adjudge.cli._results import Columns, deliver, show_rows
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.models.weighting import Filter, Sides


def _run(
    judgments: o.JudgmentsFiles,
    *,
    gold: o.GoldFile = None,
    filter: Annotated[
        str, option("--filter", "FILTER", "[|]zscore[|]:FEATURE+FEATURE, or accuracy.")
    ] = "accuracy",
    weight: o.Weight = None,
    measure: Annotated[
        str, option("--measure", "NAME", "What is tuned for: graded or binary.")
    ] = "graded",
    folds: Annotated[int, option("--folds", "N", "Folds of the gold.", min=3)] = 5,
    flip: Annotated[
        bool, flag("--flip", "Turn round judges who are more often wrong than right.")
    ] = False,
    shrink: Annotated[
        float, option("--shrink", "N", "Pseudo-judgments that draw weights in.")
    ] = 0.0,
    seed: o.Seed = 0,
    output: o.Output = None,
    labelling: o.TruthLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Choose the threshold of a filter on gold, and score the vote with it on gold it never saw.

    The choice is nested in cross-validation: gamma of a Z-score from 0.1 to 4.0, alpha of an
    accuracy from 0.60 to 0.99. Equal thresholds yield to the gentler.
    """
    from adjudge.evaluation.tuning import Tuner
    from adjudge.models.weighting import parse_weight

    check_places({"--output": output}, inputs=(*judgments, gold), printing=printing)
    if measure not in ("graded", "binary"):
        raise BadSetting("--measure", measure, "graded or binary")
    sweep = _parse_sweep(filter)
    weights = None if weight is None else parse_weight(weight)
    read = read_judgments(judgments, gold, reading, labelling)
    known = read.every
    if known is None:
        raise BadSetting("--gold", None, "a file of gold to tune by")
    known.tell_unjudged(read.judgments, needed=True)
    tuner = Tuner(read.judgments, known, folds=folds, seed=seed, flip=flip, shrink=shrink)
    kind: Any = measure
    with progress(f"tuning {filter}") as on_step:
        plain = tuner.tune(None, (), weights, measure=kind)
        tuned = tuner.tune(
            sweep.make,
            sweep.thresholds,
            weights,
            measure=kind,
            gentler=sweep.gentler,
            progress=on_step,
        )
    say(
        f"{measure} accuracy {tuned.mean:.4f} with {sweep.name} {tuned.threshold:g} "
        f"(without the filter {plain.mean:.4f}), {folds} folds over "
        f"{count_of(len(tuned.correct), 'gold item')}"
    )
    about = {
        "filter": filter,
        "weight": weight,
        "measure": measure,
        sweep.name: tuned.threshold,
        "accuracy": tuned.mean,
        "without_filter": plain.mean,
    }
    table = tuned.to_table(sweep.name)
    show = partial(_show, table, sweep.name)
    deliver(table, "folds", output, printing, about=about, show=show)


COMMAND = Command(
    _run,
    examples=(
        "adjudge tune judgments.csv --gold gold.csv --filter zscore:honeypot-accuracy",
        "adjudge tune judgments.csv --gold gold.csv --filter accuracy --flip",
    ),
)


@dataclass(frozen=True, slots=True)
class _ThresholdSweep:
    """The thresholds of a filter, what each makes, and which end drops fewer judges."""

    name: str
    make: Callable[[float], Filter]
    thresholds: tuple[float, ...]
    gentler: Literal["higher", "lower"]


def _parse_sweep(text: str) -> _ThresholdSweep:
    """The sweep that a filter's text asks for; features that do not exist are refused."""
    from adjudge.evaluation.tuning import ALPHAS, GAMMAS
    from adjudge.models.weighting import ZSCORES, AccuracyFilter

    kind, _, names = text.partition(":")
    if kind == "accuracy":
        return _ThresholdSweep("alpha", lambda alpha: AccuracyFilter(alpha=alpha), ALPHAS, "lower")
    if kind not in ZSCORES:
        raise BadSetting("--filter", text, "zscore:FEATURE+FEATURE, |zscore|:FEATURE or accuracy")
    features = tuple(part.strip() for part in names.split("+"))
    make = partial(_zscore, features, ZSCORES[kind])
    make(1.0)
    return _ThresholdSweep("gamma", make, GAMMAS, "higher")


def _zscore(features: tuple[str, ...], sides: Sides, gamma: float) -> Filter:
    """The filter with one gamma; imported late, as everything heavy."""
    from adjudge.models.weighting import ZScore

    return ZScore(*features, gamma=gamma, sides=sides)


def _show(table: Any, name: str) -> Any:
    columns: Columns = {
        ">fold": lambda row: str(row["fold"]),
        f">{name}": lambda row: f"{row[name]:g}",
        ">accuracy": lambda row: f"{row['accuracy']:.4f}",
        ">judges dropped": lambda row: str(row["dropped"]),
        ">items that fell back": lambda row: f"{row['fallback']:.1%}",
    }
    return show_rows("Folds", table.to_pylist(), columns)
