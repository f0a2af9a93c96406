"""The client in Python, at a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge import Client
from adjudge.errors import Refused, Unavailable
from adjudge.simulation.http_client import HttpClient
from sites import Site, served

ITEMS = "query,title,text\n" + "".join(
    f"lamp {n},Lamp {n},{kind}\n" for n in range(6) for kind in ("good", "bad")
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(tmp_path_factory.mktemp("site"), refit_seconds=0.1) as running:
        yield running


@pytest.fixture(scope="module")
def token(site: Site) -> str:
    site.set_up()
    return site.make_token()


def test_a_project_from_items_to_labels(site: Site, token: str, tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text(ITEMS)
    with Client(site.url, token) as client:
        project = client.create_project(
            "Lamps", labels=["Bad", "Good"], relevant=["Good"], policy={"judgments_per_item": 2}
        )
        assert (project.slug, project.state, project.items) == ("lamps", "draft", 0)
        assert client.add_items("lamps", items, check=True)["stored"] is False
        assert client.add_items("lamps", items)["items"] == 12
        assert client.open("lamps").state == "open"
        assert client.wait("lamps", timeout=0.1, every=0.05) is False

        for key in ("anna", "ben"):
            judge = HttpClient(site.url, "lamps", token)
            judge.arrive(key)
            while (sheet := judge.sheet(key)) is not None:
                judge.submit(key, sheet, ["Good" if "good" in row else "Bad" for row in sheet.rows])
            judge.leave(key)
            judge.close()

        assert client.wait("lamps", timeout=60, every=0.05)
        judgments = client.judgments("lamps")
        assert judgments.num_rows == 24
        assert set(judgments["label"].to_pylist()) == {"Good", "Bad"}
        client.fit("lamps", "majority-vote")
        labels = client.labels("lamps", "majority-vote")
        (row,) = labels.slice(0, 1).to_pylist()
        other = "Bad" if row["label"] == "Good" else "Good"
        site.services.gold.approve("lamps", row["item"], accepted=[other])
        client.fit("lamps", "majority-vote")
        again = client.labels("lamps", "majority-vote")["item"].to_pylist()
        assert row["item"] not in again, "the labels are those of the fit that was asked for"
        assert sorted(labels["label"].to_pylist()) == ["Bad"] * 6 + ["Good"] * 6
        assert client.end("lamps").state == "closed"
        assert [one.slug for one in client.projects()] == ["lamps"]


def test_errors_carry_the_code_of_the_server(site: Site, token: str) -> None:
    with Client(site.url, token) as client, pytest.raises(Refused) as refused:
        client.project("nowhere")
    assert refused.value.code == "not-found"
    with Client(site.url, "nonsense") as client, pytest.raises(Refused) as refused:
        client.projects()
    assert refused.value.code == "bad-token"


def test_a_server_that_is_away_is_asked_again_for_a_while() -> None:
    with Client("http://127.0.0.1:9", "t", patience=0.2) as client, pytest.raises(Unavailable):
        client.projects()
