"""adjudge project members: who may do what in a project, and links for others."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, say
from adjudge.cli.project.stored import DATABASE, Stored, open_services
from adjudge.errors import BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices

NAME = "members"
EXAMPLES = (
    "adjudge project members shop-search",
    "adjudge project members shop-search --invite reviewer --days 30",
    "adjudge project members shop-search --remove grace",
)
_Role = Literal["viewer", "reviewer", "manager", "owner"]


def run(
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="The project's short name.")],
    *,
    invite: Annotated[
        _Role | None,
        o.option(
            "--invite",
            metavar="ROLE",
            help="Print a link that makes one person a viewer, reviewer, manager or owner.",
        ),
    ] = None,
    note: Annotated[
        str, o.option("--note", metavar="TEXT", help="Whom the link is for; only owners see it.")
    ] = "",
    days: Annotated[
        int, o.option("--days", metavar="N", min=1, max=3_650, help="How long the link lasts.")
    ] = 7,
    url: Annotated[
        str, o.option("--url", metavar="URL", help="Where the server is, to begin the link with.")
    ] = "http://127.0.0.1:8000",
    remove: Annotated[
        str, o.option("--remove", metavar="NAME", help="Let somebody be a member no more.")
    ] = "",
    database: Stored = DATABASE,
    printing: o.Printing,
) -> None:
    """List the members of a project with their roles; invite by link, or remove one."""
    from adjudge.cli.writing import print_json

    be_quiet(printing.quiet or printing.json)
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


def _remove(services: RequesterServices, project: str, name: str) -> None:
    known = {one.name: one.member for one in services.members.get_all(project)}
    if name not in known:
        raise UnknownName("member", name, list(known))
    services.members.remove(project, known[name])
    say(f"{name} is a member of {project} no more.")
