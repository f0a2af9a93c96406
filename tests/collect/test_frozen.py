"""Databases, archives and logs of earlier versions open, replay and export as they always did.

``frozen/README.md`` says how the files were made. They are never made again by a later version.
"""

from __future__ import annotations

import csv
import io
import json
import lzma
import math
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Awaitable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from anyio.from_thread import BlockingPortal, start_blocking_portal

from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.replay import LogReplay
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.values.requesting import LogEntry
from adjudge.collect.web.app import create_app
from adjudge.collect.web.settings import Settings
from stores import copy_rows, new_postgresql

FROZEN = Path(__file__).parent / "frozen"
SCHEMAS = ("0001", "0004", "0019", "0020")
WITH_UPLOADS = ("0019", "0020")  # whose drafts keep the files that they were read from
# Answers that the API gave then, and does not give any more: pages and commands have them, and
# these formats are only read.
GONE = re.compile(
    r"/(deliveries|members|member-links|notifications|plan|panel|gold-forecast|gold-suggestions)"
    r"(\?.*)?$|/export/(judgments|gold|labels)-(alt-test|appen|appen-aggregated|label-studio|"
    r"quepid-book-json|trec-2011)$"
)
ANY = "*"  # in recorded data: any value, such as a sentence
PASSWORD = "correct horse battery"


class Visitor:
    """A client of the app in this process, without background work: reading changes nothing."""

    def __init__(self, app: Any, portal: BlockingPortal, token: str) -> None:
        self._portal = portal
        self.token = {"Authorization": f"Bearer {token}"}
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://frozen.example"
        )

    def _run(self, request: Awaitable[httpx.Response]) -> httpx.Response:
        async def wait() -> httpx.Response:
            return await request

        return self._portal.call(wait)

    def api(self, method: str, path: str, **given: Any) -> httpx.Response:
        path = f"/api/v1{path}"
        return self._run(self.client.request(method, path, headers=self.token, **given))

    def get(self, path: str) -> httpx.Response:
        return self._run(self.client.get(path, follow_redirects=True))

    def send(self, path: str, form: dict[str, Any], *, seen: str, **given: Any) -> httpx.Response:
        """Send a form with the proof of the page that was seen."""
        proof = re.search(r'name="proof" value="([^"]+)"', self.get(seen).text)
        assert proof is not None
        return self._run(self.client.post(path, data={"proof": proof[1], **form}, **given))

    def log_in(self) -> None:
        sent = self.send("/login", {"name": "ada", "password": PASSWORD}, seen="/login")
        assert sent.status_code == 303

    def restore(self, archive: bytes, name: str) -> str:
        """The slug of a project that is made again from its archive."""
        files = {"files": ("project.zip", archive, "application/zip")}
        form = {"name": name}
        sent = self.send("/projects/upload", form, seen="/projects/new", files=files)
        found = re.search(r"/projects/([^/]+)/begin", sent.headers["location"])
        assert found is not None
        return found[1]


@contextmanager
def visiting(database: str, folder: Path, token: str = "") -> Iterator[Visitor]:
    """The app on a database, with the secret that links were signed with."""
    secret = folder / "secret"
    secret.write_text("0" * 64)
    secret.chmod(0o600)
    app = create_app(Settings(database=database, secret_file=str(secret)))
    with start_blocking_portal() as portal:  # a browser of another test may hold this thread's loop
        try:
            yield Visitor(app, portal, token)
        finally:
            app.state.parts.database.close()


def read_recorded(schema: str) -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(
        lzma.decompress((FROZEN / f"{schema}.json.xz").read_bytes())
    )
    return recorded


def unpack(schema: str, folder: Path) -> Path:
    """The SQLite file of a schema."""
    path = folder / f"{schema}.db"
    path.write_bytes(lzma.decompress((FROZEN / f"{schema}.db.xz").read_bytes()))
    with closing(sqlite3.connect(path)) as on:
        assert on.execute("SELECT version_num FROM alembic_version").fetchone() == (schema,)
    return path


