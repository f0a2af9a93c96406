"""adjudge tune: the threshold of a filter, chosen by cross-validation on gold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, progress, say
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.evaluation.tuning import Tuned

NAME = "tune"
EXAMPLES = (
    "adjudge tune judgments.csv --gold gold.csv --filter zscore:graded-accuracy-gold",
    "adjudge tune judgments.csv --gold gold.csv --filter accuracy --flip",
)


def run(
    judgments: o.JudgmentsFile,
    *,
    gold: o.GoldFile = None,
    filter: Annotated[
        str,
        o.option(
            "--filter", metavar="FILTER", help="zscore:FEATURE+FEATURE, or accuracy; see 'judges'."
        ),
    ] = "accuracy",
    weight: o.Weight = None,
    measure: Annotated[
        str, o.option("--measure", metavar="NAME", help="What is tuned for: graded or binary.")
    ] = "graded",
    folds: Annotated[int, o.option("--folds", metavar="N", min=3, help="Folds of the gold.")] = 5,
    flip: Annotated[
        bool, o.option("--flip", help="Turn round judges who are more often wrong than right.")
    ] = False,
    shrink: Annotated[
        float, o.option("--shrink", metavar="N", help="Pseudo-judgments that draw weights in.")
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
    from adjudge.cli.reading import read_judgments
    from adjudge.cli.writing import check_places, check_printing, deliver
    from adjudge.evaluation.tuning import ALPHAS, GAMMAS, Tuner
    from adjudge.models.weighting import AccuracyFilter, ZScore, parse_weight

    be_quiet(printing.quiet or printing.json)
    check_places({"--output": output}, inputs=(judgments, gold))
    check_printing(printing, output)
    kind, _, names = filter.partition(":")
    if kind not in ("zscore", "accuracy"):
        raise BadSetting("--filter", filter, "zscore:FEATURE+FEATURE or accuracy")
    if measure not in ("graded", "binary"):
        raise BadSetting("--measure", measure, "graded or binary")
    features = tuple(part.strip() for part in names.split("+"))
    if kind == "zscore":
        ZScore(*features, gamma=1.0)  # complains of features that do not exist
    weights = None if weight is None else parse_weight(weight)
    read = read_judgments(judgments, gold, reading, labelling)
    known = read.given if read.given is not None else read.beside
    if known is None:
        raise BadSetting("--gold", None, "a file of gold to tune by")
    tuner = Tuner(read.judgments, known, folds=folds, seed=seed, flip=flip, shrink=shrink)
    with progress(f"tuning {filter}") as on_step:
        plain = tuner.tune(None, (), weights, measure=_measure(measure))
        if kind == "zscore":
            tuned = tuner.tune(
                lambda gamma: ZScore(*features, gamma=gamma),
                GAMMAS,
                weights,
                measure=_measure(measure),
                progress=on_step,
            )
        else:
            tuned = tuner.tune(
                lambda alpha: AccuracyFilter(alpha=alpha),
                ALPHAS,
                weights,
                measure=_measure(measure),
                gentler="lower",
                progress=on_step,
            )
    name = "gamma" if kind == "zscore" else "alpha"
    say(
        f"{measure} accuracy {tuned.mean:.4f} with {name} {tuned.threshold:g} "
        f"(without the filter {plain.mean:.4f}), {folds} folds over "
        f"{len(tuned.correct):,} gold items"
    )
    rows = _rows(tuned, name)
    import pyarrow as pa

    deliver(
        pa.Table.from_pylist(rows),
        "folds",
        output,
        printing,
        about={
            "filter": filter,
            "weight": weight,
            "measure": measure,
            name: tuned.threshold,
            "accuracy": tuned.mean,
            "without_filter": plain.mean,
        },
        show=lambda: _grid(rows, name),
    )


def _measure(text: str) -> Any:
    return text


def _rows(tuned: Tuned, name: str) -> list[dict[str, Any]]:
    """One row a fold: threshold, accuracy on the fold, judges dropped, items that fell back."""
    return [
        {"fold": fold, name: threshold, "accuracy": accuracy, "dropped": dropped, "fallback": fell}
        for fold, (threshold, accuracy, dropped, fell) in enumerate(
            zip(tuned.thresholds, tuned.accuracy, tuned.dropped, tuned.fallback, strict=True),
            start=1,
        )
    ]


def _grid(rows: list[dict[str, Any]], name: str) -> Any:
    columns = [("fold", "right"), (name, "right"), ("accuracy", "right")]
    cells = [
        [
            str(row["fold"]),
            f"{row[name]:g}",
            f"{row['accuracy']:.4f}",
            str(row["dropped"]),
            f"{row['fallback']:.1%}",
        ]
        for row in rows
    ]
    more = [("judges dropped", "right"), ("items that fell back", "right")]
    return grid("Folds", [*columns, *more], cells)
