"""What the server is started with."""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adjudge.errors import BadSetting

ENVIRONMENT = "ADJUDGE_SERVE"  # how a worker process learns what its parent was started with
# How uvicorn is run. Protection against slow clients is the reverse proxy's job.
UVICORN: dict[str, Any] = {
    "http": "h11",
    "h11_max_incomplete_event_size": 65_536,  # bytes of a request's first line and headers
    "limit_concurrency": 2_000,  # open connections; more get 503
    "timeout_keep_alive": 30,
    "log_config": None,
    "access_log": False,
    "server_header": False,
}
_SECRET_BYTES = 32
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(:\d+)?|https?://\[[0-9a-fA-F:]+\](:\d+)?")
_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How one server runs: its database, its secret, its limits."""

    database: str = "sqlite:///adjudge.db"
    database_wait: float = 10.0  # seconds for a lock that another process holds
    secret_file: str = ""  # next to the SQLite file if not given
    prefix: str = ""  # the path at which a proxy shows it
    address: str = ""  # scheme and host for links; empty: as the browser came
    log_format: str = "text"
    upload_bytes: int = 20_000_000  # of one upload, and of what an archive in it unpacks to
    upload_rows: int = 200_000
    upload_seconds: float = 300.0  # for reading one
    form_bytes: int = 1_000_000  # of any other request
    login_attempts: int = 10  # of one name or one address, in login_minutes
    login_minutes: float = 15.0
    session_hours: float = 12.0  # of a requester
    judge_days: float = 60.0
    join_days: float = 30.0  # how long a join link lasts if the requester does not say
    sweep_seconds: float = 30.0
    refit_seconds: float = 10.0  # between looks for a consensus to refit; 0 for never
    notify_seconds: float = 5.0  # between looks for events to notify of; 0 for never
    private_webhooks: bool = False  # whether webhooks may be at addresses that are not public
    smtp: str = ""  # smtp://USER:PASSWORD@HOST:PORT, or smtps://; empty: no mail is sent
    mail_from: str = ""
    metrics_token: str = ""  # which /metrics is asked for with; empty: there is none
    demo: bool = False

    def __post_init__(self) -> None:
        if not _PREFIX.fullmatch(self.prefix):
            raise BadSetting(
                "prefix", self.prefix, "a path such as /judging, without a / at its end"
            )
        if self.address and not _ADDRESS.fullmatch(self.address):
            raise BadSetting("address", self.address, "https://HOST or https://HOST:PORT")
        if self.log_format not in ("json", "text"):
            raise BadSetting("log_format", self.log_format, "json or text")
        if self.smtp and not re.fullmatch(r"smtps?://[^/]+/?", self.smtp):
            raise BadSetting("smtp", "(not shown)", "smtp://USER:PASSWORD@HOST:PORT, or smtps://")
        if self.smtp and "@" not in self.mail_from:
            raise BadSetting("mail_from", self.mail_from, "the address that mail comes from")
        for name in ("upload_bytes", "upload_rows", "form_bytes", "login_attempts"):
            if getattr(self, name) < 1:
                raise BadSetting(name, getattr(self, name), "at least 1")

    @property
    def secret_path(self) -> Path:
        """Where the secret key is kept."""
        if self.secret_file:
            return Path(self.secret_file)
        if self.database.startswith("sqlite:///"):
            file = Path(self.database.removeprefix("sqlite:///").partition("?")[0])
            return file.with_name(file.name + ".secret")
        return Path("adjudge.secret")

    def load_secret(self) -> bytes:
        """The secret key in its file; created, readable by its owner only, if there is none yet.

        Two processes that start at once get one key: the file appears complete, once.
        """
        path = self.secret_path
        if not path.exists():
            _make_secret(path)
        return _read_secret(path)

    def to_environment(self) -> None:
        """Leave these settings where the worker processes find them."""
        os.environ[ENVIRONMENT] = json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> Settings:
        """The settings that the parent process left."""
        return cls(**json.loads(os.environ.get(ENVIRONMENT, "{}")))


def _read_secret(path: Path) -> bytes:
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise BadSetting("secret file", str(path), f"a file that can be read ({fault})") from None
    if len(text) < 2 * _SECRET_BYTES:
        raise BadSetting(
            "secret file", str(path), f"at least {2 * _SECRET_BYTES} characters of secret"
        )
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise BadSetting(
            "secret file", str(path), "a file that nobody else can read (chmod 600 it)"
        )
    return text.encode("ascii")


def _make_secret(path: Path) -> None:
    draft = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
    try:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="ascii") as out:
            out.write(secrets.token_hex(_SECRET_BYTES) + "\n")
        try:
            os.link(draft, path)  # fails where another process was faster: its key stays
        except FileExistsError:
            pass
        finally:
            os.unlink(draft)
    except OSError as fault:
        raise BadSetting("secret file", str(path), f"a place to write ({fault.strerror})") from None