@pytest.fixture(params=SCHEMAS)
def schema(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, schema: str, tmp_path: Path) -> str:
    """The URL of a database of an earlier schema, with all its rows, not yet migrated."""
    path = unpack(schema, tmp_path)
    if request.param == "sqlite":
        return f"sqlite:///{path}"
    store = new_postgresql(request.getfixturevalue("postgres"), revision=schema)
    source = sa.create_engine(f"sqlite:///{path}")
    with source.connect() as reading, store.engine.begin() as on:
        copy_rows(reading, on)
    source.dispose()
    store.close()
    return store.url.render_as_string(hide_password=False)


def parse(response: httpx.Response, path: str) -> Any:
    """The content of a response as comparable data."""
    name = path.partition("?")[0].rpartition("/export/")[2]
    if "/export/" not in path or response.status_code != 200:
        found = response.json()
        return found if response.status_code == 200 else found["error"]["code"]
    if name == "archive":
        return read_archive(response.content)
    return read_text(response.text, name)


def read_text(text: str, name: str) -> Any:
    """A table as rows of cells, JSON as values, anything else as text."""
    if text.startswith(("{", "[")):
        lines = text.splitlines()
        many = len(lines) > 1 and lines[1].startswith("{")
        return [json.loads(line) for line in lines] if many else json.loads(text)
    if name.endswith(("-trec", "-qrels", ".md")):
        return text
    return [*csv.reader(io.StringIO(text), delimiter="\t" if name.endswith("-tsv") else ",")]


