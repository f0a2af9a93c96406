"""adjudge demo: the whole way through, on a made crowd whose truth is known."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, option
from adjudge.cli._console import tell_if_cold
from adjudge.cli._results import Column, grid, page, print_json, show_rows, write_tables
from adjudge.errors import BadData

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.evaluation.against_gold import Evaluation
    from adjudge.simulation import Made

_MODELS = ("majority-vote", "single-confusion", "dawid-skene")  # and the default; no sampling
_COPIED = ("majority-vote", "dawid-skene")  # and the default: what they make of copies
_COPIES = (0, 1, 4)  # of the language model
_FILES = ("judgments.csv", "gold.csv", "truth.csv", "labels.csv", "judges.csv")
_SHOWN = {
    "accuracy": "accuracy",
    "binary_accuracy": "relevant or not",
    "log_loss": "log loss",
    "corrected_calibration_error": "calibration error",
}


@command("adjudge demo --folder demo")
def run(
    *,
    folder: Path | None = option("--folder FOLDER", "Keep the files of the demo here."),
    seed: int = option("--seed N", "Seed of all random numbers.", 7, min=0),
    printing: o.Printing,
) -> None:
    """Label a small simulated crowd, and compare labels and judges with the truth."""
    from adjudge.evaluation.against_gold import evaluate
    from adjudge.models.registry import DEFAULT, model
    from adjudge.simulation import demo

    if folder is not None:
        _check(folder)
    tell_if_cold()
    made = demo(seed)
    models = {name: model(name) for name in _MODELS}
    models[DEFAULT] = model()
    fits = {name: chosen.fit(made.judgments) for name, chosen in models.items()}
    results = {name: evaluate(consensus, made.truth) for name, consensus in fits.items()}
    best = fits[DEFAULT]
    judges = best.judges.to_pylist()
    for row, kind in zip(judges, made.kinds, strict=True):
        row["kind"] = kind
    judges.sort(key=lambda row: -row["bits"])
    copied = _copied(made)
    if folder is not None:
        _keep(folder, made, best)
    if printing.json:
        scored = [
            {"name": name, **{score: result[score].value for score in _SHOWN}}
            for name, result in results.items()
        ]
        print_json({"seed": seed, "models": scored, "judges": judges, "copies": copied})
        return
    out = page()
    out.print(_story(made))
    out.print(_scores(results))
    out.print(_judges(judges))
    out.print(_copies(copied))
    out.print(_next(folder), soft_wrap=True)  # a command to copy stays on one line


def _story(made: Made) -> str:
    judgments = made.judgments
    return (
        f"\nA made crowd: [bold]{judgments.judge_count}[/] judges, one of them a language model, "
        f"gave [bold]{len(judgments):,}[/] judgments of [bold]{judgments.item_count}[/] "
        f"search results in {judgments.topic_count} topics, on the grades "
        f"{judgments.scale}.\nSome judges are spammers. The truth is known here, so every "
        "model can be marked.\n"
    )


def _scores(results: dict[str, Evaluation]) -> Any:
    """How each model fares against the truth."""
    rows = [
        [name, *(f"{result[score].shown.value:.3f}" for score in _SHOWN)]
        for name, result in results.items()
    ]
    columns = ["model", *(f">{heading}" for heading in _SHOWN.values())]
    return grid("Against the truth", columns, rows)


def _judges(judges: list[dict[str, Any]]) -> Any:
    """The judges beside what they really are: the model was not told."""
    columns: list[Column] = [
        "judge",
        ("really is", lambda row: row["kind"].partition("(")[0]),
        "judgments",
        "accuracy:.2f",
        "accuracy_low to accuracy_high as 90% interval",
        "bits:.2f",
    ]
    title = "Judges by bits per judgment, the first and the last: whom to keep, whom to drop"
    return show_rows(title, [*judges[:6], *judges[-8:]], *columns)


def _copied(made: Made) -> list[dict[str, Any]]:
    """How models fare when the language model is not one judge but several that are the same.

    The vote and Dawid-Skene are as they are everywhere else: every judge is a voice of their own.
    """
    from adjudge.evaluation.against_gold import evaluate
    from adjudge.models.registry import DEFAULT, model
    from adjudge.simulation import MODEL_NAME, copy_judge

    models: dict[str, Any] = {name: model(name, weigh_copies=False) for name in _COPIED}
    models[DEFAULT] = model()
    found = []
    for copies in _COPIES:
        crowd = copy_judge(made, MODEL_NAME, copies)
        for name, chosen in models.items():
            result = evaluate(chosen.fit(crowd.judgments), made.truth)
            scores = {score: result[score].value for score in ("accuracy", "log_loss")}
            found.append({"name": name, "copies": copies, **scores})
    return found


def _copies(copied: list[dict[str, Any]]) -> Any:
    """What copies of the language model do to each model's labels and probabilities."""
    from adjudge.simulation import MODEL_NAME

    names = dict.fromkeys(row["name"] for row in copied)
    rows = [
        [
            name,
            *(
                f"{row['accuracy']:.3f} / {row['log_loss']:.2f}"
                for row in copied
                if row["name"] == name
            ),
        ]
        for name in names
    ]
    headings = ("alone", "with one copy", "with four")
    columns = ["model", *(f">{heading}" for heading in headings)]
    return grid(f"Accuracy / log loss with copies of {MODEL_NAME}", columns, rows)


def _check(folder: Path) -> None:
    """Refuse a folder that holds anything but an earlier demo, before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise BadData("is a file; wanted a folder to write", source=str(folder))
    held = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    if held and held != sorted(_FILES):
        raise BadData(
            f"there is {held[0]!r} in this folder; wanted a new or an empty one", source=str(folder)
        )


def _keep(folder: Path, made: Made, consensus: Consensus) -> None:
    """Write the files of the demo."""
    from adjudge.data.formats import Content

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise BadData(f"cannot be made ({fault.strerror})", source=str(folder)) from None
    tables = (
        Content(judgments=made.judgments).to_table(),
        made.gold.to_table(),
        made.truth.to_table(),
        consensus.labels,
        consensus.judges,
    )
    pairs = zip(_FILES, tables, strict=True)
    write_tables({file: (table, folder / file) for file, table in pairs}, tell=False)


def _next(folder: Path | None) -> str:
    """What to run next."""
    from rich.markup import escape

    if folder is None:
        return (
            "Next:  [bold]adjudge demo --folder demo[/] keeps these files;\n"
            "       [bold]adjudge consensus YOUR-JUDGMENTS.csv -o labels.csv[/] does it for yours."
        )
    files = {file: escape(shlex.quote(str(folder / file))) for file in _FILES}
    judgments = files["judgments.csv"]
    return (
        f"Kept in {escape(str(folder))}: {', '.join(_FILES)}\n\n"
        f"Next:  [bold]adjudge consensus {judgments} --gold {files['gold.csv']}[/]\n"
        f"       [bold]adjudge judges {judgments}[/]\n"
        f"       [bold]adjudge evaluate {judgments} --gold {files['truth.csv']}[/]\n"
        f"       [bold]adjudge agreement {judgments}[/]"
    )
