"""Who may do what: every route, times every kind of holder, made from what the server serves.

A new route is tried by itself. A new kind of path parameter or form field has to be given a value
below, and a new kind of route its rule; until then the test fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.requesting import MEMBER_ROLES
from adjudge.collect.web.app import API
from sites import LABELS, PASSWORD, Browser, Site, page_routes, served, small_project

LATER = datetime.now(UTC) + timedelta(days=2)
HERE = "/projects/{project}"
HOLDERS = {
    "owner": "a token of the requester whose project it is",
    "admin": "a token of an admin",
    "project token": "a requester's token that is bound to this project",
    "manager": "a token of a member who is a manager",
    "reviewer": "a token of a member who is a reviewer",
    "viewer": "a token of a member who is a viewer, a guest of the server",
    "judge": "a token to judge with in this project, whose ticket it is",
    "other project's token": "a token of the same requester, bound to another project",
    "other requester": "a token of another requester",
    "other judge": "a token to judge with in another project",
    "stranger": "no token",
}
YES, SCOPE, AWAY, NOBODY = "yes", "403", "404", "401"
MEMBERS = ("manager", "reviewer", "viewer")
API_HERE = f"{API}{HERE}"
# What takes an owner, and what a reviewer may too; the rest takes a manager, and looking a viewer.
OWNERS = {("delete", API_HERE)}
REVIEWERS = {
    ("post", f"{API_HERE}/{path}")
    for path in ("contests/{contest}", "consensus", "item/adjudicate", "item/reopen")
}
SECRETS = {f"{API_HERE}/invites"}


@dataclass
class World:
    """A server with two requesters, their projects, tokens and judges."""

    site: Site
    olga: RequesterServices
    slug: str
    tokens: dict[str, str]
    ticket: str = ""
    page: str = ""
    browsers: dict[str, Browser] = field(default_factory=dict)

    def call(self, holder: str, method: str, path: str, **given: Any) -> httpx.Response:
        headers = (
            {"Authorization": f"Bearer {self.tokens[holder]}"} if holder in self.tokens else {}
        )
        client = self.site.clients[0]
        return client.request(method, path, headers=headers, **given)

    def invite(self) -> str:
        return self.olga.judges.invite(self.slug, ["somebody"])[0].invite

    def member(self) -> str:
        """A member, who may have been removed a moment ago."""
        members = self.olga.members
        found = [one.member for one in members.get_all(self.slug) if one.name == "mia"]
        if found:
            return found[0]
        services = self.site.services
        mia = services.acting_for(services.accounts.log_in("mia", PASSWORD))
        mia.members.join(members.invite(self.slug, "viewer", expires=LATER).link)
        return self.member()

    def token(self) -> str:
        """A token that is bound to the project, and not one of the holders'."""
        accounts = self.olga.accounts
        return accounts.make_token("more", scope="judge", project=self.slug)[0].token

    def parameters(self) -> dict[str, Callable[[], str]]:
        """A value for each path parameter: what is there, and the owner's."""
        return {
            "project": lambda: self.slug,
            "ticket": lambda: self.ticket,
            "page": lambda: self.page,
            "row": lambda: "1",
            "judge": lambda: self.olga.judges.get_all(self.slug)[0].judge,
            "invite": self.invite,
            "contest": lambda: str(self.olga.gold.get_contests(self.slug, settled=None)[0].contest),
            "member": self.member,
            "link": lambda: self.olga.members.invite(self.slug, "viewer", expires=LATER).link,
            "token": self.token,
            "model": lambda: "majority-vote",
            "format": lambda: "answers",
        }


