"""Where a model gets pages and leaves answers: the service itself, or a server over HTTP."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import httpx
from pydantic import TypeAdapter

from adjudge.collect.services.judging import JudgingService
from adjudge.collect.values.judging import Answer, Arrival, JudgeView, Outcome, Page, ProjectView
from adjudge.simulation.http_client import ask_server


class Work(Protocol):
    """Where a judge gets pages and leaves answers: the service itself, or a server over HTTP."""

    def project(self) -> ProjectView:
        """Guidelines and labels."""

    def arrive(self) -> JudgeView:
        """Come in, and consent."""

    def page(self) -> Page | None:
        """The next page, None where there is none."""

    def submit(self, page: Page, answers: list[Answer]) -> Outcome:
        """Leave the answers."""

    def state(self) -> JudgeView:
        """Where the judge stands."""


class InProcessWork:
    """A model that judges on the server. ``key`` names it: the same key is the same judge."""

    def __init__(self, judging: JudgingService, slug: str, key: str) -> None:
        self._judging, self._slug, self._key = judging, slug, key
        self._judge = ""

    def project(self) -> ProjectView:
        """Guidelines and labels."""
        return self._judging.project(self._slug)

    def arrive(self) -> JudgeView:
        """Come in as a model, and consent."""
        arrival = Arrival(project=self._slug, channel="api", key=self._key, kind="model")
        view = self._judging.arrive(arrival)
        self._judge = view.judge
        return self._judging.consent(view.judge) if view.stage == "consent" else view

    def page(self) -> Page | None:
        """The next page, None where there is none."""
        return self._judging.page(self._judge)

    def submit(self, page: Page, answers: list[Answer]) -> Outcome:
        """Leave the answers."""
        return self._judging.submit(self._judge, page.page, page.key, answers)

    def state(self) -> JudgeView:
        """Where the judge stands."""
        return self._judging.state(self._judge)


_Value = TypeVar("_Value")
_WAITS = (0.5, 1.0, 2.0, 4.0, 8.0)  # seconds between tries while a server is away


class HttpWork:
    """A model that judges at a server. ``key`` names it: with one token, one key is one judge."""

    def __init__(self, server: str, slug: str, token: str, key: str) -> None:
        self._client = httpx.Client(
            base_url=f"{server.rstrip('/')}/api/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=60.0,
        )
        self._slug, self._key, self._ticket = slug, key, ""

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def project(self) -> ProjectView:
        """Guidelines and labels."""
        return _read(ProjectView, self._ask("GET", f"/projects/{self._slug}/guidelines"))

    def arrive(self) -> JudgeView:
        """Come in as a model, and consent."""
        sent = {"key": self._key, "kind": "model", "consent": True}
        body = self._ask("POST", f"/projects/{self._slug}/arrivals", sent)
        self._ticket = body["ticket"]
        return _read(JudgeView, body["judge"])

    def page(self) -> Page | None:
        """The next page, None where there is none."""
        body = self._ask("POST", f"/judges/{self._ticket}/page")
        return None if body["page"] is None else _read(Page, body["page"])

    def submit(self, page: Page, answers: list[Answer]) -> Outcome:
        """Leave the answers; sent again after a lost connection, they are stored once."""
        told = [
            {"row": a.row, "label": a.label, "comment": a.comment, "seconds": a.seconds}
            for a in answers
        ]
        sent = {"key": page.key, "answers": told}
        return _read(Outcome, self._ask("POST", f"/judges/{self._ticket}/pages/{page.page}", sent))

    def state(self) -> JudgeView:
        """Where the judge stands."""
        return _read(JudgeView, self._ask("GET", f"/judges/{self._ticket}"))

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        """The server's answer; while it is away or busy, it is asked again for a while."""
        return ask_server(self._client, method, path, body, waits=_WAITS)[0]


def _read(kind: type[_Value], body: Any) -> _Value:
    """A value as the server's JSON has it."""
    return TypeAdapter(kind).validate_python(body)
