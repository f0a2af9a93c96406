"""A collection server for tests: the real app on a real port, and browsers without a screen."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from html import unescape
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import httpx
import uvicorn
from fastapi.routing import APIRoute

from adjudge import Scale
from adjudge.collect import web
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.collect.web._state import State
from adjudge.collect.web.app import create_app
from adjudge.collect.web.settings import UVICORN, Settings
from adjudge.errors import NotFound, Refused
from passwords import hash_quickly
from statements import share_statements
from stores import write_empty

share_statements()
hash_quickly()

PASSWORD = "correct horse battery"
LABELS = ("Good", "Bad")
REASON = "Its own title says which it is."


def small_project(
    *, name: str = "Lamps", queries: int = 4, golds: int = 16, **policy: object
) -> Project:
    """A project whose right labels stand in the titles: half of the items are good.

    Queries of three items each; gold is in queries of its own, two items each.
    """
    items, entries = [], []
    for query in range(queries):
        for result in range(3):
            right = LABELS[(query + result) % 2]
            items.append(_item(f"q{query}/d{result}", f"q{query}", f"lamp number {query}", right))
    for gold in range(golds):
        right = LABELS[gold % 2]
        items.append(_item(f"g{gold}", f"gq{gold // 2}", f"lamp kind {gold // 2}", right))
        role = "training" if gold % 4 < 2 else "screening"
        entries.append(GoldEntry(item=f"g{gold}", accepted=(right,), reason=REASON, role=role))
    settings: dict[str, object] = {
        "judgments_per_item": 2,
        "queries_per_page": 2,
        "results_per_query": 3,
        "training_pairs": 4,
        "training_pass": 0.75,
        "screening_golds": 1,
        "screening_pairs": 2,
        "least_golds": 2,
        "pay_per_page": "0.20",
        "code_finished": "DONE-1",
        "code_blocked": "BLOCKED-1",
    }
    return Project(
        name=name,
        scale=Scale(labels=LABELS, relevant=("Good",)),
        guidelines="# Lamps\n\nSay **Good** of a good lamp, *Bad* of a bad one.",
        items=tuple(items),
        golds=tuple(entries),
        policy={**settings, **policy},
    )


def _item(name: str, topic: str, query: str, right: str) -> Item:
    return Item(
        name=name,
        topic=topic,
        query=query,
        need="Light to read by.",
        category="Home",
        title=f"A {right.lower()} lamp, {name.replace('/', ' ')}",
        text="It is made for a table.",
        url="https://example.com/lamp",
    )


@dataclass
class Site:
    """A server that runs: where it is, and its parts, to look behind the pages."""

    url: str
    parts: State
    settings: Settings
    admin_password: str = PASSWORD
    clients: list[httpx.Client] = field(default_factory=list)

    @property
    def services(self) -> RequesterServices:
        return self.parts.services

    def browser(self, **headers: str) -> Browser:
        # No certificates to load, which takes longer than most requests here.
        client = httpx.Client(base_url=self.url, headers=headers, timeout=300.0, verify=False)
        self.clients.append(client)
        return Browser(client)

    def set_up(self, name: str = "ada") -> Browser:
        """A browser whose requester is the first, an admin."""
        browser = self.browser()
        token = self.services.accounts.make_setup_token()
        browser.get(f"/setup/{token}")
        ended = browser.post(
            f"/setup/{token}", name=name, password=PASSWORD, again=PASSWORD, expect=303
        )
        assert ended.headers["location"].endswith("/projects")
        return browser

    def log_in(self, name: str, password: str = PASSWORD, *, expect: int = 303) -> Browser:
        """A browser that logs in; whoever has no account, and may come in, gets one."""
        if expect == 303:
            with suppress(Refused):
                self.services.accounts.add(name, password)
        browser = self.browser()
        browser.get("/login")
        browser.post("/login", name=name, password=password, expect=expect)
        if expect == 303:
            browser.get("/projects")
        return browser

    def make_token(self, **given: Any) -> str:
        """The secret of a token of the first requester: for all, or as is given."""
        ada = self.services.acting_for(self.services.accounts.log_in("ada", PASSWORD))
        return ada.accounts.make_token("t", **{"scope": "requester", **given})[1]

    def metrics(self) -> str:
        """The metrics, as a monitor gets them."""
        return self.browser(Authorization="Bearer metrics").client.get("/metrics").text

    def confirm_mail(self, slug: str) -> None:
        """Let every recipient of a project's mail confirm it."""
        for keys in self.services.settings.find("mail-keys:").values():
            for key in keys:
                with suppress(NotFound):
                    self.services.notices.answer(slug, key, "confirmed")

    def open_project(self, project: Project | None = None, **policy: object) -> str:
        """The slug of a project that is open to judges."""
        requested = project or small_project(**policy)
        if requested.seed is None:
            requested = replace(requested, seed=7)  # the same pages at every run
        made = self.services.projects.create(requested)
        self.services.projects.set_state(made.slug, "open")
        return made.slug


