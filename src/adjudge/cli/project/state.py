"""adjudge project state: open, pause or close a project."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from adjudge.cli import Command
from adjudge.cli import _options as o
from adjudge.cli._console import say
from adjudge.cli._results import print_json
from adjudge.cli.project._shared import open_services


def _run(
    project: o.ProjectName,
    state: Annotated[
        Literal["open", "paused", "closed"],
        typer.Argument(metavar="STATE", help="open, paused or closed."),
    ],
    *,
    database: o.Database = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Open a project to judges, pause it (open pages may still be sent), or close it."""
    done = open_services(database).projects.set_state(project, state)
    if printing.json:
        print_json({"slug": done.slug, "state": done.state})
    say((done.slug, "bold"), f" is {done.state}")


COMMAND = Command(
    _run,
    examples=("adjudge project state shop-search open", "adjudge project state shop-search paused"),
)
