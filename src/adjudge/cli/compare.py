"""adjudge compare: every model on the same judgments, or every threshold of a filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from adjudge.cli import _options as o
from adjudge.cli import command, flag, option
from adjudge.cli._console import detail, progress, say, tell_if_cold, warn
from adjudge.cli._fitting import make_engine
from adjudge.cli._reading import Input, read_judgments
from adjudge.cli._results import Column, check_places, deliver, number, show_rows
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.data.gold import Gold
    from adjudge.evaluation.comparison import Comparison
    from adjudge.models.weighting import Filter, Sides

_LEAST_FOLDS = 3  # for a choice nested in cross-validation
_HEADS = {"brier": "Brier", "corrected_calibration_error": "ECE", "se": "s.e."}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tuning:
    """A filter of judges whose threshold is chosen, and the vote that it is for."""

    panel: ClassVar[str] = "Thresholds of a filter"

    filter: str | None = option(
        "--filter FILTER",
        "Compare thresholds of this filter of judges for the vote, instead of models: "
        "zscore:FEATURE+FEATURE (|zscore|: both sides), or accuracy.",
    )
    weight: str | None = option(
        "--weight FEATURES", "Weights of the vote: features joined by *, each with a power."
    )
    measure: str = option("--measure NAME", "What is scored: graded or binary.", "graded")
    flip: bool = flag("--flip", "Reverse judges who are more often wrong than right.")
    shrink: float = option("--shrink N", "Pseudo-judgments that shrink weights.", 0.0)


@command(
    "adjudge compare judgments.csv --gold gold.csv",
    "adjudge compare judgments.csv --models dawid-skene,hybrid-confusion:em",
    "adjudge compare judgments.csv --gold g.csv --filter zscore:label-typicality",
)
def run(
    judgments: list[str] = o.JUDGMENTS,
    *,
    gold: str | None = o.GOLD,
    held_out: bool = flag("--held-out", "Score by judgments held out, even where there is gold."),
    models: str | None = option(
        "--models NAMES", "Models to compare, joined by commas; NAME:METHOD for one way to fit."
    ),
    folds: int = option("--folds N", "Folds of the gold or of the judgments.", 5, min=2),
    calibrate: bool | None = o.CALIBRATE,
    seed: int = o.SEED,
    threads: int | None = o.THREADS,
    tuning: _Tuning,
    reading: o.TruthReading,
    out: o.Delivery,
) -> None:
    """Compare models on your judgments and recommend one, or choose the threshold of a filter.

    With gold, of --gold or of the file itself, each is cross-validated over it and ranked by log
    loss. Its probabilities are calibrated by the gold of the other folds, unless it is sampled or
    --no-calibrate is given. Without gold, each is scored by how well it predicts judgments that it
    was not shown, which does not say whose labels are right. Models that do not differ
    significantly share a rank.

    With --filter the threshold of a filter is chosen on gold, and the vote with it is scored on
    gold that the choice never used: gamma of a Z-score from 0.1 to 4.0, alpha of an accuracy from
    0.60 to 0.99. Of equal thresholds the one that drops fewer judges is taken.
    """
    from adjudge.evaluation.comparison import entrants

    check_places({"--output": out.output}, inputs=(*judgments, gold), printing=out)
    names = None if models is None else [part.strip() for part in models.split(",")]
    sweep = _check_tuning(tuning, folds, models=models, held_out=held_out, calibrate=calibrate)
    entrants(gold=True, names=names)  # a name that does not exist is refused at once
    read = read_judgments(judgments, gold, reading)
    known = None if held_out else read.every
    if known is not None:
        known.tell_unjudged(read.judgments, needed=True)
    if sweep is not None:
        if known is None:
            raise BadSetting("--gold", None, "a file of gold to choose the threshold by")
        _tune(tuning, sweep, read, known, folds, seed, out)
        return
    compared = _compare(read, known, names, folds, calibrate, seed, threads)
    for note in compared.notes:
        detail(f"  {note}")
    for row in compared.results:
        if row.reason is not None:
            warn(f"{row.name} is not scored: {row.reason}")
    say(compared.recommendation)
    about = {
        "by": compared.by,
        "folds": folds,
        "calibrated": compared.calibrated,
        "recommended": compared.chosen,
        "recommendation": compared.recommendation,
        "notes": compared.notes,
        **read.omissions,
    }
    deliver(compared.to_table(), "models", out, about=about, show=partial(_show, compared))


def _compare(
    read: Input,
    gold: Gold | None,
    names: list[str] | None,
    folds: int,
    calibrate: bool | None,
    seed: int,
    threads: int | None,
) -> Comparison:
    """The models, each scored on the same folds."""
    from adjudge.evaluation.comparison import compare_models, entrants

    tell_if_cold()
    with progress("comparing models") as on_step:
        return compare_models(
            read.judgments,
            gold,
            models=entrants(gold=gold is not None, names=names, seed=seed),
            folds=folds,
            calibrate=calibrate,
            seed=seed,
            engine=make_engine(threads),
            progress=on_step,
        )


def _show(compared: Comparison) -> Any:
    """Return the models that were scored as a table for people."""
    from adjudge.evaluation.scores import Score

    columns: dict[str, str | None] = {"log_score": "rank", "se": None}
    if compared.by == "gold":
        columns = {"log_loss": "rank", "accuracy": "accuracy_rank", "brier": None}
        columns["corrected_calibration_error"] = None

    def cell(name: str, rank: str | None, row: Any) -> str:
        shared = f" ({row.scores[rank]:.0f})" if rank is not None else ""
        value = Score(name=name, value=row.scores[name]).shown.value
        return number(value, 3 if compared.by == "gold" else 4) + shared

    shown: list[Column] = [
        (f">{_HEADS.get(name, name.replace('_', ' '))}", partial(cell, name, rank))
        for name, rank in columns.items()
    ]
    title = "Models, best first; in brackets the rank of those that do not differ"
    rows = [row for row in compared.results if row.reason is None]
    return show_rows(title, rows, "name as model", *shown, "seconds:.2f as sec.")


@dataclass(frozen=True, slots=True)
class _ThresholdSweep:
    """The thresholds of a filter, the filter for each, and which end drops fewer judges."""

    name: str
    make: Callable[[float], Filter]
    thresholds: tuple[float, ...]
    gentler: Literal["higher", "lower"]


def _check_tuning(tuning: _Tuning, folds: int, **of_models: object) -> _ThresholdSweep | None:
    """The thresholds to compare, None where models are; options that do not go together fail."""
    if tuning.filter is None:
        if tuning != _Tuning():
            raise BadSetting("--filter", None, "a filter; --weight, --flip, ... go with it")
        return None
    for name, value in of_models.items():
        if value not in (None, False):
            raise BadSetting(f"--{name.replace('_', '-')}", value, "no --filter with it")
    if tuning.measure not in ("graded", "binary"):
        raise BadSetting("--measure", tuning.measure, "graded or binary")
    if folds < _LEAST_FOLDS:
        raise BadSetting("--folds", folds, f"{_LEAST_FOLDS} or more with --filter")
    return _parse_sweep(tuning.filter)


def _parse_sweep(text: str) -> _ThresholdSweep:
    """The sweep that a filter's text asks for; features that do not exist are refused."""
    from adjudge.evaluation.tuning import ALPHAS, GAMMAS
    from adjudge.models.weighting import ZSCORES, AccuracyFilter, ZScore

    kind, _, names = text.partition(":")
    if kind == "accuracy":
        return _ThresholdSweep("alpha", lambda alpha: AccuracyFilter(alpha=alpha), ALPHAS, "lower")
    if kind not in ZSCORES:
        raise BadSetting("--filter", text, "zscore:FEATURE+FEATURE, |zscore|:FEATURE or accuracy")
    features = tuple(part.strip() for part in names.split("+"))
    sides: Sides = ZSCORES[kind]

    def make(gamma: float) -> Filter:
        return ZScore(*features, gamma=gamma, sides=sides)

    make(1.0)
    return _ThresholdSweep("gamma", make, GAMMAS, "higher")


