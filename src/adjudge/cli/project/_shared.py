"""What the commands on projects share: the services, and files that say how a project is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import option
from adjudge.cli._console import say
from adjudge.cli._reading import read_text
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.collect.importing import Preview
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.data.scale import Scale

POLICY = option("--policy FILE", "Settings of the policy, as JSON.")
SETTINGS = option("--set NAME=VALUE", "One setting of the policy (again for more).")
_SHOWN = 20  # errors that are listed


def open_services(database: str) -> RequesterServices:
    """The services of a database, acting for whoever has the command line of the server."""
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.store.database import Database

    return RequesterServices(Database(database))


def read_items(
    files: list[Path],
    *,
    scale: Scale | None,
    depth: int,
    qrels_as_gold: bool,
    known: frozenset[str] = frozenset(),
) -> Preview:
    """Items and gold of files, or every fault of them listed and the first raised."""
    from adjudge.collect.importing import ImportLimits, read

    limits = ImportLimits(bytes=2_000_000_000, rows=10_000_000)
    preview = read(
        files, scale=scale, known=known, depth=depth, qrels_as_gold=qrels_as_gold, limits=limits
    )
    if preview.errors:
        for error in preview.errors[1:_SHOWN]:
            say(("error: ", "red"), str(error))
        hidden = len(preview.errors) + preview.more_errors - _SHOWN
        if hidden > 0:
            say(f"... and {hidden:,} more")
        preview.check()
    for note in preview.notes:
        say(f"  {note}")
    return preview


def warn(warnings: Iterable[str]) -> None:
    """What to look at in a project, a line each."""
    for warning in warnings:
        say(("  ", ""), (warning, "yellow"))


def read_json(path: Path) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as fault:
        raise BadData(f"is not JSON ({fault.msg})", source=path.name, line=fault.lineno) from None


def read_policy(file: Path | None, given: Iterable[str]) -> dict[str, Any]:
    """The settings of a policy from a file and from options, which come last."""
    found = {} if file is None else read_json(file)
    if file is not None and not isinstance(found, dict):
        raise BadData("is not a JSON object of settings", source=file.name)
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadSetting("--set", text, "NAME=VALUE, such as judgments_per_item=3")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found