class Browser:
    """A browser without scripts: keeps cookies, and sends forms with the proof of its last page."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.text = ""
        self.proof = ""

    def get(self, path: str, *, expect: int = 200) -> httpx.Response:
        response = self.client.get(path, follow_redirects=expect < 300)
        assert response.status_code == expect, (path, response.status_code, response.text[-2000:])
        self._see(response)
        return response

    def post(
        self,
        path: str,
        *,
        expect: int = 303,
        proof: str | None = None,
        files: Any = None,
        **form: Any,
    ) -> httpx.Response:
        data = {"proof": self.proof if proof is None else proof, **form}
        response = self.client.post(path, data=data, files=files)
        assert response.status_code == expect, (path, response.status_code, response.text[-2000:])
        self._see(response)
        return response

    def _see(self, response: httpx.Response) -> None:
        if "text/html" in response.headers.get("content-type", ""):
            self.text = response.text
            found = re.search(r'name="proof" value="([^"]+)"', self.text)
            found = found or re.search(r'X-Form-Proof": "([^"]+)"', self.text)
            if found:
                self.proof = found[1]

    @property
    def words(self) -> str:
        """What a person reads of the page."""
        shown = re.sub(r"<(script|style).*?</\1>", " ", self.text, flags=re.DOTALL)
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", shown)).split())

    # -- judging

    def join(self, slug: str) -> Browser:
        """Come by the open link, and agree."""
        self.get(f"/j/{slug}")
        self.post(f"/j/{slug}/begin")
        self.get(f"/j/{slug}")
        return self

    @property
    def page(self) -> str:
        found = re.search(r'data-page="([^"]+)"', self.text)
        assert found, self.words
        return found[1]

    @property
    def is_judging(self) -> bool:
        return 'data-page="' in self.text

    @property
    def rows(self) -> list[int]:
        return [int(row) for row in re.findall(r'data-row="(\d+)"', self.text)]

    def answers(self, *, wrong: bool = False) -> dict[str, str]:
        """The answer to each row that its title gives away, or the other one."""
        parts = re.split(r'data-row="(\d+)"', self.text)[1:]
        given = {"key": re.search(r'name="key" value="([^"]+)"', self.text)[1]}  # type: ignore[index]
        for row, text in zip(parts[::2], parts[1::2], strict=True):
            good = "A good lamp" in text
            given[f"label-{row}"] = LABELS[0] if good is not wrong else LABELS[1]
        return given

    def answer(self, slug: str, *, wrong: bool = False) -> Browser:
        """Answer the page that is open, and see what is next."""
        response = self.post(f"/j/{slug}/pages/{self.page}", **self.answers(wrong=wrong))
        self.get(response.headers["location"])
        return self

    def go_on(self, slug: str) -> Browser:
        """Go past all messages, to the next page or the end; read a warning."""
        self.get(f"/j/{slug}")
        if "I have read them" in self.text:
            self.post(f"/j/{slug}/warned")
            self.get(f"/j/{slug}")
        return self

    def train(self, slug: str) -> Browser:
        """Through the training without a mistake."""
        while 'data-kind="training"' in self.text:
            self.answer(slug).go_on(slug)
        return self


def page_routes() -> list[APIRoute]:
    """Every route of pages and forms, in any module of the web layer."""
    modules = [import_module(f"{web.__name__}.{part.name}") for part in iter_modules(web.__path__)]
    return [
        route
        for module in modules
        if hasattr(module, "router")
        for route in module.router.routes
        if isinstance(route, APIRoute) and not route.include_in_schema
    ]


class _PromptServer(uvicorn.Server):
    """uvicorn, which ends when it is asked to, and does not look ten times a second.

    By itself it takes a fifth of a second to end, and most tests here end one.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()  # or ended before it was

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            super().run(sockets)
        finally:
            self.ready.set()

    async def main_loop(self) -> None:
        self._loop, self._told = asyncio.get_running_loop(), asyncio.Event()
        ticks = asyncio.create_task(super().main_loop())  # it brings the date of answers forward
        self.ready.set()
        await self._told.wait()
        ticks.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        while self.server_state.connections or self.server_state.tasks:
            await asyncio.sleep(0.001)
        await self.lifespan.shutdown()

    def end(self) -> None:
        """Have it end, once what is under way is done."""
        self._loop.call_soon_threadsafe(self._told.set)


@contextmanager
def served(folder: Path, **settings: Any) -> Iterator[Site]:
    """A server on a port of its own, until the end of the block."""
    if "database" not in settings:
        path = folder / "site.db"
        if not path.exists():
            write_empty(path)
        settings["database"] = f"sqlite:///{path}"
    settings.setdefault("refit_seconds", 0.0)
    settings.setdefault("metrics_token", "metrics")
    chosen = Settings(**settings)
    app = create_app(chosen)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = _PromptServer(uvicorn.Config(app, **UVICORN))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    assert server.ready.wait(300), "the server did not start in five minutes"
    assert server.started, "the server did not start"
    port = listener.getsockname()[1]
    site = Site(f"http://127.0.0.1:{port}{chosen.prefix}", app.state.parts, chosen)
    try:
        yield site
    finally:
        for client in site.clients:
            client.close()
        server.end()
        thread.join(timeout=300)
        listener.close()
        assert not thread.is_alive(), "the server did not stop"


class Api:
    """A client with a token."""

    def __init__(self, site: Site, secret: str) -> None:
        headers = {"Authorization": f"Bearer {secret}"}
        self.client = httpx.Client(
            base_url=f"{site.url}/api/v1", headers=headers, timeout=300, verify=False
        )
        site.clients.append(self.client)

    def __call__(self, method: str, path: str, *, expect: int = 200, **given: Any) -> Any:
        response = self.client.request(method, path, **given)
        assert response.status_code == expect, (response.status_code, response.text)
        if response.status_code == 204:
            return None
        body = response.json()
        if expect >= 400:
            assert set(body) == {"error"}
            assert {"code", "message", "request"} <= set(body["error"])
            assert body["error"]["request"] == response.headers["x-request-id"]
        return body
