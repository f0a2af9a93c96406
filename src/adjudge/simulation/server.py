"""A collection server of one's own: ``adjudge serve`` as a process, until it is not needed."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from adjudge.errors import Unavailable

_START, _STOP = 60.0, 40.0  # seconds that it gets to start, and to stop
_LOOK = 0.05


@dataclass(frozen=True, slots=True)
class _LocalServer:
    """A server that runs: where it is, and its log."""

    url: str
    log: Path


@contextmanager
def run_server(database: Path, folder: Path) -> Iterator[_LocalServer]:
    """A server at a SQLite file, with its secret and its log in a folder; stopped at the end."""
    port = _free_port()
    found = _LocalServer(f"http://127.0.0.1:{port}", folder / "server.log")
    command = [sys.executable, "-m", "adjudge", "serve", "--port", str(port), "--database"]
    command += [str(database), "--log-format", "json", "--secret-file", str(folder / "secret")]
    with found.log.open("ab") as log:
        # In a session of its own, so that Ctrl-C reaches it by us alone, after the last answer.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait_until_ready(process, found)
        yield found
    finally:
        _stop(process)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_until_ready(process: subprocess.Popen[bytes], found: _LocalServer) -> None:
    """Wait for a server to answer; tell the end of its log where it does not."""
    until = time.monotonic() + _START
    # One client, and no certificates for what is on this machine: to load them at every look takes
    # as much of the processor as the server that is waited for.
    with httpx.Client(timeout=5, verify=False) as client:  # noqa: S501 - http, and our own
        while process.poll() is None and time.monotonic() < until:
            try:
                if client.get(f"{found.url}/readyz").is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(_LOOK)
    said = found.log.read_text("utf-8", "replace")[-1000:].strip()
    raise Unavailable("server-away", f"the server did not start: {said or 'it said nothing'}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
