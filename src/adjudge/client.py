"""A client of the server: projects, items, judgments and labels, over its HTTP API.

    client = adjudge.Client("https://judging.example", token)
    project = client.create_project("Product search", labels="Bad < Fair < Good")
    client.add_items(project.slug, "items.csv", "gold.csv")
    client.open(project.slug)
    client.wait(project.slug)
    client.fit(project.slug)
    client.labels(project.slug)  # Arrow table

A request that got no answer, because the server is away or busy, is sent again for a while. Every
other error is ``Refused``, with the server's code and sentence.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlencode

import httpx
import pyarrow as pa
from pyarrow import csv

from adjudge.errors import Refused, Unavailable
from adjudge.models.registry import DEFAULT

_FIRST, _LONGEST = 0.05, 1.0  # seconds between two tries, at first and at most
Files = Sequence[tuple[str, tuple[str, bytes]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProject:
    """A project on the server."""

    slug: str  # its short name, by which it is called
    name: str
    state: str  # draft, open, paused or closed
    items: int
    closed: int  # items that need no more judgments


class Client:
    """A connection to a server, with a token from its account page or ``adjudge project token``.

    ``patience`` is for how many seconds a request is tried again while the server is away.
    """

    def __init__(self, url: str, token: str, *, patience: float = 30.0) -> None:
        self._http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=60.0,
            verify=not url.startswith("http:"),  # loading certificates takes a while
        )
        self._patience = patience

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request of the API, such as ``("GET", "/projects")``, and return its JSON."""
        return self._send(method, path, body).json()

    # -- projects

    def projects(self) -> list[ServerProject]:
        """Return the projects that the token may see."""
        return [_project(row) for row in self.request("GET", "/projects")["results"]]

    def project(self, slug: str) -> ServerProject:
        """Return one project."""
        return _project(self.request("GET", _path(slug)))

    def create_project(
        self,
        name: str,
        *,
        labels: str | Iterable[str],
        relevant: Iterable[str] = (),
        guidelines: str = "",
        policy: Mapping[str, Any] | None = None,
    ) -> ServerProject:
        """Create a project as a draft.

        ``labels`` are names, or one text with ``<`` between ordered labels and commas between
        others. ``relevant`` are the labels that count as relevant. ``policy`` are settings such as
        ``{"judgments_per_item": 3}``; the policy page of a project names them all.
        """
        sent = {
            "name": name,
            "labels": labels if isinstance(labels, str) else ", ".join(labels),
            "relevant": list(relevant),
            "guidelines": guidelines,
            "policy": dict(policy or {}),
        }
        return _project(self.request("POST", "/projects", sent))

    def open(self, slug: str) -> ServerProject:
        """Let judges in."""
        return self._set_state(slug, "open")

    def pause(self, slug: str) -> ServerProject:
        """Hand out no more pages until the project is opened again."""
        return self._set_state(slug, "paused")

    def end(self, slug: str) -> ServerProject:
        """Close a project for good."""
        return self._set_state(slug, "closed")

    def progress(self, slug: str) -> dict[str, Any]:
        """Return counts of items, judgments and judges, accuracy on gold, and cost."""
        found: dict[str, Any] = self.request("GET", f"{_path(slug)}/progress")
        return found

    def wait(self, slug: str, *, timeout: float | None = None, every: float = 10.0) -> bool:
        """Wait until every item has its judgments; return whether that happened in time."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            found = self.progress(slug)
            if found["items"] and not found["open"]:
                return True
            left = every if until is None else min(every, until - time.monotonic())
            if left <= 0:
                return False
            time.sleep(left)

    # -- items in, judgments and labels out

    def add_items(self, slug: str, *files: str | Path, check: bool = False) -> dict[str, Any]:
        """Add items and gold from files; with ``check`` only say what is in them.

        Returns the numbers of items and golds, and notes on what was read.
        """
        sent = [("files", (Path(file).name, Path(file).read_bytes())) for file in files]
        path = f"{_path(slug)}/import?check={str(check).lower()}"
        found: dict[str, Any] = self._send("POST", path, files=sent).json()
        return found

    def export(self, slug: str, name: str, **chosen: str) -> bytes:
        """Return a project in one of its export formats, such as ``labels-qrels``.

        ``chosen``: ``model`` for labels by that model, ``question`` for a further question.
        """
        path = f"{_path(slug)}/export/{quote(name, safe='')}"
        return self._send("GET", f"{path}?{urlencode(chosen)}").content

    def judgments(self, slug: str) -> pa.Table:
        """Return every answer: item, topic, judge, label, comment, gold, seconds, time, ..."""
        return csv.read_csv(io.BytesIO(self.export(slug, "answers")))

    def labels(self, slug: str, model: str = DEFAULT) -> pa.Table:
        """Return the labels of the newest fit of a model, one row per item, with probabilities."""
        return csv.read_csv(io.BytesIO(self.export(slug, "labels-consensus", model=model)))

    def fit(self, slug: str, model: str = DEFAULT, *, timeout: float = 600.0) -> None:
        """Fit a model to the judgments on the server, and wait until it is ready.

        ``Refused`` with the code ``fit-failed`` where it failed, ``Unavailable`` with ``not-ready``
        where it takes longer than ``timeout`` seconds.
        """
        path = f"{_path(slug)}/consensus"
        self.request("POST", path, {"model": model})
        for pause in make_pauses(timeout):
            fits = {fit["model"]: fit for fit in self.request("GET", path)["results"]}
            fit = fits[model]
            if fit["state"] == "failed" and not fit["outdated"]:
                raise Refused("fit-failed", fit["problem"])
            if fit["state"] == "ready" and not fit["outdated"]:
                return
            time.sleep(pause)
        raise Unavailable("not-ready", f"the fit of {model} was not ready after {timeout:g} s")

    def _send(
        self, method: str, path: str, body: Any = None, files: Files | None = None
    ) -> httpx.Response:
        waits = make_pauses(self._patience)
        return ask_server(self._http, method, path, body, waits=waits, files=files)

    def _set_state(self, slug: str, state: str) -> ServerProject:
        return _project(self.request("PUT", f"{_path(slug)}/state", {"state": state}))


def make_pauses(patience: float) -> Iterator[float]:
    """Yield the seconds to wait before each further try, until patience ends."""
    until, pause = time.monotonic() + patience, _FIRST
    while time.monotonic() + pause <= until:
        yield pause
        pause = min(2 * pause, _LONGEST)


def ask_server(
    client: httpx.Client,
    method: str,
    path: str,
    body: Any = None,
    *,
    waits: Iterable[float],
    files: Files | None = None,
    on_again: Callable[[str], None] | None = None,
) -> httpx.Response:
    """Return what a server answers to a request with a body as JSON, or with files.

    While the server is away or busy the request is sent again, after each of ``waits``. Any other
    error is ``Refused`` with the server's code and sentence.
    """
    pauses = iter(waits)
    while True:
        try:
            response = client.request(method, path, json=body, files=files)
        except httpx.TransportError as fault:
            code, problem = "connection-lost", str(fault) or type(fault).__name__
        else:
            if response.is_success:
                return response
            code, problem = _read_error(response)
            if response.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                raise Refused(code, f"the server says: {problem}")
        if on_again is not None:
            on_again(code)
        pause = next(pauses, None)
        if pause is None:
            raise Unavailable("server-away", f"the server gave no answer: {problem}")
        time.sleep(pause)


def _read_error(response: httpx.Response) -> tuple[str, str]:
    """Return the code and the sentence of an error."""
    try:
        error = response.json()["error"]
        return str(error["code"]), str(error["message"])
    except (ValueError, KeyError, TypeError):
        return f"http-{response.status_code}", f"{response.status_code} {response.reason_phrase}"


def _path(slug: str) -> str:
    return f"/projects/{quote(slug, safe='')}"


def _project(row: Mapping[str, Any]) -> ServerProject:
    return ServerProject(**{name: row[name] for name in ServerProject.__slots__})
