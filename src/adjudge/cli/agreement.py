"""adjudge agreement: how far the judges agree with each other, chance taken off."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, is_piped, page, say

NAME = "agreement"
EXAMPLE = "Example:  adjudge agreement judgments.csv --resamples 1000"


def run(
    judgments: o.JudgmentsFile,
    output: o.Output = None,
    resamples: Annotated[
        int, typer.Option(help="Bootstrap resamples of the items for the intervals; 0 for none.")
    ] = 1000,
    seed: o.Seed = 0,
    labels: o.Labels = None,
    relevant: o.Relevant = None,
    drop_label: o.Drop = None,
    binary: o.Binary = False,
    format: o.Format = None,
    encoding: o.Encoding = "utf-8",
    skip_bad_rows: o.SkipBad = False,
    question: o.Question = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Measure agreement: percent, Cohen's and Fleiss' kappa, Krippendorff's alpha.

    Missing judgments are no trouble: items judged once are left out and counted. Intervals are
    over items, by bootstrap.
    """
    from adjudge.cli.scoring import scores_grid
    from adjudge.cli.writing import extension_of, print_json, write_table
    from adjudge.evaluation.agreement import measure_agreement

    be_quiet(quiet or json)
    if output is not None:
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
    )
    read, _, _ = reading.read(judgments)
    result = measure_agreement(read, resamples=resamples, seed=seed)
    say(
        f"{result.items:,} items with two judgments or more "
        f"({result.left_out:,} with fewer left out), {result.judgments:,} judgments, "
        f"{read.judge_count:,} judges; labels {read.scale}"
    )
    table = result.to_table()
    if output is not None:
        write_table(table, output)
    elif json:
        counts = {"items": result.items, "left_out": result.left_out, "judgments": result.judgments}
        print_json(counts | {"scores": table.to_pylist()})
    elif is_piped():
        write_table(table, Path("-"))
    else:
        page().print(scores_grid("Agreement", table, result.level))
