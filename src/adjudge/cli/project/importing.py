"""adjudge project import: more items and gold for a project."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import Command, flag
from adjudge.cli import _options as o
from adjudge.cli._console import say
from adjudge.cli._results import print_json
from adjudge.cli.project._shared import open_services, read_items, warn
from adjudge.data.source import count_of


def _run(
    project: o.ProjectName,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES", help="Items and gold, in any format known.")
    ],
    *,
    depth: o.Depth = 10,
    qrels_as_gold: o.QrelsAsGold = False,
    replace: Annotated[
        bool, flag("--replace", "Withdraw items that are not in these files.")
    ] = False,
    check: Annotated[bool, flag("--check", "Look for faults only; store nothing.")] = False,
    database: o.Database = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Add items and gold to a project, or change those of a known name.

    All faults are listed with file, line and column, and nothing is stored unless there are none.
    """
    services = open_services(database)
    held = services.projects.read(project)
    known = frozenset(item.name for item in held.items)
    preview = read_items(
        files, scale=held.scale, known=known, depth=depth, qrels_as_gold=qrels_as_gold
    )
    if check:
        say(
            f"{count_of(len(preview.items), 'item')} and "
            f"{count_of(len(preview.golds), 'gold')}: no fault"
        )
        return
    store = services.projects.replace_items if replace else services.projects.add_items
    done = store(project, preview.items, preview.golds)
    if printing.json:
        print_json(asdict(done))
        return
    say(
        f"{count_of(done.added, 'item')} added, {done.changed:,} changed, {done.withdrawn:,} "
        f"withdrawn; {count_of(done.golds_added, 'gold')} added, {done.golds_changed:,} changed"
    )
    warn(done.warnings)


COMMAND = Command(
    _run,
    examples=(
        "adjudge project import shop-search items.csv gold.csv",
        "adjudge project import shop-search topics.xml run.txt docs.jsonl --check",
    ),
)
