"""adjudge evaluate: labels, or a model, against gold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, is_piped, page, say
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.data.formats import Content
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.evaluation.against_gold import Evaluation
    from adjudge.models.model import Model

NAME = "evaluate"
EXAMPLE = (
    "Examples:  adjudge evaluate labels.csv --gold gold.csv     "
    "adjudge evaluate judgments.csv --model dawid-skene --folds 5"
)


def run(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Labels (a consensus table), or judgments to fit."),
    ],
    gold: o.GoldFile = None,
    model: o.ModelName = "dawid-skene",
    folds: Annotated[
        int,
        typer.Option(
            help="For judgments: cross-validate over the gold with this many folds, each fold "
            "scored by a fit that saw the others' gold; 0 fits once, without gold.",
            min=0,
        ),
    ] = 0,
    output: o.Output = None,
    resamples: Annotated[
        int, typer.Option(help="Bootstrap resamples of the items for the intervals; 0 for none.")
    ] = 1000,
    by_topic: o.ByTopic = False,
    ties: o.TiesRule = "random",
    seed: o.Seed = 0,
    iterations: o.Iterations = None,
    threads: o.Threads = None,
    labels: o.Labels = None,
    relevant: o.Relevant = None,
    drop_label: o.Drop = None,
    binary: o.Binary = False,
    binary_truth: o.BinaryTruth = False,
    format: o.Format = None,
    encoding: o.Encoding = "utf-8",
    skip_bad_rows: o.SkipBad = False,
    question: o.Question = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Score labels against gold: accuracy, F1, AUC, log loss, calibration and more.

    Given a table of labels, scores it. Given judgments, fits the model first: without gold, or
    cross-validated over it with --folds.
    """
    from adjudge.cli.fitting import built
    from adjudge.data.gold import Gold

    be_quiet(quiet or json)
    if output is not None:
        from adjudge.cli.writing import extension_of

        extension_of(output)
    reading = o.Reading(
        format=format,
        encoding=encoding,
        skip_bad=skip_bad_rows,
        question=question,
        labels=labels,
        relevant=relevant,
        drop=tuple(drop_label or ()),
        binary=binary,
        binary_truth=binary_truth,
    )
    content = reading.content(file)
    if content.judgments is None:
        result = _of_labels(content, file, gold, reading, folds, resamples, seed)
    else:
        chosen = built(model, by_topic=by_topic, ties=ties, seed=seed, iterations=iterations)
        given = Gold.read(gold, encoding=encoding) if gold is not None else None
        judgments, given, beside = reading.shape(content.judgments, given, content.gold)
        truth = given if given is not None else beside
        if truth is None:
            raise BadSetting("--gold", None, f"a file of gold, since {file.name} holds none")
        result = _of_judgments(judgments, truth, chosen, folds, resamples, seed, threads)
    _deliver(result, output, json)


def _of_labels(
    content: Content,
    file: Path,
    gold: Path | None,
    reading: o.Reading,
    folds: int,
    resamples: int,
    seed: int,
) -> Evaluation:
    """Scores of labels that stand in a file."""
    from adjudge.data.gold import Gold
    from adjudge.evaluation.against_gold import evaluate

    if content.labels is None:
        raise BadData(
            f"holds neither labels nor judgments: it is {content.format}", source=file.name
        )
    if gold is None:
        raise BadSetting("--gold", None, "a file of gold to score the labels against")
    if folds:
        raise BadSetting("--folds", folds, "judgments to fit, not labels")
    scale = content.scale
    if scale is not None and reading.relevant:
        scale = scale.with_relevant(reading.relevant.split(","))
    truth = Gold.read(gold, encoding=reading.encoding)
    return evaluate(content.labels, truth, scale, resamples=resamples, seed=seed, source=file.name)


def _of_judgments(
    judgments: Judgments,
    truth: Gold,
    chosen: Model,
    folds: int,
    resamples: int,
    seed: int,
    threads: int | None,
) -> Evaluation:
    """Scores of a model's labels, fitted once without gold or cross-validated over it."""
    from adjudge.cli.console import progress, tell_if_cold
    from adjudge.cli.fitting import fitted, tell
    from adjudge.engines.threads import ThreadsEngine
    from adjudge.evaluation.against_gold import evaluate
    from adjudge.evaluation.crossvalidation import cross_validate

    if not folds:
        consensus = fitted(chosen, judgments, None, threads)
        tell(consensus)
        return evaluate(consensus, truth, resamples=resamples, seed=seed)
    tell_if_cold()
    engine = ThreadsEngine(threads=threads) if threads is not None else ThreadsEngine()
    with progress(f"cross-validating {chosen.name}") as on_step:
        result = cross_validate(
            chosen,
            judgments,
            truth,
            folds=folds,
            seed=seed,
            resamples=resamples,
            engine=engine,
            progress=on_step,
        )
    say(
        f"[bold]{chosen.name}[/], {folds} folds over {len(truth):,} gold items: accuracy "
        f"{result.pooled['accuracy'].value:.3f}, sd between folds {result.sd('accuracy'):.3f}"
    )
    return result.pooled


def _deliver(result: Evaluation, output: Path | None, as_json: bool) -> None:
    """Scores to a file, to a program, or to a person."""
    from adjudge.cli.scoring import scores_grid
    from adjudge.cli.writing import print_json, write_table
    from adjudge.evaluation.measures import MEASURES

    for note in result.notes:
        say(f"  {note}")
    table = result.to_table()
    if output is not None:
        write_table(table, output)
    elif as_json:
        print_json(
            {
                "gold": result.gold,
                "scored": result.scored,
                "notes": list(result.notes),
                "scores": table.to_pylist(),
            }
        )
    elif is_piped():
        write_table(table, Path("-"))
    else:
        meanings = {measure.name: measure.meaning for measure in MEASURES}
        page().print(scores_grid("Scores", table, result.level, meanings))
