"""adjudge project members: who may do what in a project, and links for others."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

from adjudge.cli import Command, option
from adjudge.cli import _options as o
from adjudge.cli._console import say
from adjudge.cli._results import print_json
from adjudge.cli.project._shared import open_services
from adjudge.errors import BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices

_Role = Literal["viewer", "reviewer", "manager", "owner"]


def _run(
    project: o.ProjectName,
    *,
    invite: Annotated[
        _Role | None,
        option(
            "--invite",
            "ROLE",
            "Print a link that makes one person a viewer, reviewer, manager or owner.",
        ),
    ] = None,
    note: Annotated[
        str, option("--note", "TEXT", "Whom the link is for; only owners see it.")
    ] = "",
    days: Annotated[int, option("--days", "N", "How long the link lasts.", min=1, max=3_650)] = 7,
    url: Annotated[
        str, option("--url", "URL", "Where the server is, to begin the link with.")
    ] = "http://127.0.0.1:8000",
    remove: Annotated[str, option("--remove", "NAME", "Let somebody be a member no more.")] = "",
    database: o.Database = o.DATABASE,
    printing: o.Printing,
) -> None:
    """List the members of a project with their roles; invite by link, or remove one."""
    services = open_services(database)
    if not url.startswith(("http://", "https://")):
        raise BadSetting("--url", url, "http:// or https://")
    if remove:
        _remove(services, project, remove)
    if invite is not None:
        expires = datetime.now(UTC) + timedelta(days=days)
        made = services.members.invite(project, invite, note=note, expires=expires)
        address = f"{url.rstrip('/')}/member/{made.link}"
        if printing.json:
            print_json({"link": address, "role": invite, "expires": expires.isoformat()})
            return
        sys.stdout.write(f"{address}\n")
        say(f"It makes one person a {invite} of {project}, until {expires:%Y-%m-%d}.")
        return
    found = services.members.get_all(project)
    if printing.json:
        print_json([{"name": one.name, "role": one.role, "member": one.member} for one in found])
        return
    for one in found:
        sys.stdout.write(f"{one.role}\t{one.name}\n")
    if not found:
        say("Nobody but the admins: the project was made on the command line.")


COMMAND = Command(
    _run,
    examples=(
        "adjudge project members shop-search",
        "adjudge project members shop-search --invite reviewer --days 30",
        "adjudge project members shop-search --remove grace",
    ),
)


def _remove(services: RequesterServices, project: str, name: str) -> None:
    known = {one.name: one.member for one in services.members.get_all(project)}
    if name not in known:
        raise UnknownName("member", name, list(known))
    services.members.remove(project, known[name])
    say(f"{name} is a member of {project} no more.")
