"""Made judges at a real server over HTTP: what they see and hear, and what the ledger holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge.errors import BadSetting, Refused, Unavailable
from adjudge.simulation.http_client import HttpClient
from servers import Quiet, serving
from sites import Site, served


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with served(tmp_path) as running:
        yield running


def test_refusals_of_the_server_are_reported(site: Site) -> None:
    slug = site.open_project()
    client = HttpClient(site.url, slug, "not a token")
    with pytest.raises(Refused) as error:
        client.labels()
    assert error.value.code == "bad-token"
    assert client.record.refused == {"bad-token": 1}
    with pytest.raises(BadSetting):
        HttpClient("127.0.0.1:8100", slug, "x")
    away = HttpClient("http://127.0.0.1:9", slug, "x", patience=0.2)
    with pytest.raises(Unavailable, match="the server gave no answer"):
        away.labels()
    assert away.record.again["connection-lost"] >= 2
    client.close()
    away.close()


def test_a_lost_or_busy_answer_is_asked_for_again_and_noted_once() -> None:
    """A server that cuts the line, then is busy, then answers: one judgment, sent three times."""
    sent: list[bytes] = []

    class Faulty(Quiet):
        def do_POST(self) -> None:  # noqa: N802
            body = self.rfile.read(int(self.headers["content-length"]))
            judge = {"judge": "j", "stage": "working"}
            if self.path.endswith("arrivals"):
                self.reply(200, {"ticket": "t", "judge": judge})
                return
            if self.path.endswith("/page"):
                rows = [{"row": 1, "title": "a", "text": "b", "asked": []}]
                page = {"page": "p", "kind": "work", "key": "k", "answers": [], "labels": ["x"]}
                page["questions"] = []
                self.reply(
                    200, {"page": {**page, "groups": [{"query": "q", "rows": rows}]}, "judge": None}
                )
                return
            sent.append(body)
            if len(sent) == 1:
                self.close_connection = True
                return
            if len(sent) == 2:
                self.reply(503, {"error": {"code": "database-busy", "message": "busy"}})
                return
            self.reply(200, {"judge": judge, "feedback": []})

    with serving(Faulty) as address:
        client = HttpClient(address, "p", "x")
        client.arrive("anna")
        sheet = client.sheet("anna")
        assert sheet is not None
        assert client.submit("anna", sheet, ["x"]).stage == "working"
        client.close()
    assert len(sent) == 3
    assert len(set(sent)) == 1
    assert json.loads(sent[0]) == {"key": "k", "answers": [{"row": 1, "label": "x", "answers": {}}]}
    assert len(client.record.given) == 1
    assert client.record.again == {"connection-lost": 1, "database-busy": 1}
