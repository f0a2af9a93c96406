"""adjudge evaluate: labels, or a model, against gold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import argument, command, flag, option
from adjudge.cli._console import progress, say, tell_if_cold, tell_notes, warn
from adjudge.cli._fitting import build_model, fit_model, make_engine
from adjudge.cli._reading import (
    allow_labels,
    describe,
    drop_gold,
    name_gold_column,
    omissions_of,
    place_of,
    read_content,
    read_gold,
    shape_input,
)
from adjudge.cli._results import check_places, deliver
from adjudge.cli._summary import scores_grid, summarise
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting

_COPIED = 1e-5  # log loss (nats) below which labels are copies of their gold
_FEW = 10  # gold items: fewer labels may be right and sure by themselves

if TYPE_CHECKING:
    from adjudge.data.formats import Content
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.data.scale import Scale
    from adjudge.evaluation.against_gold import Evaluation


@command(
    "adjudge evaluate labels.csv --gold gold.csv",
    "adjudge evaluate judgments.csv --gold gold.csv --model dawid-skene --folds 5",
)
def run(
    files: list[str] = argument(
        "FILE...",
        "Labels (a consensus table), or judgments to fit: files, a folder, a pattern, an address.",
        required=True,
    ),
    *,
    gold: str | None = o.GOLD,
    folds: int = option(
        "--folds N",
        "For judgments: cross-validate with N folds of the gold. A fit with the gold of the other "
        "folds labels each fold. 0 fits once, without gold.",
        0,
        min=0,
    ),
    resamples: int = o.RESAMPLES,
    explain: bool = flag("--explain", "Say what each score means."),
    fitting: o.Fitting,
    reading: o.TruthReading,
    out: o.Delivery,
) -> None:
    """Score labels against gold: accuracy, F1, AUC, log loss, calibration and more.

    If the file is a table of labels, the command scores it. If the file has judgments, the command
    fits the model first, without gold. With --folds it cross-validates instead: the gold of the
    other folds guides and calibrates each fit, as in 'adjudge consensus'. A warning says if the
    probabilities are worse than those of the majority vote. Without --gold, the gold column of the
    file is used.
    """
    check_places({"--output": out.output}, inputs=(*files, gold), printing=out)
    column = None if gold is None else name_gold_column(gold)
    content = read_content(files, reading, kind="labels", gold=column)
    gold = gold if column is None else None
    name = place_of(files)
    scoring = {"resamples": resamples, "seed": fitting.seed}
    if content.judgments is None:
        if folds:
            raise BadSetting("--folds", folds, f"judgments to fit, and {name} holds none")
        result, table, about = _score_labels(content, name, gold, reading, scoring)
    else:
        result, table, about = _score_judgments(
            content, name, gold, reading, fitting, folds, scoring
        )
    _deliver(result, table, about, explain, out)


def _score_labels(
    content: Content,
    name: str,
    gold: str | None,
    reading: o.TruthReading,
    scoring: Mapping[str, Any],
) -> tuple[Evaluation, Any, dict[str, Any]]:
    """Score the labels of a file."""
    from adjudge.evaluation.against_gold import evaluate

    labels, truth, contents = content.labels, content.gold, [content]
    if labels is None and gold is not None and truth is not None:  # as qrels are: labels, no more
        table = truth.to_table()
        labels = table.rename_columns(["label" if n == "gold" else n for n in table.column_names])
    if labels is None:
        raise BadData(f"there are no labels or judgments: {describe(content)}", source=name)
    binary = reading.binary or reading.binary_truth
    if gold is not None:
        known = None if binary or content.scale is None else allow_labels(content.scale, reading)
        given = read_gold(gold, reading, known)
        truth, contents = given.gold, [content, given]
    if truth is None:
        raise BadSetting("--gold", None, f"a file of gold, since {name} holds none")
    truth = drop_gold(truth, reading.drop_label or [])
    scale = content.scale
    if scale is not None and reading.relevant and not binary:
        scale = scale.with_relevant(reading.named_relevant)
    if binary:
        scale = _infer_scale(labels, truth, reading)
        truth, scale = truth.collapse(scale), scale.with_binary_truth()
    with progress("scoring"):
        result = evaluate(labels, truth, scale, source=name, **scoring)
    sure = "probability" in labels.column_names and result.scored >= _FEW
    loss = result.scores.get("log_loss")
    if sure and loss is not None and loss.defined and float(loss) < _COPIED:
        warn(
            "every label is its gold with probability 1, as gold given to a fit fixes it; to score "
            "the model: adjudge evaluate JUDGMENTS --gold FILE --folds 5"
        )
    return result, result.to_table(), omissions_of(*contents)


def _infer_scale(labels: Any, gold: Gold, reading: o.TruthReading) -> Scale:
    """The scale that has every grade of labels and gold, since either may be binary already."""
    from adjudge.data.scale import Scale

    if reading.labels is not None:
        return Scale.parse(reading.labels, relevant=reading.named_relevant)
    given = [name[2:] for name in labels.column_names if name.startswith("p_")]
    used = labels["label"].drop_null().unique().to_pylist()
    scale = Scale.infer([*given, *used, *gold.values])
    return scale.with_relevant(reading.named_relevant) if reading.relevant else scale


def _score_judgments(
    content: Content,
    name: str,
    gold: str | None,
    reading: o.TruthReading,
    fitting: o.Fitting,
    folds: int,
    scoring: Mapping[str, Any],
) -> tuple[Evaluation, Any, dict[str, Any]]:
    """Scores of a model's labels, fitted once without gold or cross-validated over it."""
    from adjudge.evaluation.against_gold import evaluate
    from adjudge.evaluation.crossvalidation import cross_validate
    from adjudge.models.calibrated import with_calibration

    model = build_model(fitting)
    read = shape_input(content, gold, reading)
    truth = read.every
    if truth is None:
        raise BadSetting("--gold", None, f"a file of gold, since {name} holds none")
    truth.tell_unjudged(read.judgments, needed=True)
    if not folds:
        consensus = fit_model(model, read.judgments, None, fitting)
        with progress("scoring"):
            result = evaluate(consensus, truth, **scoring)
        vote = _compare_with_vote(result, read.judgments)
        return result, result.to_table(), {**summarise(consensus, read), **vote}
    tell_if_cold()
    with progress(f"cross-validating {model.name}") as on_step:
        crossed = cross_validate(
            with_calibration(model, fitting.calibrate),
            read.judgments,
            truth,
            folds=folds,
            engine=make_engine(fitting.threads),
            progress=on_step,
            **scoring,
        )
    say((model.name, "bold"), f" by {folds} folds over {count_of(len(truth), 'gold item')}")
    vote = _compare_with_vote(crossed.pooled, read.judgments)
    about = {"model": model.name, "folds": folds, **vote, **read.omissions}
    return crossed.pooled, crossed.to_table(), about


def _compare_with_vote(result: Evaluation, judgments: Judgments) -> dict[str, Any]:
    """Return the log loss of the vote, and a warning where it is better."""
    from adjudge.evaluation.against_gold import compare_with_vote

    found = compare_with_vote(result, judgments)
    return {} if found is None else {"vote_log_loss": found.vote, "warning": found.warning}


def _deliver(
    result: Evaluation,
    table: Any,
    about: Mapping[str, Any],
    explain: bool,
    out: o.Delivery,
) -> None:
    """Scores to a file, to a program, or to a person."""
    from adjudge.evaluation.measures import MEASURES

    tell_notes(result.notes, result.warnings)
    if about.get("warning"):
        warn(str(about["warning"]))
    notes = [*about.get("notes", ()), *result.notes]
    meanings = {measure.name: measure.meaning for measure in MEASURES} if explain else None
    title = f"Scores on {result.scored:,} of {count_of(result.gold, 'gold item')}"
    deliver(
        table,
        "scores",
        out,
        about={
            **about,
            "gold": result.gold,
            "scored": result.scored,
            "level": result.level,
            "notes": notes,
        },
        show=lambda: scores_grid(title, table, result.level, meanings),
    )
