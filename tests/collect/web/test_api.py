"""The API: for scripts, and for models that judge."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sites import LABELS, PASSWORD, Api, Site, small_project


@pytest.fixture
def ada(site: Site) -> Api:
    site.set_up()
    return Api(site, site.make_token())


@pytest.fixture
def slug(site: Site, ada: Api) -> str:
    return site.open_project(queries=8)


@pytest.fixture
def model(site: Site, ada: Api, slug: str) -> Api:
    return Api(site, site.make_token(scope="judge", project=slug))


def right(page: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"row": row["row"], "label": LABELS[0] if "good" in row["title"] else LABELS[1]}
        for group in page["groups"]
        for row in group["rows"]
    ]


def arrive(api: Api, slug: str, key: str = "gpt") -> str:
    body = {"key": key, "kind": "model", "consent": True}
    ticket: str = api("POST", f"/projects/{slug}/arrivals", json=body)["ticket"]
    return ticket


def test_a_model_judges_by_the_same_routing_gold_and_trust(
    site: Site, model: Api, slug: str
) -> None:
    brief = model("GET", f"/projects/{slug}/guidelines")
    assert brief["labels"] == list(LABELS)
    ticket = arrive(model, slug)
    kinds, stored = [], 0
    while (page := model("POST", f"/judges/{ticket}/page")["page"]) is not None:
        kinds.append(page["kind"])
        sent = {"key": page["key"], "answers": right(page)}
        outcome = model("POST", f"/judges/{ticket}/pages/{page['page']}", json=sent)
        assert not outcome["again"]
        assert outcome["stored"] == len(sent["answers"])
        stored += outcome["stored"]
        again = model("POST", f"/judges/{ticket}/pages/{page['page']}", json=sent)
        assert again["again"]
        assert {**again, "again": False} == outcome
        assert model("GET", f"/judges/{ticket}/pages/{page['page']}")["stored"] == len(right(page))
    assert kinds[0] == "training"
    assert set(kinds[1:]) == {"work"}
    view = model("GET", f"/judges/{ticket}")
    assert view["stage"] == "finished"
    assert view["gold_seen"] == view["gold_right"] > 0
    row = site.services.judges.get_all(slug)[0]
    assert (row.kind, row.channel) == ("model", "api")


def test_the_same_key_of_the_same_token_is_the_same_judge(
    site: Site, ada: Api, model: Api, slug: str
) -> None:
    first = model("POST", f"/projects/{slug}/arrivals", json={"key": "gpt"})["judge"]["judge"]
    again = model("POST", f"/projects/{slug}/arrivals", json={"key": "gpt"})["judge"]["judge"]
    other = ada("POST", f"/projects/{slug}/arrivals", json={"key": "gpt"})["judge"]["judge"]
    assert first == again != other


def test_a_ticket_serves_only_its_own_token(site: Site, ada: Api, model: Api, slug: str) -> None:
    ticket = arrive(model, slug)
    error = ada("GET", f"/judges/{ticket}", expect=404)["error"]
    assert error["code"] == "not-found"
    model("GET", f"/judges/{ticket[:-1]}", expect=404)
    model("GET", "/judges/guess", expect=404)


@pytest.mark.parametrize(("role", "status"), [(None, 404), ("reviewer", 403)])
@pytest.mark.parametrize("bound", [True, False])
def test_a_ticket_ends_with_the_role_of_its_holder(
    site: Site, ada: Api, slug: str, role: Any, status: int, bound: bool
) -> None:
    later = datetime.now(UTC) + timedelta(days=1)
    link = site.services.members.invite(slug, "manager", expires=later).link
    account = site.services.members.join_new(link, "mia", PASSWORD)
    mia = site.services.acting_for(account).accounts
    given = {"scope": "judge", "project": slug} if bound else {"scope": "requester"}
    api = Api(site, mia.make_token("mia's", **given)[1])
    ticket = arrive(api, slug)
    page = api("POST", f"/judges/{ticket}/page")["page"]
    if role is None:
        site.services.members.remove(slug, account.requester)
    else:
        site.services.members.set_role(slug, account.requester, role)
    expected = 401 if bound else status
    here, answers = f"/judges/{ticket}", {"answers": right(page)}
    for method, path, body in (
        ("GET", here, None),
        ("POST", f"{here}/consent", None),
        ("POST", f"{here}/page", None),
        ("POST", f"{here}/pages/{page['page']}", {"key": page["key"], **answers}),
        ("GET", f"{here}/pages/{page['page']}", None),
        ("PUT", f"{here}/pages/{page['page']}/draft", answers),
        ("POST", f"{here}/pages/{page['page']}/rows/1", {"label": LABELS[0]}),
        ("POST", f"{here}/pages/{page['page']}/contests", {"row": 1, "text": "No."}),
        ("POST", f"{here}/finish", None),
    ):
        api(method, path, json=body, expect=expected)
    assert [one.revoked for one in site.services.members.get_tokens(slug)] == [True] * bound


def test_a_token_for_judging_has_no_other_power(site: Site, model: Api, slug: str) -> None:
    for method, path in [
        ("GET", "/projects"),
        ("GET", f"/projects/{slug}"),
        ("GET", f"/projects/{slug}/golds"),
        ("GET", f"/projects/{slug}/judges"),
        ("GET", f"/projects/{slug}/export/answers"),
    ]:
        assert model(method, path, expect=403)["error"]["code"] == "token-scope"
    other = site.open_project(small_project(name="Other"))
    body = {"key": "gpt"}
    assert model("POST", f"/projects/{other}/arrivals", json=body, expect=404)


def test_a_token_that_is_void_is_refused(site: Site, ada: Api) -> None:
    acting = site.services.acting_for(site.services.accounts.log_in("ada", PASSWORD))
    token, secret = acting.accounts.make_token("short", scope="requester")
    api = Api(site, secret)
    api("GET", "/projects")
    acting.accounts.revoke_token(token.token)
    site.parts.tokens.forget()
    assert api("GET", "/projects", expect=401)["error"]["code"] == "bad-token"


def test_a_token_for_one_project_sees_no_other(site: Site, ada: Api, slug: str) -> None:
    other = site.open_project(small_project(name="Other"))
    api = Api(site, site.make_token(project=slug))
    assert [entry["slug"] for entry in api("GET", "/projects")["results"]] == [slug]
    api("GET", f"/projects/{slug}/progress")
    api("GET", f"/projects/{other}/progress", expect=404)
    api("POST", "/projects", json={"name": "x", "labels": "a,b"}, expect=403)


def test_a_requester_does_by_script_what_her_pages_do(site: Site, ada: Api) -> None:
    items = [{"name": f"i{n}", "topic": "q", "query": "q", "title": f"t{n}"} for n in range(6)]
    golds = [{"item": "i0", "accepted": ["a"], "reason": "It is."}]
    project = {"name": "By script", "labels": "a,b", "guidelines": "# G", "items": items[:5]}
    made = ada("POST", "/projects", json={**project, "golds": golds}, expect=201)
    slug = made["slug"]
    assert made["state"] == "draft"
    csv = b"item,topic,query,title\ni9,q,q,t9\n"
    checked = ada("POST", f"/projects/{slug}/import?check=true", files={"files": ("x.csv", csv)})
    assert checked == {"stored": False, "items": 1, "golds": 0, "notes": [], "changes": None}
    done = ada("POST", f"/projects/{slug}/import", files={"files": ("x.csv", csv)})
    assert done["changes"]["added"] == 1
    bad = b"item,topic,query,title,gold\ni10,q,q,t,zzz\n"
    error = ada("POST", f"/projects/{slug}/import", files={"files": ("x.csv", bad)}, expect=422)
    assert error["error"]["faults"][0]["at"] == "x.csv, line 2, column gold"
    assert ada("PUT", f"/projects/{slug}/state", json={"state": "open"})["state"] == "open"
    version = ada("GET", f"/projects/{slug}/policy")["version"]
    changed = ada("PATCH", f"/projects/{slug}/policy", json={"judgments_per_item": 2})
    assert changed["version"] == version + 1
    wrong = ada("PATCH", f"/projects/{slug}/policy", json={"judgment_per_item": 2}, expect=422)
    assert "did you mean 'judgments_per_item'" in wrong["error"]["message"]
    ada("PUT", f"/projects/{slug}/guidelines", json={"guidelines": "# New"}, expect=204)
    invites = ada("POST", f"/projects/{slug}/invites", json={"notes": ["Grace"]}, expect=201)
    link = invites["results"][0]["link"]
    site.browser().get(link.removeprefix(site.url))
    judge = ada("GET", f"/projects/{slug}/judges")["results"][0]["judge"]
    blocked = ada("POST", f"/projects/{slug}/judges/{judge}/block", json={"reason": "test"})
    assert blocked["stage"] == "blocked"
    freed = ada("POST", f"/projects/{slug}/judges/{judge}/unblock", json={})
    assert freed["stage"] != "blocked"
    assert ada("GET", f"/projects/{slug}/judges/{judge}")["row"]["judge"] == judge
    events = [entry["event"] for entry in ada("GET", f"/projects/{slug}/log")["results"]]
    assert "blocked" in " ".join(events)
    assert ada("GET", f"/projects/{slug}/golds")["results"][0]["accepted"] == ["a"]
    edited = ada("PATCH", f"/projects/{slug}/golds", json={"item": "i0", "accepted": ["b"]})
    assert edited["item"] == "i0"
    assert ada("GET", f"/projects/{slug}/progress")["items"] == 5
    assert ada("GET", f"/projects/{slug}/disagreements")["results"] == []
    assert ada("GET", f"/projects/{slug}/contests")["results"] == []
    fits = ada("POST", f"/projects/{slug}/consensus", json={"model": "pmf"}, expect=202)
    assert fits["results"][0] == {**fits["results"][0], "model": "pmf", "state": "wanted"}
    ada("POST", f"/projects/{slug}/consensus", json={"model": "pmff"}, expect=422)
    export = ada.client.get(f"/projects/{slug}/export/gold-csv")
    assert export.status_code == 200
    assert export.headers["content-disposition"].startswith("attachment; ")
    ada("DELETE", f"/projects/{slug}", expect=409)
    ada("PUT", f"/projects/{slug}/state", json={"state": "closed"})
    ada("DELETE", f"/projects/{slug}", expect=204)
    ada("GET", f"/projects/{slug}", expect=404)


@pytest.mark.parametrize(
    ("method", "path", "given", "status", "code"),
    [
        ("GET", "/nowhere", {}, 404, "not-found"),
        ("GET", "/projects/nothing", {}, 404, "not-found"),
        ("DELETE", "/projects", {}, 405, "method-not-allowed"),
        ("POST", "/projects", {"content": b"{"}, 422, "bad-request"),
        ("POST", "/projects", {"json": {"name": ""}}, 422, "bad-request"),
        ("POST", "/projects", {"json": {"name": "x", "labels": "a,,b"}}, 422, "bad-data"),
        ("POST", "/projects", {"json": {"name": "x\0", "labels": "a,b"}}, 422, "bad-request"),
        ("GET", "/projects/%00", {}, 404, "not-found"),
    ],
)
def test_every_error_has_one_shape(
    ada: Api, method: str, path: str, given: dict[str, Any], status: int, code: str
) -> None:
    error = ada(method, path, expect=status, **given)["error"]
    assert error["code"] == code