def _tune(
    tuning: _Tuning,
    sweep: _ThresholdSweep,
    read: Input,
    gold: Gold,
    folds: int,
    seed: int,
    out: o.Delivery,
) -> None:
    """Choose the threshold on gold, and score the vote with it on gold it never saw."""
    from adjudge.evaluation.tuning import Tuner
    from adjudge.models.weighting import parse_weight

    weights = None if tuning.weight is None else parse_weight(tuning.weight)
    tuner = Tuner(
        read.judgments, gold, folds=folds, seed=seed, flip=tuning.flip, shrink=tuning.shrink
    )
    kind: Any = tuning.measure
    with progress(f"tuning {tuning.filter}") as on_step:
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
        f"{tuning.measure} accuracy {tuned.mean:.4f} with {sweep.name} {tuned.threshold:g} "
        f"(without the filter {plain.mean:.4f}), {folds} folds over "
        f"{count_of(len(tuned.correct), 'gold item')}"
    )
    about = {
        "filter": tuning.filter,
        "weight": tuning.weight,
        "measure": tuning.measure,
        sweep.name: tuned.threshold,
        "accuracy": tuned.mean,
        "without_filter": plain.mean,
    }
    table = tuned.to_table(sweep.name)
    columns: tuple[Column, ...] = (
        "fold",
        f"{sweep.name}:g",
        "accuracy:.4f",
        "dropped as judges dropped",
        "fallback:.1% as items that fell back",
    )
    rows = table.to_pylist()
    deliver(table, "folds", out, about=about, show=lambda: show_rows("Folds", rows, *columns))
