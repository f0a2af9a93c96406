"""A client of a server: simulated judges judge over its HTTP API, as any script or model may.

Nothing here knows what the server is made of. A request that got no answer, since the connection
was lost or the server is away or busy, is sent again: the key of a page makes that safe. What the
server has acknowledged goes into a ``CrowdRecord``, to be compared with the server's own account.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote

import httpx

from adjudge.client import ask_server, make_pauses
from adjudge.errors import BadSetting, Refused
from adjudge.simulation.behaviours import AT_WORK, GoldFeedback, Sheet, SheetOutcome, Stage

_LOOK = 0.2  # seconds between two looks for a page, where there is none for now
_OVERTAKEN = ("page-expired", "blocked")  # what may become of a page while it is being answered


@dataclass(frozen=True, slots=True)
class _Acknowledged:
    """A judgment that the server said it has stored."""

    judge: str  # ids as the server gives them
    page: str
    row: int
    label: str
    kind: str  # training or work


@dataclass(slots=True, eq=False)
class CrowdRecord:
    """What a crowd knows of its own work: what was acknowledged, how long it took, what failed."""

    given: list[_Acknowledged] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=dict)  # by what was asked for
    again: Counter[str] = field(default_factory=Counter)  # requests sent again, by why
    refused: Counter[str] = field(default_factory=Counter)  # by the server's code
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, counter: Counter[str], code: str) -> None:
        """Count something that went wrong."""
        with self._lock:
            counter[code] += 1


@dataclass(slots=True, eq=False)
class JudgeSession:
    """One judge at the server."""

    client: httpx.Client
    stage: Stage = "training"
    ticket: str = ""
    judge: str = ""
    open_items: bool = True  # whether there was work for them when they came
    page: dict[str, Any] | None = None
    rows: list[int] = field(default_factory=list)  # of a training page, still to be answered
    pages: int = 0  # of work, answered


class HttpClient:
    """The client of one project at a server. Safe to share between threads, one judge a thread.

    ``patience`` is how many seconds a request is sent again while the server is away or busy, and
    ``wait`` how many a judge waits for a page where all open items are in others' hands.
    ``one_line``: all judges use one connection, for those who come in turns, in one thread.
    """

    def __init__(
        self,
        server: str,
        project: str,
        token: str,
        *,
        patience: float = 60.0,
        wait: float = 0.0,
        one_line: bool = False,
    ) -> None:
        if not server.startswith(("http://", "https://")):
            raise BadSetting("server", server, "an address such as http://127.0.0.1:8100")
        self.project = project
        self.record = CrowdRecord()
        self._patience = patience
        self._wait = wait
        self._here = f"/projects/{quote(project, safe='')}"
        self._server = f"{server.rstrip('/')}/api/v1"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._trust: ssl.SSLContext | bool = False  # costly to make, so once for every judge
        if server.startswith("https://"):
            self._trust = httpx.create_ssl_context()
        self._seats: dict[str, JudgeSession] = {}
        self._one_line = one_line
        self._asking = self._client()

    def close(self) -> None:
        """Close every connection."""
        self._asking.close()
        for seat in self._seats.values():
            seat.client.close()

    def labels(self) -> tuple[str, ...]:
        """The labels of the project."""
        return tuple(self.ask("GET", "/guidelines")["labels"])

    def golds(self) -> dict[str, str]:
        """The first accepted label of each gold by its ``head``; none unless the token may know."""
        try:
            rows = self.ask("GET", "/golds")["results"]
        except Refused as refusal:
            if refusal.code != "token-scope":
                raise
            return {}
        return {item_key(row["query"], row["title"]): row["accepted"][0] for row in rows}

    def arrive(self, key: str) -> Stage:
        """Come in as a person, with consent; the same key is the same judge."""
        seat = self._seats[key] = JudgeSession(self._asking if self._one_line else self._client())
        sent = {"key": key, "kind": "person", "consent": True}
        body = self._ask(seat.client, f"{self._here}/arrivals", sent, what="arrive")
        seat.ticket, seat.judge = body["ticket"], body["judge"]["judge"]
        seat.stage = body["judge"]["stage"]
        seat.open_items = bool(body["judge"].get("open_items", True))
        return seat.stage

    def session(self, key: str) -> JudgeSession:
        """What is known of a judge who came."""
        return self._seats[key]

    def stage(self, key: str) -> Stage:
        """The stage a judge was last known to be at."""
        return self._seats[key].stage

    def sheet(self, key: str) -> Sheet | None:
        """The next row of the training, or the next page of work."""
        seat = self._seats[key]
        until = time.monotonic() + self._wait
        while seat.page is None:
            body = self._ask(seat.client, f"/judges/{seat.ticket}/page", what="page")
            if body["page"] is not None:
                _take(seat, body["page"])
                break
            seat.stage = body["judge"]["stage"]
            if seat.stage not in AT_WORK or time.monotonic() >= until:
                return None
            time.sleep(_LOOK)
        return _sheet(seat)

    def submit(self, key: str, sheet: Sheet, labels: Sequence[str]) -> SheetOutcome:
        """Hand in a sheet: one row in training, an entire page in work."""
        seat = self._seats[key]
        page, rows = cast(tuple[dict[str, Any], tuple[int, ...]], sheet.page)
        path, what = f"/judges/{seat.ticket}/pages/{page['page']}", "submit"
        sent: dict[str, Any] = {"label": labels[0]}
        if sheet.kind == "training":
            path, what = f"{path}/rows/{rows[0]}", "train"
        else:
            further = _further(page)
            answers = [
                {"row": row, "label": label, "answers": further.get(row, {})}
                for row, label in zip(rows, labels, strict=True)
            ]
            sent = {"key": page["key"], "answers": answers}
        try:
            body = self._ask(seat.client, path, sent, what=what)
        except Refused as refusal:
            if refusal.code not in _OVERTAKEN:
                raise
            seat.page = None
            seat.stage = "blocked" if refusal.code == "blocked" else seat.stage
            return SheetOutcome(seat.stage)
        self.record.given.extend(
            _Acknowledged(seat.judge, page["page"], row, label, sheet.kind)
            for row, label in zip(rows, labels, strict=True)
        )
        seat.rows = [row for row in seat.rows if row not in rows]
        seat.page = seat.page if seat.rows else None
        seat.pages += sheet.kind == "work"
        seat.stage = body["judge"]["stage"]
        feedback = (
            GoldFeedback(rows.index(entry["row"]), tuple(entry["accepted"]), entry["right"])
            for entry in body["feedback"]
            if entry["row"] in rows
        )
        return SheetOutcome(seat.stage, tuple(feedback))

    def leave(self, key: str) -> None:
        """Finish, where there is something to finish; else just go away."""
        seat = self._seats[key]
        if seat.stage in ("working", "warned") and seat.pages:
            body = self._ask(seat.client, f"/judges/{seat.ticket}/finish", what="finish")
            seat.stage = body["stage"]

    def ask(self, method: str, path: str, sent: Any = None) -> Any:
        """Ask for something of the project, as a requester may."""
        return self._ask(self._asking, f"{self._here}{path}", sent, method=method)

    def _client(self) -> httpx.Client:
        return httpx.Client(
            base_url=self._server, headers=self._headers, timeout=60.0, verify=self._trust
        )

    def _ask(
        self,
        client: httpx.Client,
        path: str,
        sent: Any = None,
        *,
        method: str = "POST",
        what: str = "",
    ) -> Any:
        """The server's answer; the request is sent again while the server is away or busy."""
        try:
            response = ask_server(
                client,
                method,
                path,
                sent,
                waits=make_pauses(self._patience),
                on_again=lambda code: self.record.count(self.record.again, code),
            )
        except Refused as refusal:
            self.record.count(self.record.refused, refusal.code)
            raise
        if what:
            self.record.seconds.setdefault(what, []).append(response.elapsed.total_seconds())
        return response.json()


