"""adjudge demo: labels and judges of a simulated crowd, compared with its known truth."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, option
from adjudge.cli._console import tell_if_cold
from adjudge.cli._results import Column, page, print_json, show_rows, write_tables
from adjudge.errors import BadData

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.simulation import Simulated

_MODELS = ("majority-vote", "dawid-skene")  # and the default
_COPIES = (0, 4)  # of the LLM judge
_JUDGES = 3  # shown to keep, and to drop
_FILES = ("judgments.csv", "gold.csv", "truth.csv", "labels.csv", "judges.csv")
_REPORT = "report.html"
_SCORES = ("accuracy", "log_loss", "corrected_calibration_error")


@command("adjudge demo --folder demo")
def run(
    *,
    folder: Path | None = option("--folder FOLDER", "Keep the files of the demo here."),
    seed: int = option("--seed N", "Seed of all random numbers.", 7, min=0),
    printing: o.Printing,
) -> None:
    """Label a small simulated crowd, and compare labels and judges with the truth."""
    from adjudge.models.registry import model
    from adjudge.simulation import demo

    if folder is not None:
        _check(folder)
    tell_if_cold()
    crowd = demo(seed)
    best = model().fit(crowd.judgments)
    judges = best.judges.to_pylist()
    for row, kind in zip(judges, crowd.kinds, strict=True):
        row["kind"] = kind
    judges.sort(key=lambda row: -row["bits"])
    scores = _score_models(crowd)
    if folder is not None:
        _keep(folder, crowd, best)
    if printing.json:
        print_json({"seed": seed, "models": scores, "judges": judges})
        return
    out = page()
    out.print(_describe(crowd))
    out.print(_tabulate_scores(scores))
    out.print(_tabulate_judges(judges))
    out.print(_next(folder), soft_wrap=True)  # a command to copy stays on one line


def _describe(crowd: Simulated) -> str:
    judgments = crowd.judgments
    return (
        f"Simulated: [bold]{judgments.judge_count}[/] judges (one LLM, some spammers) gave "
        f"[bold]{len(judgments):,}[/] judgments\nof [bold]{judgments.item_count}[/] search "
        f"results, graded {judgments.scale}."
    )


def _score_models(crowd: Simulated) -> list[dict[str, Any]]:
    """Score models against the known truth, with and without copies of the LLM judge.

    The vote and Dawid-Skene are as they are elsewhere: they do not look for near-duplicates.
    """
    from adjudge.evaluation.against_gold import evaluate
    from adjudge.models.registry import DEFAULT, model
    from adjudge.simulation import MODEL_NAME, copy_judge

    models: dict[str, Any] = {name: model(name, weigh_copies=False) for name in _MODELS}
    models[DEFAULT] = model()
    found = []
    for copies in _COPIES:
        copied = copy_judge(crowd, MODEL_NAME, copies)
        for name, chosen in models.items():
            result = evaluate(chosen.fit(copied.judgments), crowd.truth)
            scores = {score: result[score].shown.value for score in _SCORES}
            found.append({"name": name, "copies": copies, **scores})
    return found


def _tabulate_scores(scores: list[dict[str, Any]]) -> Any:
    """Tabulate accuracy and log loss of each model, with and without copies."""
    rows: dict[str, dict[str, Any]] = {row["name"]: {"model": row["name"]} for row in scores}
    for row in scores:
        said = f"{row['accuracy']:.3f} / {row['log_loss']:.2f}"
        rows[row["name"]]["copied" if row["copies"] else "collected"] = said
    return show_rows(
        "Accuracy / log loss against the known truth",
        rows.values(),
        "model",
        "collected as as collected",
        f"copied as LLM judge copied {max(_COPIES)} times",
    )


def _tabulate_judges(judges: list[dict[str, Any]]) -> Any:
    """Tabulate the best and the worst judges with what they are, which the model did not know."""
    columns: list[Column] = [
        "judge",
        ("is a", lambda row: row["kind"].partition("(")[0]),
        "judgments",
        "accuracy:.2f",
        "accuracy_low to accuracy_high as 90% interval",
        "bits:.2f",
    ]
    return show_rows(
        f"{_JUDGES} judges to keep and {_JUDGES} to drop, by bits per judgment",
        [*judges[:_JUDGES], *judges[-_JUDGES:]],
        *columns,
    )


def _check(folder: Path) -> None:
    """Refuse a folder that holds anything but an earlier demo, before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise BadData("is a file; expected a folder to write", source=str(folder))
    held = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    if held and [name for name in held if name != _REPORT] != sorted(_FILES):
        raise BadData(
            f"there is {held[0]!r} in this folder; expected a new or an empty one",
            source=str(folder),
        )


def _keep(folder: Path, crowd: Simulated, consensus: Consensus) -> None:
    """Write the files of the demo."""
    from adjudge.data.formats import Content

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise BadData(f"cannot be created ({fault.strerror})", source=str(folder)) from None
    tables = (
        Content(judgments=crowd.judgments).to_table(),
        crowd.gold.to_table(),
        crowd.truth.to_table(),
        consensus.labels,
        consensus.judges.to_table(),
    )
    pairs = zip(_FILES, tables, strict=True)
    write_tables({file: (table, folder / file) for file, table in pairs}, tell=False)


def _next(folder: Path | None) -> str:
    """What to run next."""
    from rich.markup import escape

    commands = ["demo --folder demo", "consensus YOUR-JUDGMENTS.csv -o labels.csv"]
    if folder is not None:
        given, gold, truth = (shlex.quote(str(folder / name)) for name in _FILES[:3])
        commands = [f"consensus {given} --gold {gold}", f"judges {given}"]
        commands.append(f"evaluate {given} --gold {truth}")
    return "Next:  " + "\n       ".join(f"[bold]adjudge {escape(one)}[/]" for one in commands)
