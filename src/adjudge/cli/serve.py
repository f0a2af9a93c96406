"""adjudge serve: the server that collects judgments."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING, Annotated

from adjudge.cli import options as o
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.collect.web.settings import Settings

NAME = "serve"
EXAMPLES = (
    "adjudge serve --demo",
    "adjudge serve --database postgresql://adjudge@db/adjudge --workers 4",
)
_PATIENCE = 30  # seconds that requests get to finish when the server is stopped


def run(
    *,
    demo: Annotated[
        bool, o.option("--demo", help="Begin with a project to look around in, open to judges.")
    ] = False,
    host: Annotated[
        str, o.option("--host", metavar="ADDRESS", help="Where to listen; 0.0.0.0 for everyone.")
    ] = "127.0.0.1",
    port: Annotated[
        int, o.option("--port", metavar="N", min=1, max=65_535, help="The port to listen at.")
    ] = 8100,
    database: Annotated[
        str,
        o.option(
            "--database",
            metavar="URL",
            help="A SQLite file, or postgresql://USER:PASSWORD@HOST/NAME.",
        ),
    ] = "adjudge.db",
    workers: Annotated[
        int, o.option("--workers", metavar="N", min=1, max=64, help="Processes that serve.")
    ] = 1,
    prefix: Annotated[
        str,
        o.option("--prefix", metavar="PATH", help="The path at which a proxy shows the server."),
    ] = "",
    secret_file: Annotated[
        str,
        o.option(
            "--secret-file",
            metavar="FILE",
            help="The key that signs; made if there is none. Beside the SQLite file if not given.",
        ),
    ] = "",
    upload_megabytes: Annotated[
        int,
        o.option(
            "--upload-megabytes", metavar="N", min=1, max=10_000, help="Most that a file may hold."
        ),
    ] = 20,
    smtp: Annotated[
        str,
        o.option(
            "--smtp",
            metavar="URL",
            help="The mail server, as smtp://USER:PASSWORD@HOST:PORT or smtps://; better kept in "
            "the variable ADJUDGE_SMTP.",
        ),
    ] = "",
    mail_from: Annotated[
        str, o.option("--mail-from", metavar="ADDRESS", help="The address that mail comes from.")
    ] = "",
    private_webhooks: Annotated[
        bool,
        o.option(
            "--private-webhooks", help="Let webhooks be at addresses that are not public, too."
        ),
    ] = False,
    log_format: Annotated[
        str, o.option("--log-format", metavar="NAME", help="How the log is written: text or json.")
    ] = "text",
) -> None:
    """Serve the pages where judgments are collected, and the API, until it is stopped.

    The first start prints a link to set up the first requester; there is no default password. One
    process and one SQLite file are enough for a team; PostgreSQL and more workers serve a crowd.
    """
    from adjudge.collect.web.settings import Settings

    settings = Settings(
        database=database if "://" in database else f"sqlite:///{database}",
        secret_file=secret_file,
        prefix=prefix.rstrip("/"),
        log_format=log_format,
        upload_bytes=upload_megabytes * 1_000_000,
        demo=demo,
        smtp=smtp or os.environ.get("ADJUDGE_SMTP", ""),
        mail_from=mail_from,
        private_webhooks=private_webhooks,
    )
    _check_free(host, port)
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104 - only compared
    where = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}{settings.prefix}"
    for line in _prepare(settings, where):
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
    _serve(settings, host, port, workers)


def _prepare(settings: Settings, where: str) -> list[str]:
    """Make the secret and the store, and the demo's project; the links that a person needs."""
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.store.database import Database

    settings.load_secret()
    store = Database(settings.database)
    try:
        services = RequesterServices(store)
        lines = [f"Serving at {where}"]
        if services.accounts.needs_setup():
            lines.append(f"Set up, once:    {where}/setup/{services.accounts.make_setup_token()}")
        if settings.demo:
            projects = services.projects.get_all()
            if not projects:
                from adjudge.collect.starter import make_starter

                projects = [services.projects.create(make_starter())]
                services.projects.set_state(projects[0].slug, "open")
            lines.append(f"Judges come by:  {where}/j/{projects[-1].slug}")
        return lines
    finally:
        store.close()


def _check_free(host: str, port: int) -> None:
    """Refuse an address that cannot be listened at, before anything is made."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as fault:
            wanted = f"an address that is free to listen at ({fault.strerror or fault})"
            raise BadSetting("host and port", f"{host}:{port}", wanted) from None


def _serve(settings: Settings, host: str, port: int, workers: int) -> None:
    """Serve until stopped; requests that are under way are finished first."""
    import uvicorn

    from adjudge.collect.web.logs import configure
    from adjudge.collect.web.protocol import OPTIONS

    settings.to_environment()
    configure(settings.log_format)
    uvicorn.run(
        "adjudge.collect.web.app:from_environment",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        timeout_graceful_shutdown=_PATIENCE,
        proxy_headers=True,
        **OPTIONS,
    )
