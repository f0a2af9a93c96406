"""adjudge project state: open, pause or close a project."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, say
from adjudge.cli.project.stored import DATABASE, Stored, open_services

NAME = "state"
EXAMPLES = ("adjudge project state shop-search open", "adjudge project state shop-search paused")


def run(
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="The project's short name.")],
    state: Annotated[
        Literal["open", "paused", "closed"],
        typer.Argument(metavar="STATE", help="open, paused or closed."),
    ],
    *,
    database: Stored = DATABASE,
    printing: o.Printing,
) -> None:
    """Open a project to judges, pause it (open pages may still be sent), or close it."""
    from adjudge.cli.writing import print_json

    be_quiet(printing.quiet or printing.json)
    done = open_services(database).projects.set_state(project, state)
    if printing.json:
        print_json({"slug": done.slug, "state": done.state})
    say((done.slug, "bold"), f" is {done.state}")
