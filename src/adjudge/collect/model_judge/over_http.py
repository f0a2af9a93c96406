"""Work at a server elsewhere, over its HTTP API with a token."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import httpx

from adjudge.collect.values.judging import (
    Answer,
    BesideRow,
    Feedback,
    Group,
    JudgeView,
    Outcome,
    Page,
    ProjectView,
    Row,
)
from adjudge.simulation.http_client import ask_server

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
        body = self._ask("GET", f"/projects/{self._slug}/guidelines")
        return ProjectView(
            **{
                **body,
                "labels": tuple(body["labels"]),
                "others": tuple(body["others"]),
                "pay_per_page": Decimal(body["pay_per_page"]),
                "pay_failed": Decimal(body["pay_failed"]),
            }
        )

    def arrive(self) -> JudgeView:
        """Come in as a model, and consent."""
        sent = {"key": self._key, "kind": "model", "consent": True}
        body = self._ask("POST", f"/projects/{self._slug}/arrivals", sent)
        self._ticket = body["ticket"]
        return _view(body["judge"])

    def page(self) -> Page | None:
        """The next page, None where there is none."""
        body = self._ask("POST", f"/judges/{self._ticket}/page")
        return None if body["page"] is None else _page(body["page"])

    def submit(self, page: Page, answers: list[Answer]) -> Outcome:
        """Leave the answers; sent again after a lost connection, they are stored once."""
        told = [
            {"row": a.row, "label": a.label, "comment": a.comment, "seconds": a.seconds}
            for a in answers
        ]
        sent = {"key": page.key, "answers": told}
        body = self._ask("POST", f"/judges/{self._ticket}/pages/{page.page}", sent)
        return Outcome(
            page=body["page"],
            feedback=tuple(_feedback(one) for one in body["feedback"]),
            judge=_view(body["judge"]),
            stored=body["stored"],
            again=body["again"],
        )

    def state(self) -> JudgeView:
        """Where the judge stands."""
        return _view(self._ask("GET", f"/judges/{self._ticket}"))

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        """The server's answer; while it is away or busy, it is asked again for a while."""
        return ask_server(self._client, method, path, body, waits=_WAITS)[0]


def _view(body: dict[str, Any]) -> JudgeView:
    return JudgeView(**{**body, "pay": Decimal(body["pay"]), "notice": tuple(body["notice"])})


def _feedback(body: dict[str, Any]) -> Feedback:
    return Feedback(**{**body, "accepted": tuple(body["accepted"])})


def _row(body: dict[str, Any]) -> Row:
    beside = body.get("beside")  # a server of an older version has no pairs
    return Row(**{**body, "beside": None if beside is None else BesideRow(**beside)})


def _page(body: dict[str, Any]) -> Page:
    groups = tuple(
        Group(**{**group, "rows": tuple(_row(row) for row in group["rows"])})
        for group in body["groups"]
    )
    return Page(
        **{
            **body,
            "expires": datetime.fromisoformat(body["expires"]),
            "groups": groups,
            "labels": tuple(body["labels"]),
            "others": tuple(body["others"]),
            "answers": tuple(Answer(**answer) for answer in body["answers"]),
            "feedback": tuple(_feedback(one) for one in body["feedback"]),
        }
    )
