"""adjudge project members, member and token: who may do what, by an account, link or token."""

from __future__ import annotations

import secrets
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from adjudge.cli import _options as o
from adjudge.cli import argument, command, option
from adjudge.cli._console import say, warn
from adjudge.cli._results import print_json
from adjudge.cli.project._shared import open_services
from adjudge.errors import BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.values.requesting import Requester

_Role = Literal["viewer", "reviewer", "manager", "owner"]


@command(
    "adjudge project members shop-search",
    "adjudge project members shop-search --invite reviewer --days 30",
    "adjudge project members shop-search --remove grace",
)
def list_members(
    project: str = o.PROJECT,
    *,
    invite: _Role | None = option(
        "--invite ROLE", "Print a link that makes one person a viewer, reviewer, manager or owner."
    ),
    note: str = option("--note TEXT", "Whom the link is for; only owners see it.", ""),
    days: int = option("--days N", "How long the link lasts.", 7, min=1, max=3_650),
    url: str = option(
        "--url URL", "Where the server is, to begin the link with.", "http://127.0.0.1:8000"
    ),
    remove: str = option("--remove NAME", "Remove this member.", ""),
    database: str = o.DATABASE,
    printing: o.Printing,
) -> None:
    """List the members of a project with their roles; invite by link, or remove one."""
    services = open_services(database)
    if not url.startswith(("http://", "https://")):
        raise BadSetting("--url", url, "http:// or https://")
    found = services.members.get_all(project)
    if remove:
        known = {one.name: one.member for one in found}
        if remove not in known:
            raise UnknownName("member", remove, list(known))
        services.members.remove(project, known[remove])
        say(f"{remove} is no longer a member of {project}.")
        found = services.members.get_all(project)
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
    if printing.json:
        print_json([{"name": one.name, "role": one.role, "member": one.member} for one in found])
        return
    for one in found:
        sys.stdout.write(f"{one.role}\t{one.name}\n")
    if not found:
        say("Only the admins: the project was created on the command line.")


@command(
    "adjudge project token shop-search > token.txt",
    "adjudge project token shop-search --may requester --days 7",
)
def make_token(
    project: str = o.PROJECT,
    *,
    may: Literal["judge", "requester"] = option(
        "--may WHAT", "judge, or requester: all that its requester may.", "judge"
    ),
    days: int = option("--days N", "How long it lasts.", 90, min=1, max=36_500),
    name: str = option(
        "--name TEXT", "What it is called on the account page.", "from the command line"
    ),
    requester: str = option("--requester NAME", "Whose it is; the project's own if not given.", ""),
    database: str = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Make an API token of one project, and print its secret, which is shown this once.

    It belongs to the requester of the project, or to the first admin if the project was created on
    the command line. It is revoked on the account page.
    """
    services = open_services(database)
    owner = _find(services, services.projects.get(project).owner, requester)
    expires = datetime.now(UTC) + timedelta(days=days)
    made, secret = services.acting_for(owner).accounts.make_token(
        name, scope=may, project=project, expires=expires
    )
    if printing.json:
        print_json({"token": made.token, "secret": secret, "expires": expires.isoformat()})
        return
    sys.stdout.write(f"{secret}\n")
    say(f"A token of {owner.name} for {project}, until {expires:%Y-%m-%d}; it may {may}.")


@command(
    "adjudge project member disable grace",
    "adjudge project member reset-password grace",
)
def change_account(
    what: Literal["disable", "enable", "reset-password"] = argument(
        "WHAT", "disable, enable or reset-password.", required=True
    ),
    name: str = argument("NAME", "What they log in with.", required=True),
    *,
    database: str = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Disable or enable the account of a member, or give it a new password.

    A disabled account cannot log in, and its tokens are revoked. A new password is random, printed
    this once, and ends every session of the account.
    """
    services = open_services(database)
    account = _find(services, "", name)
    if what != "reset-password":
        services.accounts.set_disabled(account.requester, what == "disable")
        if printing.json:
            print_json({"name": name, "disabled": what == "disable"})
        else:
            say(f"{name} is {what}d.")
        known = services.accounts.get_all()
        if account.admin and not any(one.admin and not one.disabled for one in known):
            warn(f"no admin can log in now; 'adjudge project member enable {name}' takes it back")
        return
    password = secrets.token_urlsafe(15)
    services.accounts.change_password(account.requester, password)
    if printing.json:
        print_json({"name": name, "password": password})
        return
    sys.stdout.write(f"{password}\n")
    say(f"The new password of {name}; their sessions have ended.")


def _find(services: RequesterServices, owner: str, named: str) -> Requester:
    known = {one.name: one for one in services.accounts.get_all()}
    if not known:
        raise BadSetting("requester", named, "a requester: set the server up by its link first")
    if named and named not in known:
        raise UnknownName("requester", named, known)
    return known.get(named or owner, next(iter(known.values())))
