"""adjudge replicate: a paper's experiment, published beside obtained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import Command, flag, option
from adjudge.cli import _options as o
from adjudge.cli._console import is_piped, progress, say
from adjudge.cli._results import grid, number, page, print_json
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.replications.replication import Replication, ReplicationResult, Setup, Table
    from adjudge.replications.running import Done


def _run(
    paper: Annotated[
        list[str],
        typer.Argument(
            metavar="PAPER...", help="zscore, pmf, hierarchical, truelabel, training, or all."
        ),
    ],
    *,
    output: Annotated[
        Path | None,
        option(
            "--output -o",
            "FOLDER",
            "Where to write pages, tables and figures, and to keep what is done.",
        ),
    ] = None,
    quick: Annotated[
        bool, flag("--quick", "Fewer seeds, runs and draws: seconds, not minutes.")
    ] = False,
    data: Annotated[
        Path | None, option("--data", "FOLDER", "Where the real judgments are; ADJUDGE_DATA else.")
    ] = None,
    seeds: Annotated[
        int | None, option("--seeds", "N", "Seeds (splits, runs) in place of the paper's.")
    ] = None,
    fresh: Annotated[
        bool, flag("--fresh", "Do everything again, whatever the folder keeps.")
    ] = False,
    through_server: Annotated[
        bool,
        flag(
            "--through-server",
            "The paper training only: by a real server, over HTTP, and from its own report.",
        ),
    ] = False,
    printing: o.Printing,
) -> None:
    """Run a paper's experiment, and show every published value beside the one obtained.

    Real data are used where they exist, stated simulations where they do not. Values are mean and
    sd over seeds; every difference larger than two sd gets a sentence. With a folder (-o) each part
    is kept when it is done, so that a run that was stopped goes on where it was; there is a page
    for each paper, a CSV for each table and figure, and PNG and SVG pictures.
    """
    from adjudge.replications import pages
    from adjudge.replications.replication import Setup
    from adjudge.replications.running import forget
    from adjudge.replications.running import run as run_parts

    setup = Setup(quick=quick, seeds=seeds, data=data)
    papers = _chosen(paper, through_server)
    for replication in papers:
        replication.parts(setup)  # refuses now data that are missing
    if output is not None and output.exists() and not output.is_dir():
        raise BadData("is a file; wanted a folder to write into", source=str(output))
    results = []
    for replication in papers:
        if fresh and output is not None:
            forget(replication.name, output)
        with progress(f"{replication.name}") as on_step:
            tell = _tell(replication.name) if on_step is None else None
            result = run_parts(replication, setup, folder=output, progress=on_step, tell=tell)
        results.append(result)
        if output is not None:
            pages.write(result, setup, output)
        if not printing.json:
            _print(result, setup)
    if output is not None:
        if len(results) > 1:
            pages.write_index(results, setup, output)
        say(f"{count_of(len(results), 'paper')} written to {output}")
    if printing.json:
        print_json([_document(result) for result in results])


COMMAND = Command(
    _run,
    examples=(
        "adjudge replicate zscore --quick",
        "adjudge replicate all -o replications",
        "adjudge replicate training --through-server -o replications",
    ),
)


def _chosen(paper: list[str], through_server: bool) -> list[Replication]:
    """The papers that are named; one of them may go through the real server instead."""
    from adjudge.replications import PAPERS, find_paper

    if not through_server:
        return [find_paper(name) for name in (PAPERS if "all" in paper else dict.fromkeys(paper))]
    if list(paper) != ["training"]:
        raise BadSetting("--through-server", " ".join(paper), "the paper training alone")
    return [find_paper("training", through_server=True)]


def _tell(paper: str) -> Callable[[Done], None]:
    """A line for each part where there is no bar."""

    def tell(done: Done) -> None:
        took = "kept from an earlier run" if done.kept else f"{done.seconds:.1f} s"
        say(f"{paper}: {done.part} ({took})")

    return tell


def _print(result: ReplicationResult, setup: Setup) -> None:
    """The tables for a person, or the page for a pipe."""
    from adjudge.replications import pages

    if is_piped():
        typer.echo("\n".join(pages.page(result, setup)))
        return
    out = page()
    out.print(f"[bold]{result.title}[/bold]")
    for table in result.tables:
        out.print(_grid(table))
        for cause, sentences in pages.differences(table).items():
            out.print(f"* more than two sd apart. {cause}".strip(), markup=False)
            for sentence in sentences:
                out.print(f"- {sentence}", markup=False)
        out.print()
    for claim in result.claims:
        out.print(f"{pages.VERDICTS[claim.holds]}: {claim.text} {claim.evidence}", markup=False)
    out.print(f"{result.seconds:.0f} s, at most {result.memory / pages.MEGABYTE:.0f} MB")


def _grid(table: Table) -> Any:
    """A row for each cell: published, obtained, sd, and a mark where they differ by two sd."""
    rows, last = [], None
    for cell in table.cells:
        digits = table.digits if cell.digits is None else cell.digits
        values = (number(value, digits) for value in (cell.published, cell.obtained, cell.sd))
        note = f"{'*' if cell.differs else ' '} {cell.note}".rstrip()
        rows.append(["" if cell.row == last else cell.row, cell.column, *values, note])
        last = cell.row
    heads = ["", "", ">published", ">obtained"]
    return grid(f"{table.title} ({table.source})", [*heads, ">sd", ""], rows)


def _document(result: ReplicationResult) -> dict[str, Any]:
    from adjudge.replications.pages import differences

    return {
        "paper": result.paper,
        "title": result.title,
        "source": result.source,
        "seconds": result.seconds,
        "busy": result.busy,
        "memory": result.memory,
        "tables": [
            {
                "name": table.name,
                "title": table.title,
                "source": table.source,
                "cells": table.to_table().to_pylist(),
                "differences": [s for group in differences(table).values() for s in group],
            }
            for table in result.tables
        ],
        "claims": [
            {
                "text": claim.text,
                "source": claim.source,
                "beyond_the_paper": claim.beyond,
                "holds": claim.holds,
                "published": claim.published,
                "evidence": claim.evidence,
                "criterion": claim.criterion,
                "published_passes": claim.passes,
                "reading": claim.reading,
            }
            for claim in result.claims
        ],
        "notes": list(result.notes),
    }
