"""adjudge project token: an API token of a project, without a browser."""

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
    from adjudge.collect.values.requesting import Requester


def _run(
    project: o.ProjectName,
    *,
    may: Annotated[
        Literal["judge", "requester"],
        option("--may", "WHAT", "judge, or requester: all that its requester may."),
    ] = "judge",
    days: Annotated[int, option("--days", "N", "How long it lasts.", min=1, max=36_500)] = 90,
    name: Annotated[
        str, option("--name", "TEXT", "What it is called on the account page.")
    ] = "from the command line",
    requester: Annotated[
        str, option("--requester", "NAME", "Whose it is; the project's own if not given.")
    ] = "",
    database: o.Database = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Make an API token of one project, and print its secret, which is shown this once.

    It belongs to the requester of the project, or to the first admin where the project was made on
    the command line. It is revoked on the account page.
    """
    services = open_services(database)
    whose = _find(services, services.projects.get(project).owner, requester)
    expires = datetime.now(UTC) + timedelta(days=days)
    made, secret = services.acting_for(whose).accounts.make_token(
        name, scope=may, project=project, expires=expires
    )
    if printing.json:
        print_json({"token": made.token, "secret": secret, "expires": expires.isoformat()})
        return
    sys.stdout.write(f"{secret}\n")
    say(f"A token of {whose.name} for {project}, until {expires:%Y-%m-%d}; it may {may}.")


COMMAND = Command(
    _run,
    examples=(
        "adjudge project token shop-search > token.txt",
        "adjudge project token shop-search --may requester --days 7",
    ),
)


def _find(services: RequesterServices, owner: str, named: str) -> Requester:
    known = services.accounts.get_all()
    if not known:
        raise BadSetting("requester", named, "a requester: set the server up by its link first")
    names = [one.name for one in known]
    if named and named not in names:
        raise UnknownName("requester", named, names)
    wanted = named or owner
    return next((one for one in known if one.name == wanted), known[0])
