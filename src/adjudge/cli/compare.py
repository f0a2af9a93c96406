"""adjudge compare: every model on the same judgments, and which of them to take."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import Command, flag, option
from adjudge.cli import _options as o
from adjudge.cli._console import progress, say, tell_if_cold
from adjudge.cli._files import check_places, read_judgments
from adjudge.cli._fitting import make_engine
from adjudge.cli._results import deliver, grid, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.evaluation.comparison import Comparison


def _run(
    judgments: o.JudgmentsFiles,
    *,
    gold: o.GoldFile = None,
    held_out: Annotated[
        bool, flag("--held-out", "Score by judgments held out, even where there is gold.")
    ] = False,
    models: Annotated[
        str | None,
        option(
            "--models",
            "NAMES",
            "Models to compare, joined by commas; NAME:METHOD for one way to fit it.",
        ),
    ] = None,
    folds: Annotated[
        int, option("--folds", "N", "Folds of the gold or of the judgments.", min=2)
    ] = 5,
    calibrate: o.Calibrate = None,
    output: o.Output = None,
    seed: o.Seed = 0,
    threads: Annotated[
        int | None, option("--threads", "N", "Threads to use; all cores if not given.", min=1)
    ] = None,
    labelling: o.TruthLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Compare models on your judgments: log loss, accuracy, calibration, time, and which to take.

    With gold, of --gold or of the file itself, each is cross-validated over it and ranked by log
    loss. Its probabilities are calibrated by the gold of the other folds, unless it is sampled or
    --no-calibrate is given. Without gold, each is scored by how well it predicts judgments that it
    was not shown, which does not say whose labels are right. Models that do not differ
    significantly share a rank.
    """
    from adjudge.evaluation.comparison import compare_models, entrants

    check_places({"--output": output}, inputs=(*judgments, gold), printing=printing)
    names = None if models is None else [part.strip() for part in models.split(",")]
    entrants(gold=True, names=names)  # a name that does not exist is refused at once
    read = read_judgments(judgments, gold, reading, labelling)
    known = None if held_out else read.every
    if known is not None:
        known.tell_unjudged(read.judgments, needed=True)
    tell_if_cold()
    with progress("comparing models") as on_step:
        compared = compare_models(
            read.judgments,
            known,
            models=entrants(gold=known is not None, names=names, seed=seed),
            folds=folds,
            calibrate=calibrate,
            seed=seed,
            engine=make_engine(threads),
            progress=on_step,
        )
    for note in compared.notes:
        say(f"  {note}")
    for row in compared.results:
        if row.reason is not None:
            say(("  not scored: ", "yellow"), f"{row.name}: {row.reason}")
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
    show = partial(_show, compared)
    deliver(compared.to_table(), "models", output, printing, about=about, show=show)


COMMAND = Command(
    _run,
    examples=(
        "adjudge compare judgments.csv --gold gold.csv",
        "adjudge compare judgments.csv --models dawid-skene,hybrid-confusion:em",
    ),
)


def _show(compared: Comparison) -> Any:
    """The models that were scored, for people."""
    from adjudge.evaluation.scores import Score

    scored = [row for row in compared.results if row.reason is None]
    if compared.by == "gold":
        columns = {
            "log_loss": "rank",
            "accuracy": "accuracy_rank",
            "brier": None,
            "corrected_calibration_error": None,
        }
    else:
        columns = {"log_score": "rank", "se": None}
    heads = [_HEADS.get(column, column.replace("_", " ")) for column in columns]

    def cell(scores: Mapping[str, Any], column: str, rank: str | None) -> str:
        shared = f" ({scores[rank]:.0f})" if rank is not None else ""
        value = Score(name=column, value=scores[column]).shown.value
        return number(value, 3 if compared.by == "gold" else 4) + shared

    cells = [
        [
            row.name,
            *(cell(row.scores, column, rank) for column, rank in columns.items()),
            f"{row.seconds:.2f}",
        ]
        for row in scored
    ]
    title = "Models, best first; in brackets the rank of those that do not differ"
    return grid(title, ["model", *(f">{head}" for head in heads), ">sec."], cells)


_HEADS = {"brier": "Brier", "corrected_calibration_error": "ECE", "se": "s.e."}
