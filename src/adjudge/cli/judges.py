"""adjudge judges: how far each judge can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, is_piped, page, say

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus

NAME = "judges"
EXAMPLE = "Example:  adjudge judges judgments.csv --gold gold.csv -o judges.csv"


def run(
    judgments: o.JudgmentsFile,
    model: o.ModelName = "dawid-skene",
    gold: o.GoldFile = None,
    output: o.Output = None,
    top: Annotated[
        int, typer.Option(metavar="N", help="How many judges to show a person; 0 for all.", min=0)
    ] = 25,
    by_topic: o.ByTopic = False,
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
    """Show how good each judge is: accuracy, bits of information a judgment, rates, intervals.

    A judge of 0 bits tells nothing, however many judgments she gave.
    """
    from adjudge.cli.fitting import built, fitted, summary, tell
    from adjudge.cli.writing import extension_of, print_json, write_table

    be_quiet(quiet or json)
    if output is not None:
        extension_of(output)
    chosen = built(model, by_topic=by_topic, seed=seed, iterations=iterations)
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
    read, given, beside = reading.read(judgments, gold)
    consensus = fitted(chosen, read, given if given is not None else beside, threads)
    tell(consensus)
    if output is not None:
        write_table(consensus.judges, output)
        say(f"judges written to {output}")
    elif json:
        print_json(summary(consensus) | {"judges_table": consensus.judges.to_pylist()})
    elif is_piped():
        from pathlib import Path

        write_table(consensus.judges, Path("-"))
    else:
        page().print(busiest(consensus, top or consensus.judgments.judge_count))


def busiest(consensus: Consensus, count: int) -> Any:
    """The judges with most judgments, as a table for people."""
    from adjudge.cli.writing import interval, number

    rows = sorted(consensus.judges.to_pylist(), key=lambda row: -row["judgments"])[:count]
    extra = [name for name in ("sensitivity", "specificity", "bias") if rows and name in rows[0]]
    cells = [
        [
            row["judge"],
            f"{row['judgments']:,}",
            number(row["accuracy"]),
            interval(row["accuracy_low"], row["accuracy_high"]),
            number(row["bits"]),
            *(number(row[name], 2) for name in extra),
        ]
        for row in rows
    ]
    columns = [
        ("judge", "left"),
        ("judgments", "right"),
        ("accuracy", "right"),
        ("90% interval", "right"),
        ("bits", "right"),
        *((name, "right") for name in extra),
    ]
    hidden = consensus.judgments.judge_count - len(rows)
    title = "Judges" if hidden <= 0 else f"Judges with most judgments ({hidden:,} more not shown)"
    return grid(title, columns, cells)
