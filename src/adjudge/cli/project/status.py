"""adjudge project status: how far a project is."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import Command
from adjudge.cli import _options as o
from adjudge.cli._results import Columns, grid, page, print_json, shorten, show_rows
from adjudge.cli.project._shared import open_services
from adjudge.data.source import count_of

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.values.requesting import Progress


def _run(
    project: Annotated[
        str | None, typer.Argument(metavar="PROJECT", help="One project; all if not given.")
    ] = None,
    *,
    database: o.Database = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Show the projects of a database, or how far one of them is, what it cost and why it waits."""
    services = open_services(database)
    if project is None:
        if printing.json:
            print_json([asdict(one) for one in services.projects.get_all()])
        else:
            page().print(_list(services))
        return
    progress = services.projects.get_progress(project)
    if printing.json:
        print_json(
            {"project": asdict(services.projects.get(project)), "progress": asdict(progress)}
        )
        return
    page().print(grid(services.projects.get(project).name, ["", ">"], _rows(progress)))
    for warning in progress.warnings:
        page().print(f"  {warning}", style="yellow", markup=False)


COMMAND = Command(
    _run, examples=("adjudge project status", "adjudge project status shop-search --json")
)


def _list(services: RequesterServices) -> Any:
    columns: Columns = {
        "project": lambda one: shorten(one.slug),
        "state": lambda one: str(one.state),
        ">items closed": lambda one: f"{one.closed:,} of {one.items:,}",
        ">golds": lambda one: f"{one.golds:,}",
        ">judges": lambda one: f"{one.judges:,}",
        ">judgments": lambda one: f"{one.judgments:,}",
    }
    return show_rows("Projects", services.projects.get_all(), columns)


def _rows(progress: Progress) -> list[list[str]]:
    """What a person wants to know, a line each."""
    rows = [
        ["items closed", f"{progress.closed:,} of {progress.items:,}"],
        ["trusted judgments", f"{progress.trusted:,} of {progress.needed:,}"],
        ["untrusted judgments", f"{progress.untrusted:,}"],
        ["pages answered", f"{progress.pages:,}"],
        ["pages in judges' hands", f"{progress.open_pages:,}"],
        *([f"judges {stage}", f"{many:,}"] for stage, many in progress.judges.items() if many),
        *([why, f"{many:,}"] for why, many in progress.why_open.items() if many),
    ]
    if progress.gold_accuracy is not None:
        rows.append(["accuracy on gold", f"{progress.gold_accuracy:.1%}"])
    rows.append(["cost so far", f"{progress.cost} {progress.currency}"])
    rows.append(["cost to finish", f"{progress.cost_to_finish} {progress.currency}"])
    return [*rows, *_budget(progress), *_savings(progress)]


def _budget(progress: Progress) -> list[list[str]]:
    """What is left of the budget."""
    budget = progress.budget
    rows = []
    if budget is not None and budget.money is not None:
        out = f"{budget.earned} earned, {budget.in_hand} in hand"
        rows.append(["budget", f"{budget.money} {progress.currency} ({out})"])
    if budget is not None and budget.judgments is not None:
        out = f"{budget.judged:,} given, {budget.rows_in_hand:,} in hand"
        rows.append(["budget in judgments", f"{budget.judgments:,} ({out})"])
    return rows


def _savings(progress: Progress) -> list[list[str]]:
    """What adaptive closing saved so far."""
    savings = progress.savings
    if savings is None:
        return []
    rows = [
        ["judgments a closed item", f"{savings.per_item:.2f}, fixed {savings.fixed}"],
        [
            f"saved against fixed {savings.fixed}",
            f"{count_of(savings.saved, 'judgment')} ({savings.saved_share:.0%}), "
            f"{savings.saved_money} {progress.currency}",
        ],
    ]
    if savings.accuracy is not None:
        said = f"{savings.accuracy:.1%}"
        if savings.fixed_accuracy is not None:
            said += f", fixed {savings.fixed}: {savings.fixed_accuracy:.1%}"
        rows.append(["expected accuracy of closed items", said])
    if savings.equal is not None and savings.equal_share is not None:
        rows.append(
            [
                "saved at equal accuracy",
                f"{savings.equal_share:.0%} of {savings.equal:.1f} an item, "
                f"{savings.equal_money} {progress.currency}",
            ]
        )
    return rows
