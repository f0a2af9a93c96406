"""What the commands on projects share: the database, and errors of files told all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from adjudge.cli.console import say
from adjudge.cli.options import option

if TYPE_CHECKING:
    from adjudge.collect.importing import Preview
    from adjudge.collect.services.requester import RequesterServices

Stored = Annotated[
    str,
    option(
        "--database",
        metavar="URL",
        help="Where it is kept: a SQLite file, or postgresql://USER@HOST/NAME.",
    ),
]
DATABASE = "adjudge.db"
_SHOWN = 20  # errors that are listed


def open_services(database: str) -> RequesterServices:
    """The services of a database, acting for whoever has the command line of the server."""
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.store.database import Database

    return RequesterServices(Database(database))


def checked(preview: Preview) -> Preview:
    """What was read, or every fault of it listed and the first raised."""
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
