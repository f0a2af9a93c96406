"""adjudge compare: every model on the same judgments, and which of them to take."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, progress, say, tell_if_cold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.evaluation.comparison import Comparison

NAME = "compare"
EXAMPLES = (
    "adjudge compare judgments.csv --gold gold.csv",
    "adjudge compare judgments.csv --models dawid-skene,hybrid-confusion:em",
)


def run(
    judgments: o.JudgmentsFiles,
    *,
    gold: o.GoldFile = None,
    held_out: Annotated[
        bool,
        o.option("--held-out", help="Score by judgments held out, even where there is gold."),
    ] = False,
    models: Annotated[
        str | None,
        o.option(
            "--models",
            metavar="NAMES",
            help="Models to compare, joined by commas; NAME:METHOD for one way to fit it.",
        ),
    ] = None,
    folds: Annotated[
        int, o.option("--folds", metavar="N", min=2, help="Folds of the gold or of the judgments.")
    ] = 5,
    output: o.Output = None,
    seed: o.Seed = 0,
    threads: Annotated[
        int | None,
        o.option("--threads", metavar="N", min=1, help="Threads to use; all cores if not given."),
    ] = None,
    labelling: o.TruthLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Compare models on your judgments: log loss, accuracy, calibration, time, and which to take.

    With gold, of --gold or of the file itself, each is cross-validated over it and ranked by log
    loss. Without, each is scored by how well it predicts judgments that it was not shown, which
    does not say whose labels are right. Models that do not differ significantly share a rank.
    """
    from adjudge.cli.reading import read_judgments
    from adjudge.cli.writing import check_places, check_printing, deliver
    from adjudge.engines.threads import ThreadsEngine
    from adjudge.evaluation.comparison import compare_models, entrants

    be_quiet(printing.quiet or printing.json)
    check_places({"--output": output}, inputs=(*judgments, gold))
    check_printing(printing, output)
    names = None if models is None else [part.strip() for part in models.split(",")]
    entrants(gold=True, names=names)  # a name that does not exist is refused at once
    read = read_judgments(judgments, gold, reading, labelling)
    known = None if held_out else read.given if read.given is not None else read.beside
    if known is not None:
        known.tell_unjudged(read.judgments, needed=True)
    tell_if_cold()
    with progress("comparing models") as on_step:
        compared = compare_models(
            read.judgments,
            known,
            models=entrants(gold=known is not None, names=names, seed=seed),
            folds=folds,
            seed=seed,
            engine=ThreadsEngine() if threads is None else ThreadsEngine(threads=threads),
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
        "recommended": compared.chosen,
        "recommendation": compared.recommendation,
        "notes": compared.notes,
        **read.omissions,
    }
    deliver(
        compared.to_table(),
        "models",
        output,
        printing,
        about=about,
        show=partial(_shown, compared),
    )


def _shown(compared: Comparison) -> Any:
    """The models that were scored, for people."""
    from adjudge.cli.writing import number
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

    def cell(scores: Mapping[str, float], column: str, rank: str | None) -> str:
        shared = f" ({scores[rank]:.0f})" if rank is not None else ""
        value = Score(name=column, value=scores[column]).shown.value
        return number(value, 3 if compared.by == "gold" else 4) + shared

    cells = [
        [
            row.name,
            *(cell(row.scores, column, rank) for column, rank in columns.items()),
            f"{row.seconds or 0:.2f}",
        ]
        for row in scored
    ]
    title = "Models, best first; in brackets the rank of those that do not differ"
    return grid(
        title,
        [("model", "left"), *((head, "right") for head in heads), ("sec.", "right")],
        cells,
    )


_HEADS = {"brier": "Brier", "corrected_calibration_error": "ECE", "se": "s.e."}
