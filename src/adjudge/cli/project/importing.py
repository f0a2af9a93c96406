"""adjudge project import: more items and gold for a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, say
from adjudge.cli.project.stored import DATABASE, Stored, checked, open_services
from adjudge.data.source import count_of

NAME = "import"
EXAMPLES = (
    "adjudge project import shop-search items.csv gold.csv",
    "adjudge project import shop-search topics.xml run.txt docs.jsonl --check",
)


def run(
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="The project's short name.")],
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES", help="Items and gold, in any format known.")
    ],
    *,
    depth: Annotated[
        int, o.option("--depth", metavar="N", min=1, help="Results of each topic of a run.")
    ] = 10,
    qrels_as_gold: Annotated[
        bool, o.option("--qrels-as-gold", help="Take the grades of a BEIR folder as gold.")
    ] = False,
    replace: Annotated[
        bool, o.option("--replace", help="Withdraw items that are not in these files.")
    ] = False,
    check: Annotated[
        bool, o.option("--check", help="Look for faults only; store nothing.")
    ] = False,
    database: Stored = DATABASE,
    printing: o.Printing,
) -> None:
    """Add items and gold to a project, or change those of a known name.

    All faults are listed with file, line and column, and nothing is stored unless there are none.
    """
    from dataclasses import asdict

    from adjudge.cli.writing import print_json
    from adjudge.collect.importing import ImportLimits, read

    be_quiet(printing.quiet or printing.json)
    services = open_services(database)
    held = services.projects.read(project)
    preview = checked(
        read(
            files,
            scale=held.scale,
            known=frozenset(item.name for item in held.items),
            depth=depth,
            qrels_as_gold=qrels_as_gold,
            limits=ImportLimits(bytes=2_000_000_000, rows=10_000_000),
        )
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
    for warning in done.warnings:
        say(("  ", ""), (warning, "yellow"))
