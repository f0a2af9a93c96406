"""What a server meets in the wild: each gets a clear answer, nothing is lost or stored twice."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from adjudge.collect.rules.policy import Policy
from sites import Api, Browser, Site, served


@pytest.fixture
def slug(site: Site) -> str:
    return site.open_project(queries=12)


@pytest.fixture
def judge(site: Site, slug: str) -> Browser:
    return site.browser().join(slug).train(slug)


def stored(site: Site, slug: str) -> int:
    progress = site.services.projects.get_progress(slug)
    return progress.trusted + progress.untrusted


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"label-1": "Excellent"}, 422),
        ({"label-999": "Good"}, 422),
        ({"key": ""}, 422),
        ({"key": "guess"}, 422),
    ],
    ids=["no label", "no row", "no key", "another key"],
)
def test_a_form_with_a_wrong_value(
    site: Site, slug: str, judge: Browser, change: dict[str, str], status: int
) -> None:
    judge.post(f"/j/{slug}/pages/{judge.page}", **judge.answers() | change, expect=status)
    assert stored(site, slug) == 0


def test_a_form_sent_twice_is_stored_once(site: Site, slug: str, judge: Browser) -> None:
    path, given = f"/j/{slug}/pages/{judge.page}", judge.answers()
    first = judge.post(path, **given)
    count = stored(site, slug)
    assert count > 0
    second = judge.post(path, **given)
    assert second.headers["location"] == first.headers["location"]
    assert stored(site, slug) == count


def test_a_form_replayed_with_other_answers_changes_nothing(
    site: Site, slug: str, judge: Browser
) -> None:
    path, right, wrong = f"/j/{slug}/pages/{judge.page}", judge.answers(), judge.answers(wrong=True)
    judge.post(path, **right)
    before = site.services.judges.get_all(slug)[0]
    judge.get(f"/j/{slug}")
    judge.post(path, **wrong)
    assert site.services.judges.get_all(slug)[0].gold_right == before.gold_right
    assert site.services.judges.get_all(slug)[0].judged == before.judged


def test_a_form_sent_by_another_judge(site: Site, slug: str, judge: Browser) -> None:
    other = site.browser().join(slug).train(slug)
    other.post(f"/j/{slug}/pages/{judge.page}", **judge.answers(), expect=404)
    other.get(f"/j/{slug}/pages/{judge.page}", expect=404)
    assert stored(site, slug) == 0


def test_a_form_from_a_browser_without_a_judge_is_refused(
    site: Site, slug: str, judge: Browser
) -> None:
    stranger = site.browser()
    stranger.get(f"/j/{slug}")
    stranger.post(f"/j/{slug}/pages/{judge.page}", **judge.answers(), expect=403)
    assert "this browser is not a judge of this project" in stranger.words.lower()


def test_a_form_for_a_project_that_was_closed(site: Site, slug: str, judge: Browser) -> None:
    site.services.projects.set_state(slug, "closed")
    judge.post(f"/j/{slug}/pages/{judge.page}", **judge.answers(), expect=409)
    assert stored(site, slug) == 0


@pytest.mark.parametrize(
    "path",
    [
        "/j/nothing",
        "/j/{slug}/pages/guess",
        "/j/%00",
        "/j/..%2f..%2fetc%2fpasswd",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/nowhere",
        "/j/" + "x" * 3000,
    ],
)
def test_a_guess_at_an_address(site: Site, slug: str, judge: Browser, path: str) -> None:
    judge.get(path.format(slug=slug), expect=404)
    assert "Not found" in judge.words


def test_a_method_that_is_not_possible(site: Site) -> None:
    browser = site.browser()
    response = browser.client.delete("/login")
    assert response.status_code == 405
    assert "DELETE is not possible at this address" in response.text


def test_a_form_of_many_megabytes_without_a_file_is_refused(site: Site) -> None:
    browser = site.browser()
    browser.get("/login")
    browser.post("/login", name="x" * 3_000_000, password="y", expect=413)


def test_control_characters_do_no_harm(site: Site, slug: str, judge: Browser) -> None:
    given = judge.answers() | {
        "comment-1": "a\0b\x08c\ud800d".encode("utf-8", "surrogatepass").decode("latin-1")
    }
    judge.post(f"/j/{slug}/pages/{judge.page}", **given)
    assert stored(site, slug) > 0


def test_a_body_that_is_no_form(site: Site, judge: Browser, slug: str) -> None:
    for kind, body in [
        ("application/json", b"{}"),
        ("multipart/form-data", b"--"),
        ("multipart/form-data; boundary=x", b"--x\r\nnonsense"),
        ("application/x-www-form-urlencoded", b"%ff%fe=\xff&&&=%"),
    ]:
        response = judge.client.post(
            f"/j/{slug}/begin", content=body, headers={"content-type": kind}
        )
        assert response.status_code in (400, 403, 422), kind


# -- the database


def test_two_servers_on_one_file(tmp_path: Path) -> None:
    with served(tmp_path) as one, served(tmp_path) as two:
        slug = one.open_project()
        judge = one.browser().join(slug).train(slug)
        path, given = f"/j/{slug}/pages/{judge.page}", judge.answers()
        judge.post(path, **given)
        count = stored(one, slug)
        # The same browser at the other process: known, resumed, and the replay is stored once.
        there = two.browser()
        there.client.cookies = judge.client.cookies
        there.get(f"/j/{slug}")
        there.proof = judge.proof
        there.post(path, **given)
        assert stored(two, slug) == count


def test_a_form_of_nothing_but_fields_is_refused_before_it_is_parsed(site: Site) -> None:
    browser = site.browser()
    browser.get("/login")
    kind = {"content-type": "application/x-www-form-urlencoded"}
    for body in ("&" * 990_000, "a=1&" * 2_000):
        begun = time.process_time()
        response = browser.client.post("/login", content=body, headers=kind)
        assert response.status_code == 422
        assert time.process_time() - begun < 1


@pytest.mark.parametrize("path", ["/metrics", "/projects"])
def test_metrics_and_the_api_want_their_token(site: Site, path: str) -> None:
    at = path if path == "/metrics" else f"/api/v1{path}"
    for headers in ({}, {"Authorization": "Bearer other"}, {"X-Forwarded-For": "127.0.0.1"}):
        assert site.browser(**headers).client.get(at).status_code == 401


class Caller(Api):
    """A client with a token of everything, which sends what no library would."""

    def send(self, method: str, path: str, body: Any) -> httpx.Response:
        kind = {"content-type": "application/json"}
        return self.client.request(method, path, content=json.dumps(body), headers=kind)


@pytest.fixture
def caller(site: Site) -> Caller:
    site.set_up()
    return Caller(site, site.make_token())


def test_error_messages_of_requests_are_short(caller: Caller) -> None:
    for body in (
        {"name": "x", "items": [1] * 100_000},
        {"name": "x" * 500_000},
        {"x" * 900_000: 1},
    ):
        assert len(caller.send("POST", "/projects", body).content) < 10_000
    slug = caller.send("POST", "/projects", {"name": "x", "labels": "a,b"}).json()["slug"]
    for setting in ({"closing": "x" * 900_000}, {"y" * 900_000: 1}, {"channels": [["x"] * 90_000]}):
        response = caller.send("PATCH", f"/projects/{slug}/policy", setting)
        assert (response.status_code, len(response.content) < 10_000) == (422, True)


def test_no_setting_of_a_policy_is_a_fault_of_the_server(caller: Caller) -> None:
    slug = caller.send("POST", "/projects", {"name": "x", "labels": "a,b"}).json()["slug"]
    odd = [1, "1", [[]], [["a"]], {"a": [1]}, float("inf"), {"a": float("inf")}, "\ud800", "\0"]
    odd += [{"a": 1e308, "b": 1e308}, 10**400, None, True, -1, {"\0": 1}, "Infinity", "1e999999"]
    for name in Policy.model_fields:
        for value in odd:
            status = caller.send("PATCH", f"/projects/{slug}/policy", {name: value}).status_code
            assert status in (200, 422), (name, value)
    for body in (1, "1", [[1]], float("inf"), None):
        assert caller.send("PATCH", f"/projects/{slug}/policy", body).status_code == 422
    assert caller.client.get(f"/projects/{slug}/policy").status_code == 200


def test_a_fault_of_ours_has_a_page_and_a_line_in_the_log(
    site: Site, slug: str, judge: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)

    def broken(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    site.parts.judging.state = broken  # type: ignore[method-assign,assignment]
    response = judge.client.get(f"/j/{slug}")
    assert response.status_code == 500
    assert "Something went wrong here" in response.text
    assert "a fault of ours" not in response.text
    number = response.headers["x-request-id"]
    assert number in response.text
    faults = [record for record in caplog.records if record.getMessage() == "fault"]
    assert [record.request for record in faults] == [number]  # type: ignore[attr-defined]
    assert "a fault of ours" in str(faults[0].exc_info)
