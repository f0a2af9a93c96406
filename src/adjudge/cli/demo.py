"""adjudge demo: the whole way through, on a made crowd whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, page, tell_if_cold

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.simulation import Made

NAME = "demo"
EXAMPLE = "Example:  adjudge demo --folder demo"


def run(
    folder: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep the made judgments, gold and results here."),
    ] = None,
    seed: o.Seed = 7,
    quiet: o.Quiet = False,
) -> None:
    """Make a small crowd, find its consensus, judge the judges, and compare with the truth."""
    from adjudge.evaluation.against_gold import evaluate
    from adjudge.models.registry import MODELS, model
    from adjudge.simulation import demo

    be_quiet(quiet)
    out = page()
    tell_if_cold()
    made = demo(seed)
    people = made.judgments.judge_count
    out.print(
        f"\nA made crowd: [bold]{people}[/] judges, one of them a language model, gave "
        f"[bold]{len(made.judgments):,}[/] judgments of [bold]{made.judgments.item_count}[/] "
        f"search results in {made.judgments.topic_count} topics, on the grades "
        f"{made.judgments.scale}.\nSome judges are spammers. The truth is known here, so every "
        "model can be marked.\n"
    )
    fits = {name: model(name).fit(made.judgments) for name in MODELS}
    rows = []
    for name, consensus in fits.items():
        result = evaluate(consensus, made.truth)
        cells = [f"{result[s].value:.3f}" for s in ("accuracy", "binary_accuracy", "log_loss")]
        rows.append([name, *cells])
    heads = [("model", "left"), ("accuracy", "right"), ("relevant or not", "right")]
    out.print(grid("Against the truth", [*heads, ("log loss", "right")], rows))
    best = fits["dawid-skene"]
    out.print(_judges(best, made))
    _keep(folder, made, best, out)


def _judges(consensus: Consensus, made: Made) -> Any:
    """The judges beside what they really are: the model was not told."""
    from adjudge.cli.writing import interval, number

    rows = consensus.judges.to_pylist()
    for row, kind in zip(rows, made.kinds, strict=True):
        row["kind"] = kind
    rows.sort(key=lambda row: -row["bits"])
    shown = [*rows[:6], None, *rows[-8:]]
    cells = [
        ["..."] + [""] * 5
        if row is None
        else [
            row["judge"],
            row["kind"],
            str(row["judgments"]),
            number(row["accuracy"], 2),
            interval(row["accuracy_low"], row["accuracy_high"]),
            number(row["bits"], 2),
        ]
        for row in shown
    ]
    columns = [
        ("judge", "left"),
        ("really is", "left"),
        ("judgments", "right"),
        ("accuracy", "right"),
        ("90% interval", "right"),
        ("bits", "right"),
    ]
    title = "Judges by bits of information a judgment: whom to keep, whom to drop"
    return grid(title, columns, cells)


def _keep(folder: Path | None, made: Made, consensus: Consensus, out: Any) -> None:
    """Write the files of the demo, and say what to run next."""
    from adjudge.cli.writing import write_table
    from adjudge.data.formats import Content
    from adjudge.data.formats.plain import table_of

    if folder is None:
        out.print(
            "Next:  [bold]adjudge demo --folder demo[/] keeps these files;\n"
            "       [bold]adjudge consensus YOUR-JUDGMENTS.csv -o labels.csv[/] does it for yours."
        )
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_table(table_of(Content(judgments=made.judgments)), folder / "judgments.csv")
    write_table(made.gold.to_table(), folder / "gold.csv")
    write_table(made.truth.to_table(), folder / "truth.csv")
    write_table(consensus.labels, folder / "labels.csv")
    write_table(consensus.judges, folder / "judges.csv")
    out.print(
        f"Kept in {folder}/: judgments.csv, gold.csv, truth.csv, labels.csv, judges.csv\n\n"
        f"Next:  [bold]adjudge consensus {folder}/judgments.csv --gold {folder}/gold.csv[/]\n"
        f"       [bold]adjudge judges {folder}/judgments.csv[/]\n"
        f"       [bold]adjudge evaluate {folder}/judgments.csv --gold {folder}/truth.csv[/]\n"
        f"       [bold]adjudge agreement {folder}/judgments.csv[/]"
    )
