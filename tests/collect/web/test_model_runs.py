"""A language model that judges from the app: sample first, budget, stopping, and its key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from servers import Speaker, speaking
from sites import Browser, Site, served
from waiting import wait_until


def answer(body: dict[str, Any]) -> str:
    """What a model says that knows the right label."""
    label = "Good" if "good lamp" in body["messages"][-1]["content"] else "Bad"
    return json.dumps({"reason": "its title", "label": label})


@pytest.fixture
def speaker() -> Iterator[Speaker]:
    with speaking(answer=answer) as made:
        yield made


@pytest.fixture
def endpoint(speaker: Speaker) -> str:
    return speaker.url


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A server that may ask endpoints on its own machine."""
    with served(tmp_path, private_webhooks=True) as running:
        yield running


def start(ada: Browser, slug: str, *, expect: int = 303, **form: str) -> None:
    ada.get(f"/projects/{slug}/judges/models")
    asked = {"model": "m", "prompt": "guidelines", "price_in": "1", "price_out": "0", **form}
    ada.post(f"/projects/{slug}/judges/models", expect=expect, **asked)


def ended(site: Site, slug: str) -> bool:
    return site.parts.models.find(slug)[0].state not in ("running", "stopping")


def test_a_sample_comes_first_and_then_the_rest(
    site: Site, endpoint: str, speaker: Speaker
) -> None:
    ada, slug = site.set_up(), site.open_project(judgments_per_item=1)
    start(ada, slug, endpoint=endpoint, key="sk-secret", most="6")
    wait_until(lambda: ended(site, slug), 60, "the sample is judged")
    (run,) = site.parts.models.find(slug)
    assert (run.state, run.problem) == ("finished", "")
    assert 6 <= run.judged < 18
    assert run.spent == pytest.approx(run.tokens / 1.1e6)
    ada.get(f"/projects/{slug}/judges/models")
    assert "finished" in ada.words
    assert "Judge all" in ada.words
    assert ada.text.count(f"/projects/{slug}/judges/audit") == 2, "of the section and of the run"
    ada.post(f"/projects/{slug}/judges/models", endpoint=endpoint, model="m", prompt="guidelines")
    wait_until(lambda: ended(site, slug), 60, "the rest is judged")
    assert site.services.projects.get_progress(slug).open == 0
    assert set(speaker.keys) == {"Bearer sk-secret"}
    database = Path(site.settings.database.removeprefix("sqlite:///"))
    files = [file for file in database.parent.rglob("*") if file.is_file()]
    assert not [file for file in files if b"sk-secret" in file.read_bytes()]
    assert "sk-secret" not in ada.text


def test_a_budget_and_a_wrong_address_end_a_run(site: Site, endpoint: str) -> None:
    ada, slug = site.set_up(), site.open_project()
    start(ada, slug, endpoint=endpoint, budget="0.000001")
    wait_until(lambda: ended(site, slug), 60, "the budget is spent")
    (run,) = site.parts.models.find(slug)
    assert run.spent <= 0.000001
    assert "0.000001" in run.problem or "1e-06" in run.problem
    start(ada, slug, endpoint=endpoint.replace("/v1", "/v2").replace("127.0.0.1", ""), expect=422)
    assert 'value="m"' in ada.text, "what was typed stays"


def test_the_key_of_the_server_goes_to_its_own_endpoint_alone(
    site: Site, endpoint: str, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADJUDGE_MODEL_KEY", "sk-server")
    ada = site.set_up()
    for own, sent in (("https://elsewhere.example/v1", None), (endpoint, "Bearer sk-server")):
        monkeypatch.setenv("ADJUDGE_MODEL_ENDPOINT", own)
        slug = site.open_project()
        speaker.keys.clear()
        start(ada, slug, endpoint=endpoint, most="1")
        wait_until(lambda slug=slug: ended(site, slug), 60, "a page is judged")  # type: ignore[misc]
        assert set(speaker.keys) == {sent}


def test_an_endpoint_in_the_own_network_is_refused(
    tmp_path: Path, endpoint: str, speaker: Speaker
) -> None:
    with served(tmp_path) as site:
        ada, slug = site.set_up(), site.open_project()
        start(ada, slug, endpoint=endpoint, expect=422)
        assert "not a public address" in ada.words
        assert not speaker.keys