def contested(site: Site, slug: str) -> None:
    """A judge who missed a gold, and disagrees."""
    judge = site.browser().join(slug).train(slug)
    page = judge.page
    judge.answer(slug, wrong=True)
    row = re.search(rf'action="[^"]*/pages/{page}/contest"(?:.|\n)*?name="row" value="(\d+)"',
                    judge.text)  # fmt: skip
    assert row, judge.words
    judge.post(f"/j/{slug}/pages/{page}/contest", row=row[1], text="No.", expect=303)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with served(tmp_path_factory.mktemp("holders"), login_attempts=1000) as site:
        site.set_up()
        acting = {}
        for name in ("olga", "otto", "mia", "manager", "reviewer"):
            site.services.accounts.add(name, PASSWORD)
        for name in ("ada", "olga", "otto"):
            acting[name] = site.services.acting_for(site.services.accounts.log_in(name, PASSWORD))
        ada, olga, otto = acting["ada"], acting["olga"], acting["otto"]
        policy = {"channels": ["open", "api"], "judgments_per_item": 50, "newcomers_per_minute": 0}
        policy |= {"newcomers_per_hour": 0, "address_per_minute": 0, "address_per_hour": 0}
        slug = olga.projects.create(small_project(name="Lamps", **policy)).slug
        chairs = olga.projects.create(small_project(name="Chairs", **policy)).slug
        tables = otto.projects.create(small_project(name="Tables", **policy)).slug
        for services, one in ((olga, slug), (olga, chairs), (otto, tables)):
            services.projects.set_state(one, "open")
        viewing = olga.members.invite(slug, "viewer", expires=LATER).link
        site.services.members.join_new(viewing, "viewer", PASSWORD)
        for name in MEMBERS:
            acting[name] = site.services.acting_for(site.services.accounts.log_in(name, PASSWORD))
        for role in ("manager", "reviewer"):
            acting[role].members.join(olga.members.invite(slug, role, expires=LATER).link)
        of_members = {
            name: acting[name].accounts.make_token(name, scope="requester") for name in MEMBERS
        }
        tokens = {
            **of_members,
            "owner": olga.accounts.make_token("a", scope="requester"),
            "admin": ada.accounts.make_token("b", scope="requester"),
            "project token": olga.accounts.make_token("c", scope="requester", project=slug),
            "judge": olga.accounts.make_token("d", scope="judge", project=slug),
            "other project's token": olga.accounts.make_token(
                "e", scope="requester", project=chairs
            ),
            "other requester": otto.accounts.make_token("f", scope="requester"),
            "other judge": otto.accounts.make_token("g", scope="judge", project=tables),
        }
        contested(site, slug)
        world = World(site, olga, slug, {name: made[1] for name, made in tokens.items()})
        body = {"key": "k", "consent": True}
        came = world.call("judge", "POST", f"{API}{HERE}/arrivals".format(project=slug), json=body)
        world.ticket = came.json()["ticket"]
        shown = world.call("judge", "POST", f"{API}/judges/{world.ticket}/page")
        world.page = shown.json()["page"]["page"]
        world.browsers = {
            "owner": site.log_in("olga"),
            **{name: site.log_in(name) for name in MEMBERS},
            "other requester": site.log_in("otto"),
            "judge": site.browser().join(slug),
            "stranger": site.browser(),
        }
        world.browsers["stranger"].get("/login")
        yield world


# -- requests, from the schema

FIELDS = {"item": "g0", "label": LABELS[0], "accepted": [LABELS[0]], "labels": "Good,Bad"}
FIELDS |= {"role": "viewer", "more": 1, "test": {"q0/d0": "Good"}, "model": "majority-vote"}