def item_key(query: str, title: str) -> str:
    """The identity of a result: its query and its title, each on one line."""
    return f"{' '.join(query.split())}\n{' '.join(title.split())}"


def _take(seat: JudgeSession, page: dict[str, Any]) -> None:
    """Take up a page, perhaps one that was begun before."""
    seat.page = page
    done = {answer["row"] for answer in page["answers"]} if page["kind"] == "training" else set()
    every = [row["row"] for group in page["groups"] for row in group["rows"]]
    seat.rows = [row for row in every if row not in done]


def _further(page: dict[str, Any]) -> dict[int, dict[str, str]]:
    """Answers to the further questions of a page: the first label, or a word."""
    known = {one["name"]: one["labels"] or ["why"] for one in page["questions"]}
    rows = [row for group in page["groups"] for row in group["rows"]]
    return {row["row"]: {name: known[name][0] for name in row["asked"]} for row in rows}


def _sheet(seat: JudgeSession) -> Sheet:
    """The page as a judge sees it: of a training page, the next row alone."""
    page = cast(dict[str, Any], seat.page)
    shown = {
        row["row"]: f"{item_key(group['query'], row['title'])}\n{row['text']}"
        for group in page["groups"]
        for row in group["rows"]
    }
    rows = seat.rows[:1] if page["kind"] == "training" else list(shown)
    texts = tuple(shown[row] for row in rows)
    return Sheet(page["kind"], texts, tuple(page["labels"]), (page, tuple(rows)))
