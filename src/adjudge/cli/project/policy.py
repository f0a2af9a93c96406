"""adjudge project policy: show or change the settings of a project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import Command, option
from adjudge.cli import _options as o
from adjudge.cli._console import say
from adjudge.cli._results import grid, page, print_json, shorten
from adjudge.cli.project._shared import open_services, read_policy, warn

if TYPE_CHECKING:
    from adjudge.collect.rules.policy import Policy


def _run(
    project: o.ProjectName,
    *,
    file: Annotated[Path | None, option("--policy", "FILE", "Settings to change, as JSON.")] = None,
    settings: Annotated[
        list[str] | None, option("--set", "NAME=VALUE", "One setting to change (again for more).")
    ] = None,
    panel: Annotated[
        str | None, option("--panel", "NAME", "First set all that a panel asks for: prolific.")
    ] = None,
    database: o.Database = o.DATABASE,
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
    rows = _changed(before, after) if panel is not None or changes else _rows(after)
    if rows:
        every = panel is None and not changes
        heads = ["setting", "value", "meaning"] if every else ["setting", "before", "now"]
        title = f"Policy of {project}, version {version}"
        page().print(grid(title, heads, rows))
    else:
        say("nothing to change: it is so already")
    warn(warnings)


COMMAND = Command(
    _run,
    examples=(
        "adjudge project policy shop-search",
        "adjudge project policy shop-search --set judgments_per_item=3",
        "adjudge project policy shop --panel prolific --set pay_failed=0.40",
    ),
)


def _rows(policy: Policy) -> list[list[Any]]:
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