def example(schema: dict[str, Any], full: dict[str, Any]) -> Any:
    """The least that a schema allows: what is required, and real values where they matter."""
    if "$ref" in schema:
        return example(full["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], full)
    if "anyOf" in schema:
        return example(schema["anyOf"][0], full)
    if "enum" in schema or "const" in schema:
        return schema.get("const", (schema.get("enum") or [None])[0])
    kind = schema.get("type", "object")
    if kind == "object":
        parts = schema.get("properties", {})
        return {
            name: FIELDS[name] if name in FIELDS else example(parts[name], full)
            for name in schema.get("required", ())
        }
    if kind == "array":
        return [example(schema["items"], full)] * schema.get("minItems", 0)
    if kind == "number":
        return 0.9
    return {"string": "x" * max(1, schema.get("minLength", 0)), "integer": 1, "boolean": True}[kind]


def sent(
    operation: dict[str, Any], full: dict[str, Any], judge: Callable[[], str]
) -> dict[str, Any]:
    """The body of a request, as httpx takes it; where it names judges, this one."""
    asked = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
    if "item" in asked:
        return {"params": {"item": FIELDS["item"]}}
    content = operation.get("requestBody", {}).get("content", {})
    if "multipart/form-data" in content:
        return {"files": {"files": ("items.csv", b"item,query,title\nnew,q,t\n")}}
    if not content:
        return {}
    body = example(content["application/json"]["schema"], full)
    return {"json": {**body, "judges": [judge()]} if "judges" in body else body}


def rule(method: str, path: str, tag: str) -> dict[str, str]:
    """Who may, by the words of the documentation and not by the code."""
    if "{ticket}" in path:
        return {name: YES if name == "judge" else AWAY for name in HOLDERS} | {"stranger": NOBODY}
    if "{project}" in path:
        hers = {"owner": YES, "admin": YES, "project token": YES}
        asked = (method, path)
        looks = method == "get" and path not in SECRETS
        may = (asked not in OWNERS, asked in REVIEWERS or looks, looks)
        if asked in OWNERS:
            may = (False, False, False)
        hers |= {name: YES if one else SCOPE for name, one in zip(MEMBERS, may, strict=True)}
        hers |= {"judge": YES if tag == "judging" else SCOPE, "stranger": NOBODY}
        return {name: hers.get(name, AWAY) for name in HOLDERS}
    assert path == f"{API}/projects", f"say who may {method} {path}"
    bound = YES if method == "get" else SCOPE
    return {
        **dict.fromkeys(HOLDERS, YES),
        "viewer": YES if method == "get" else SCOPE,
        "project token": bound,
        "other project's token": bound,
        "judge": SCOPE,
        "other judge": SCOPE,
        "stranger": NOBODY,
    }


def read_answer(response: httpx.Response) -> str:
    """Read whether a call was let in, whatever it answered then."""
    status = response.status_code
    assert status < 500, response.text
    if status in (401, 403, 404):
        expected = {401: ("token-missing",), 403: ("token-scope", "role", "guest")}
        assert response.json()["error"]["code"] in expected.get(status, ("not-found",)), (
            response.text
        )
        return str(status)
    return YES


def matrix(world: World) -> dict[tuple[str, str], dict[str, str]]:
    """What each holder is answered at each operation of the schema that is served."""
    schema = world.site.clients[0].get(f"{API}/openapi.json").json()
    known = world.parameters()
    found = {}
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            answers = {}
            for holder in HOLDERS:
                names = re.findall(r"\{(\w+)\}", path)
                assert set(names) <= set(known), f"give {path} its parameters"
                at = path.format(**{name: known[name]() for name in names})
                body = sent(operation, schema, known["judge"])
                answers[holder] = read_answer(world.call(holder, method, at, **body))
            found[method, path] = answers
            assert answers == rule(method, path, operation["tags"][0]), (method, path, answers)
    return found


def test_projects_of_others_are_not_found_on_every_route(world: World) -> None:
    assert len(matrix(world)) > 50


def test_nothing_was_changed_by_those_who_may_not(world: World) -> None:
    """No judge came by a token that was not for the project."""
    before = len(world.olga.judges.get_all(world.slug))
    arrivals = f"{API}/projects/{world.slug}/arrivals"
    for holder in ("other requester", "other project's token", "other judge", "stranger"):
        for kind in ("model", "person"):
            body = {"key": f"made up by {holder}", "kind": kind, "consent": True}
            assert world.call(holder, "POST", arrivals, json=body).status_code in (401, 404)
    assert len(world.olga.judges.get_all(world.slug)) == before


def test_a_draft_is_its_requesters_alone(world: World) -> None:
    draft = world.olga.projects.create(small_project(name="Not yet")).slug
    path = f"{API}/projects/{draft}/guidelines"
    assert world.call("owner", "GET", path).status_code == 200
    assert world.call("other requester", "GET", path).status_code == 404
    stranger = world.site.browser()
    stranger.get(f"/j/{draft}")
    assert "takes no new judges at the moment" in stranger.words
    assert "Say Good of a good lamp" not in stranger.words
    stranger.get(f"/j/{draft}/guidelines", expect=404)


# -- pages, by the session of a browser

FORM = {
    "state": "open",
    "item": "g0",
    "role": "both",
    "upheld": "yes",
    "notes": "somebody",
    "panel": "prolific",
    "model": "majority-vote",
    "accepted": "Good",
    "accuracy": "0.9",
    "preset": "training-mixes",
    "seed": "0",
    "training": "2",
    "name": "no such name",
    "answer": "no",
    "arms": "",
    "guidelines": "Read.",
    "reason": "because",
    "do": "check",
    "days": "3",
}

# The role that a page takes: looking a viewer and a form a manager, but for these.
PAGES_OF = {
    ("POST", "/item"): "reviewer",
    ("POST", "/settings/gold/contests/{contest}"): "reviewer",
    ("POST", "/results"): "reviewer",
    ("POST", "/settings/gold/suggestions/fit"): "reviewer",
    ("POST", "/results/plan"): "reviewer",
    ("POST", "/dry-run"): "reviewer",
    ("POST", "/dismiss"): "viewer",
    ("POST", "/items/adjudicate"): "reviewer",
    ("POST", "/results/systems/upload"): "reviewer",
    ("GET", "/judges/links.csv"): "manager",
    ("GET", "/settings/notifications"): "manager",
    ("POST", "/settings/notifications/ask"): "owner",
    ("POST", "/settings/members/links"): "owner",
    ("POST", "/settings/members/links/{link}/revoke"): "owner",
    ("POST", "/settings/members/tokens/{token}/revoke"): "owner",
    ("POST", "/settings/members/{member}"): "owner",
    ("POST", "/settings/members/{member}/remove"): "owner",
    ("POST", "/delete"): "owner",
}


def pages() -> list[tuple[str, str]]:
    """Every page of a project, in any module of the web layer."""
    found = [
        (method, route.path)
        for route in page_routes()
        for method in sorted(route.methods)
        if route.path.startswith(HERE)
    ]
    assert len(found) > 30
    return found


@pytest.mark.parametrize(("method", "path"), pages())
def test_a_page_of_one_requester_is_not_found_by_others(
    world: World, method: str, path: str
) -> None:
    known = world.parameters()
    names = re.findall(r"\{(\w+)(?::\w+)?\}", path)
    assert set(names) <= set(known), f"give {path} its parameters"
    allowed = PAGES_OF.get(
        (method, path.removeprefix(HERE)), "viewer" if method == "GET" else "manager"
    )
    for holder, browser in world.browsers.items():
        at = re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: known[found[1]](), path)
        if method == "GET":
            response = browser.client.get(at, params={"item": "g0"})
        else:
            files = {"files": ("items.csv", b"item,query,title\nnew,q,t\n")}
            response = browser.client.post(
                at,
                data={"proof": browser.proof, **FORM},
                files=files if at.endswith("/upload") else None,
            )
        status = response.status_code
        assert status < 500, response.text
        if holder == "owner":
            assert status not in (401, 403, 404), (at, response.text[-2000:])
            assert "/login" not in response.headers.get("location", "")
        elif holder in MEMBERS:
            may = MEMBER_ROLES.index(holder) >= MEMBER_ROLES.index(allowed)
            assert (status != 403) == may, (holder, at, status, response.text[-500:])
            assert status not in (401, 404), (holder, at)
        elif holder == "other requester":
            assert status == 404, (at, status, response.text[-500:])
        else:
            assert (status, response.headers["location"].partition("?")[0]) == (303, "/login"), at
