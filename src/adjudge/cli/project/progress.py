"""adjudge project status and policy: how far a project is, and by which settings."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from adjudge.cli import _options as o
from adjudge.cli import argument, command, option
from adjudge.cli._console import say
from adjudge.cli._results import Column, answer, grid, page, print_json, shorten, show_rows
from adjudge.cli.project._shared import POLICY, SETTINGS, open_services, read_policy, warn
from adjudge.data.source import count_of

if TYPE_CHECKING:
    from adjudge.collect.rules.policy import Policy
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.values.requesting import Progress


@command("adjudge project status", "adjudge project status shop-search --json")
def show_status(
    project: str | None = argument("PROJECT", "One project; all if not given."),
    *,
    database: str = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Show the projects of a database, or how far one of them is, what it cost and why it waits."""
    services = open_services(database)
    if project is None:
        known = services.projects.get_all()
        answer(printing, [asdict(one) for one in known], _list(services))
        return
    progress, held = services.projects.get_progress(project), services.projects.get(project)
    answer(
        printing,
        {"project": asdict(held), "progress": asdict(progress)},
        grid(held.name, ["", ">"], _rows(progress)),
        *(Text(f"  {warning}", style="yellow") for warning in progress.warnings),
    )


def _list(services: RequesterServices) -> Any:
    columns: list[Column] = [
        ("project", lambda one: shorten(one.slug)),
        ("state", lambda one: str(one.state)),
        (">items closed", lambda one: f"{one.closed:,} of {one.items:,}"),
        *("golds", "judges", "judgments"),
    ]
    return show_rows("Projects", services.projects.get_all(), *columns)


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
    said = f"{count_of(savings.saved, 'judgment')} ({savings.saved_share:.0%})"
    rows = [
        ["judgments per closed item", f"{savings.per_item:.2f}"],
        [
            f"saved against fixed {savings.fixed}",
            f"{said}, {savings.saved_money} {progress.currency}",
        ],
    ]
    if savings.accuracy is not None:
        rows.append(["expected accuracy of closed items", f"{savings.accuracy:.1%}"])
    return rows


@command(
    "adjudge project policy shop-search",
    "adjudge project policy shop-search --set judgments_per_item=3",
    "adjudge project policy shop --panel prolific --set pay_failed=0.40",
)
def set_policy(
    project: str = o.PROJECT,
    *,
    file: Path | None = POLICY,
    settings: list[str] | None = SETTINGS,
    panel: str | None = option("--panel NAME", "First set all that a panel asks for: prolific."),
    database: str = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Show the policy of a project, or change some of its settings; then what to look at in it."""
    changes = read_policy(file, settings or ())
    services = open_services(database)
    before, version = services.projects.get_policy(project)
    after = before
    if panel is not None:
        after, version = services.projects.use_panel(project, panel, changes)
    elif changes:
        after, version = services.projects.set_policy(project, changes)
    warnings = services.projects.get_progress(project).warnings
    if printing.json:
        print_json({"version": version, "policy": after.to_dict(), "warnings": list(warnings)})
        return
    every = panel is None and not changes
    rows = _policy_rows(after) if every else _changed(before, after)
    if rows:
        heads = ["setting", "value", "meaning"] if every else ["setting", "before", "now"]
        title = f"Policy of {project}, version {version}"
        page().print(grid(title, heads, rows))
    else:
        say("nothing to change: it is so already")
    warn(warnings)


def _policy_rows(policy: Policy) -> list[list[Any]]:
    """Every setting, one per line."""
    return [
        [shorten(key), _shown(value), type(policy).model_fields[key].title]
        for key, value in policy.to_dict().items()
    ]


def _changed(before: Policy, after: Policy) -> list[list[Any]]:
    """The settings that are not what they were."""
    old, new = before.to_dict(), after.to_dict()
    return [
        [shorten(key), _shown(old[key]), _shown(value)]
        for key, value in new.items()
        if old[key] != value
    ]


def _shown(value: Any) -> Any:
    """A value as ``--set`` takes it."""
    import json

    return shorten(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
