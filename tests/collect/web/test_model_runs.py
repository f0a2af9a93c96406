"""A language model that judges from the app: sample first, budget, stopping, and its key."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sites import Browser, Site, served
from waiting import wait_until

KEYS: list[str | None] = []


@pytest.fixture
def endpoint() -> Iterator[str]:
    """A model that knows the right label; the address of its endpoint."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            KEYS.append(self.headers.get("Authorization"))
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            label = "Good" if "good lamp" in body["messages"][-1]["content"] else "Bad"
            said = json.dumps({"reason": "its title", "label": label})
            usage = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
            choice = {"index": 0, "message": {"role": "assistant", "content": said}}
            sent = {"id": "1", "model": "m", "choices": [choice], "usage": usage}
            data = json.dumps(sent).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    KEYS.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


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


def test_a_sample_comes_first_and_then_the_rest(site: Site, endpoint: str) -> None:
    ada, slug = site.set_up(), site.open_project(judgments_per_item=1)
    start(ada, slug, endpoint=endpoint, key="sk-secret", most="6")
    wait_until(lambda: ended(site, slug), 60, "the sample is judged")
    (run,) = site.parts.models.find(slug)
    assert (run.state, run.problem) == ("finished", "")
    assert 6 <= run.judged < 18
    assert run.spent == pytest.approx(run.tokens / 1.01e6)
    ada.get(f"/projects/{slug}/judges/models")
    assert "finished" in ada.words
    assert "Judge all" in ada.words
    ada.post(f"/projects/{slug}/judges/models", endpoint=endpoint, model="m", prompt="guidelines")
    wait_until(lambda: ended(site, slug), 60, "the rest is judged")
    assert site.services.projects.get_progress(slug).open == 0
    assert set(KEYS) == {"Bearer sk-secret"}
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
    site: Site, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADJUDGE_MODEL_KEY", "sk-server")
    ada = site.set_up()
    for own, sent in (("https://elsewhere.example/v1", None), (endpoint, "Bearer sk-server")):
        monkeypatch.setenv("ADJUDGE_MODEL_ENDPOINT", own)
        slug = site.open_project()
        KEYS.clear()
        start(ada, slug, endpoint=endpoint, most="1")
        wait_until(lambda slug=slug: ended(site, slug), 60, "a page is judged")  # type: ignore[misc]
        assert set(KEYS) == {sent}


def test_an_endpoint_in_the_own_network_is_refused(tmp_path: Path, endpoint: str) -> None:
    with served(tmp_path) as site:
        ada, slug = site.set_up(), site.open_project()
        start(ada, slug, endpoint=endpoint, expect=422)
        assert "not a public address" in ada.words
        assert not KEYS
