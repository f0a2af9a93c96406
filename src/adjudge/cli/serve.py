"""adjudge serve: the server that collects judgments."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

from adjudge.cli import command, flag, option
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.collect.web.settings import Settings

_PATIENCE = 30  # seconds that requests get to finish when the server is stopped


@command(
    "adjudge serve --demo", "adjudge serve --database postgresql://adjudge@db/adjudge --workers 4"
)
def run(
    *,
    demo: bool = flag("--demo", "Begin with a project to look around in, open to judges."),
    host: str = option("--host ADDRESS", "Where to listen; 0.0.0.0 for everyone.", "127.0.0.1"),
    port: int = option("--port N", "The port to listen at.", 8100, min=1, max=65_535),
    database: str = option(
        "--database URL", "A SQLite file, or postgresql://USER:PASSWORD@HOST/NAME.", "adjudge.db"
    ),
    workers: int = option("--workers N", "Processes that serve.", 1, min=1, max=64),
    prefix: str = option("--prefix PATH", "The path at which a proxy shows the server.", ""),
    address: str = option(
        "--address URL",
        "The address that people know the server by, for links, as https://judge.example.org.",
        "",
    ),
    secret_file: str = option(
        "--secret-file FILE",
        "The key that signs; created if missing. By default next to the SQLite file.",
        "",
    ),
    upload_megabytes: int = option(
        "--upload-megabytes N", "Most that a file may hold.", 20, min=1, max=10_000
    ),
    smtp: str = option(
        "--smtp URL",
        "The mail server, as smtp://USER:PASSWORD@HOST:PORT or smtps://; better kept in "
        "the variable ADJUDGE_SMTP.",
        "",
    ),
    mail_from: str = option("--mail-from ADDRESS", "The address that mail comes from.", ""),
    private_webhooks: bool = flag(
        "--private-webhooks", "Let webhooks be at addresses that are not public, too."
    ),
    log_format: str = option("--log-format NAME", "How the log is written: text or json.", "text"),
) -> None:
    """Run the server that collects judgments: its pages and its API.

    The first start prints a link to set up the first requester; there is no default password. One
    process and one SQLite file are enough for a team; PostgreSQL and more workers serve a crowd.
    """
    from adjudge.collect.web.settings import Settings

    settings = Settings(
        database=database if "://" in database else f"sqlite:///{database}",
        secret_file=secret_file,
        prefix=prefix.rstrip("/"),
        address=address.rstrip("/"),
        log_format=log_format,
        upload_bytes=upload_megabytes * 1_000_000,
        demo=demo,
        smtp=smtp or os.environ.get("ADJUDGE_SMTP", ""),
        mail_from=mail_from,
        private_webhooks=private_webhooks,
        metrics_token=os.environ.get("ADJUDGE_METRICS_TOKEN", ""),
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
            expected = f"an address that is free to listen at ({fault.strerror or fault})"
            raise BadSetting("host and port", f"{host}:{port}", expected) from None


def _serve(settings: Settings, host: str, port: int, workers: int) -> None:
    """Serve until stopped; requests that are under way are finished first."""
    import uvicorn

    from adjudge.collect.web.logs import configure
    from adjudge.collect.web.settings import UVICORN

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
        **UVICORN,
    )
