"""The server as people start it: a process of its own, links on its output, a clean end."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from adjudge.collect.web.settings import Settings
from commands import Run
from ports import free_port
from waiting import answers, wait_until


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=300).close()
    except ConnectionRefusedError:
        return False
    return True


@contextmanager
def started(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """The process, where it serves, and the lines it printed first."""
    port = free_port()
    command = [sys.executable, "-m", "adjudge", "serve", "--port", str(port), *options]
    with (folder / "err").open("w") as err:
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=err, text=True
        )
    prefix = options[options.index("--prefix") + 1] if "--prefix" in options else ""
    url = f"http://127.0.0.1:{port}{prefix}"

    def ready() -> bool:
        assert process.poll() is None, (folder / "err").read_text()
        return answers(url)

    try:
        wait_until(ready, 300, "the server is ready")
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(3 if "--demo" in options else 2)]
        yield process, url, lines
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def end_during_a_request(process: subprocess.Popen[str], url: str) -> None:
    """Stop the server while it takes in a request: it takes in no other, and answers this one."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as slow:
        slow.sendall(b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nna")
        for _ in range(2):  # what came before it has been taken in when this is answered
            assert httpx.get(f"{url}/healthz", timeout=300).status_code == 200
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: not listens(int(port)), 300, "it takes nobody in any more")
        slow.sendall(b"me")
        answer = slow.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 403")
    assert process.wait(300) == 143


def test_the_first_start_prints_links_and_the_end_waits_for_a_request(tmp_path: Path) -> None:
    with started(tmp_path, "--demo", "--log-format", "json") as (process, url, lines):
        assert lines[0] == f"Serving at {url}"
        setup = re.fullmatch(rf"Set up, once: +({re.escape(url)}/setup/\S+)", lines[1])
        assert setup is not None
        judges = re.fullmatch(rf"Judges come by: +({re.escape(url)}/j/\S+)", lines[2])
        assert judges is not None
        assert "Set up this server" in httpx.get(setup[1], timeout=300).text
        assert "I agree, begin" in httpx.get(judges[1], timeout=300).text
        end_during_a_request(process, url)
    log = [json.loads(line) for line in (tmp_path / "err").read_text().splitlines()]
    events = [line["event"] for line in log]
    assert events.count("started") == events.count("stopped") == 1
    assert {line["route"] for line in log if line["event"] == "request"} >= {"/setup/{token}"}
    assert (tmp_path / "adjudge.db").is_file()
    assert (tmp_path / "adjudge.db.secret").stat().st_mode & 0o777 == 0o600


def test_several_workers_serve_one_file_behind_a_prefix(tmp_path: Path) -> None:
    options = ("--demo", "--workers", "2", "--prefix", "/judging")
    with started(tmp_path, *options) as (process, url, lines):
        for path in ("", "/judging"):  # whether the proxy leaves the prefix in the path or not
            root = url.removesuffix("/judging") + path
            page = httpx.get(f"{root}/j/product-search", timeout=300)
            assert page.status_code == 200
            assert 'action="/judging/j/product-search/begin"' in page.text
            assert "Path=/judging" in page.headers["set-cookie"]
        assert f"{url}/setup/" in lines[1]
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) in (0, 143)
    text = (tmp_path / "err").read_text()
    assert text.count(" info started ") == 2
    assert text.count(" info stopped") == 2


def test_a_port_that_is_taken_is_named(adjudge: Run, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = adjudge("serve", "--port", str(port), "--database", str(tmp_path / "x.db"))
    assert ended.code == 2
    assert ended.err.startswith(
        f"error: host and port = '127.0.0.1:{port}': expected an address that is free to listen at"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ("--prefix judging", "prefix"),
        ("--log-format xml", "log_format"),
        ("--database mysql://x/y", "database"),
        ("--database none/x.db", "secret file"),
    ],
)
def test_options_that_cannot_be_used_are_named(
    options: str, fault: str, adjudge: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert adjudge("serve", "--port", str(free_port()), *options.split()).fault == fault


def test_the_defaults_of_the_command_are_those_of_the_settings() -> None:
    from inspect import signature

    from adjudge.cli.serve import run

    given: dict[str, Any] = {
        name: p.default.default for name, p in signature(run.run).parameters.items()
    }
    settings = Settings()
    assert f"sqlite:///{given['database']}" == settings.database
    assert given["upload_megabytes"] * 1_000_000 == settings.upload_bytes
    assert given["log_format"] == settings.log_format