def read_archive(body: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return {one: read_text(archive.read(one).decode(), one) for one in archive.namelist()}


# What earlier versions had wrong: cost without short pages, closed items without decided ones,
# seconds of judges with those of answers that are no label.
CORRECTED = re.compile(
    r"/(cost_to_finish|closed)$|/judges\b.*/seconds$"
    r"|/savings/(fixed_accuracy|equal(_share|_money)?|most_tried|fitted)$"  # not shown any more
)


def _as_time(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def find_changes(before: Any, after: Any, place: str = "") -> list[str]:
    """Where data differ from what was recorded; an object may have more fields than it had."""
    if before in (ANY, after):
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            change
            for name, value in before.items()
            if not CORRECTED.search(f"{place}/{name}")
            for change in find_changes(value, after.get(name, "missing"), f"{place}/{name}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [c for at, (b, a) in pairs for c in find_changes(b, a, f"{place}/{at}")]
    if _as_time(before) is not None and _as_time(before) == _as_time(after):
        return []  # the same moment, spelt with +00:00 or Z
    try:
        same = math.isclose(float(before), float(after), rel_tol=1e-9, abs_tol=1e-12)
    except (TypeError, ValueError):
        same = False
    return [] if same else [f"{place}: {before!r:.200} became {after!r:.200}"]


def test_a_database_of_an_earlier_schema(old: str, schema: str, tmp_path: Path) -> None:
    recorded = read_recorded(schema)
    with visiting(old, tmp_path, recorded["token"]) as visitor:
        check_answers(visitor, recorded["answers"])
        check_log(old)
        visitor.log_in()
        check_pages(visitor, recorded["pages"])
        check_use(visitor)
        if schema in WITH_UPLOADS:
            check_upload(visitor)


def check_answers(visitor: Visitor, recorded: dict[str, Any]) -> None:
    """Every answer and export of the API is as it was."""
    changes = []
    for path, before in recorded.items():
        response = visitor.api("GET", path)
        if GONE.search(path):
            assert response.status_code == 404, path
            continue
        changes += find_changes(before, [response.status_code, parse(response, path)], path)
    assert changes == []


def check_log(url: str) -> None:
    """The log replays to how judges stand."""
    with closing(Database(url)) as store:
        projects = RequesterServices(store).projects
        slugs = [project.slug for project in projects.get_all()]
        assert "lamps" in slugs
        assert {slug: projects.audit(slug) for slug in slugs} == {slug: [] for slug in slugs}
        moved = ("fit", "plan", "ranking", "new")  # settings that have tables of their own now
        assert [name for name in RequesterServices(store).settings.find("")
                if name.startswith(moved)] == []  # fmt: skip


def check_pages(visitor: Visitor, recorded: dict[str, Any]) -> None:
    """Pages are shown with what was stored; reports without any change."""
    for path, (digest, words) in recorded.items():
        shown = visitor.get(path)
        assert shown.status_code == 200, path
        assert digest in (ANY, digest_of(shown.text)), path
        assert [word for word in words if word not in shown.text] == [], path


def check_use(visitor: Visitor) -> None:
    """Collecting goes on: the policy changes, judges come, fits are asked for."""
    version = visitor.api("GET", "/projects/lamps/policy").json()["version"]
    changed = visitor.api("PATCH", "/projects/lamps/policy", json={"training": False}).json()
    assert changed["version"] == version + 1
    newcomer = {"key": "somebody new", "kind": "person", "consent": True}
    arrived = visitor.api("POST", "/projects/lamps/arrivals", json=newcomer).json()
    page = visitor.api("POST", f"/judges/{arrived['ticket']}/page").json()["page"]
    assert page["kind"] == "work"
    asked = visitor.api("POST", "/projects/lamps/consensus", json={"model": "vote"})
    assert asked.status_code == 202


def check_upload(visitor: Visitor) -> None:
    """The files that a draft was read from are still there, and can be read in another way."""
    begin = "/projects/uploaded/begin"
    parts = {"query": "query", "document": "document", "title": "title", "shelf": "category"}
    form = {"do": "columns", "column": [*parts], "part": [*parts.values()]}
    assert visitor.send(begin, form, seen=begin).status_code == 303
    path = "/projects/uploaded/export/archive"
    items = parse(visitor.api("GET", path), path)["items.jsonl"]
    assert [item["category"] for item in items] == ["a", "b", "c"]


def digest_of(text: str) -> int:
    """A number that changes with any character."""
    return zlib.crc32(text.encode())


@pytest.mark.parametrize("name", [*SCHEMAS, "pairs"])
def test_an_archive_is_restored_and_comes_out_equal(
    name: str, sqlite: Database, tmp_path: Path
) -> None:
    body = (FROZEN / f"{name}.zip").read_bytes()
    services = RequesterServices(sqlite)
    services.accounts.set_up(services.accounts.make_setup_token(), "ada", PASSWORD)
    url = sqlite.url.render_as_string()
    with visiting(url, tmp_path) as visitor:
        visitor.log_in()
        slug = visitor.restore(body, "")
        again = visitor.get(f"/projects/{slug}/export/archive").content
        before, after = read_archive(body), read_archive(again)
        for part in ("project.json", "guidelines.md", "items.jsonl", "gold.jsonl"):
            assert find_changes(before[part], after[part], part) == []
        assert len(after["answers.csv"]) == 1  # the header: answers stay in the archive
        second = visitor.restore(again, "Twice")
        twice = read_archive(visitor.get(f"/projects/{second}/export/archive").content)
        assert twice["items.jsonl"] == after["items.jsonl"]
        assert twice["gold.jsonl"] == after["gold.jsonl"]


def replay(name: str) -> dict[str, Any]:
    """Where judges stand by the log in an archive."""
    with zipfile.ZipFile(FROZEN / f"{name}.zip") as archive:
        lines = archive.read("log.jsonl").decode().splitlines()
    entries = []
    for line in reversed(lines):  # the newest come first
        fields = json.loads(line)
        fields["time"] = datetime.fromisoformat(fields["time"])
        entries.append(LogEntry(**fields))
    played = LogReplay().play(entries)
    records = {judge: asdict(record) for judge, record in played.records.items()}
    return {"records": records, "refreshers": played.refreshers, "faults": played.faults}


@pytest.mark.parametrize("name", [*SCHEMAS, "pairs"])
def test_an_exported_log_replays_to_the_same_state(name: str) -> None:
    recorded = json.loads((FROZEN / "replayed.json").read_text())
    assert find_changes(recorded[name], replay(name)) == []


def test_policies_of_every_version_load() -> None:
    for case in json.loads((FROZEN / "policies.json").read_text()):
        loaded = Policy.from_dict(case["given"]).to_dict()
        assert find_changes({**case["given"], **case["added"]}, loaded) == []
