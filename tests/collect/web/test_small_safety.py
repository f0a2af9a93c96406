"""Smaller promises of the page on safety, a test each."""

from __future__ import annotations

import io
import re
import socket
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import sqlalchemy as sa

from adjudge.collect.services._stored_projects import _RESERVED
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database, migration_config
from adjudge.collect.store.schema import VERSIONS
from adjudge.errors import BadSetting
from collecting import made_project, sqlite_first
from sites import Api, Site, page_routes, served, small_project


def test_a_login_that_is_right_is_no_guess(tmp_path: Path) -> None:
    with served(tmp_path, login_attempts=2) as site:
        site.set_up()
        for _ in range(5):
            site.log_in("ada")


def test_sixty_guesses_at_once_are_no_more_than_one_after_the_other(tmp_path: Path) -> None:
    with served(tmp_path, login_attempts=10) as site:
        site.set_up()
        browsers = [site.browser() for _ in range(60)]
        for browser in browsers:
            browser.get("/login")

        def guess(number: int) -> int:
            form = {"proof": browsers[number].proof, "name": "ada", "password": f"guess {number}"}
            return browsers[number].client.post("/login", data=form).status_code

        with ThreadPoolExecutor(60) as pool:
            answers = list(pool.map(guess, range(60)))
    assert sorted(set(answers)) == [401, 429]
    assert answers.count(401) == 10


def test_slugs_that_are_addresses_are_reserved(site: Site) -> None:
    paths = [route.path for route in page_routes()]
    taken = {found[1] for path in paths if (found := re.match(r"/(?:projects|j)/([a-z-]+)", path))}
    assert {"new", "upload", "starter"} <= taken <= _RESERVED
    for name in sorted(taken):
        made = site.services.projects.create(small_project(name=name))
        assert made.slug == f"{name}-2"


def test_where_a_script_is_led_is_escaped(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    ada.get(f"/projects/{slug}")
    for headers in ({"hx-request": "true"}, {}):
        for name in ("a\u2028b", "x\u00e9 y"):
            response = ada.client.post(
                f"/projects/{slug}/judges/{name}/unblock",
                data={"proof": ada.proof},
                headers=headers,
            )
            assert response.status_code == 404  # there is no such judge, and no fault
    path = f"/j/{slug}/warned"
    judge = site.browser().join(slug)
    response = judge.client.post(path, data={"proof": judge.proof}, headers={"hx-request": "true"})
    assert response.headers["hx-redirect"] == f"/j/{slug}"


def test_a_path_that_no_header_can_hold_is_escaped(site: Site) -> None:
    from starlette.requests import Request

    from adjudge.collect.web._pages import go

    for headers in ([(b"hx-request", b"true")], []):
        request = Request({"type": "http", "headers": headers, "root_path": ""})
        response = go(request, "/j/\u00e9\r\nSet-Cookie: x\u2028?a=b&c=%20#d")
        place = response.headers.get("hx-redirect") or response.headers["location"]
        assert place == "/j/%C3%A9%0D%0ASet-Cookie:%20x%E2%80%A8?a=b&c=%20#d"


@sqlite_first
@pytest.mark.parametrize("name", ["currency", "code_finished", "return_link", "consent"])
def test_texts_of_a_policy_have_lengths_and_no_control_characters(
    database: Database, name: str
) -> None:
    services = RequesterServices(database)
    slug = services.projects.create(made_project(topics=1, golds=0)).slug
    for text in ("a\0b", "a\x1bb", "a\ud800b", "x" * 100_000):
        with pytest.raises(BadSetting, match=name):
            services.projects.set_policy(slug, {name: text})
    if name == "consent":
        services.projects.set_policy(slug, {name: "Two lines,\n\tand \U0001f600."})
        assert services.projects.get_policy(slug)[0].consent == "Two lines,\n\tand \U0001f600."


def test_a_schema_from_the_future_is_one_plain_sentence(tmp_path: Path) -> None:
    path = tmp_path / "future.db"
    with Database(path).engine.begin() as on:
        on.execute(sa.text("UPDATE alembic_version SET version_num = '0099'"))
    with pytest.raises(BadSetting) as raised:
        Database(path)
    assert str(raised.value) == (
        f"database = 'sqlite:///{path}': expected a schema up to {VERSIONS[-1]}; this one is 0099, "
        "of a newer adjudge"
    )


def test_the_versions_of_the_schema_are_the_migrations() -> None:
    from alembic.script import ScriptDirectory

    found = ScriptDirectory.from_config(migration_config()).walk_revisions()
    assert tuple(sorted(script.revision for script in found)) == VERSIONS


@pytest.fixture
def checked(site: Site) -> Callable[[str, bytes], httpx.Response]:
    """How files are checked over the API."""
    site.set_up()
    slug = site.services.projects.create(small_project()).slug
    api = Api(site, site.make_token()).client
    where = f"/projects/{slug}/import?check=true"
    return lambda name, body: api.post(where, files={"files": (name, body)})


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("a.jsonl", b'{"item": "i", "query": "q", "title": "\\ud800"}\n'),
        ("a.jsonl", b'{"item": "i\\udfff", "query": "q", "title": "t"}\n'),
        ("a.jsonl", b'{"item": "g0", "gold": "Good", "reason": "\\ud83d"}\n'),
        ("a.jsonl", b'{"item": "i", "query": "q", "title": "a\\u0000b"}\n'),
        ("a.jsonl", b'{"item": ' + b"1" * 5_000 + b', "query": "q", "title": "t"}\n'),
        ("a.jsonl", b'{"item": ' + b"[" * 900 + b"]" * 900 + b', "query": "q", "title": "t"}\n'),
        ("b.json", b'{"query_doc_pairs": [{"query_text": "q", "doc_id": "d", "judgements": 7}]}'),
        ("t.txt", b"1 Q0 d 1 1 t\n"),
    ],
)
def test_what_no_database_could_store_is_found_by_the_check(
    checked: Callable[[str, bytes], httpx.Response], name: str, body: bytes
) -> None:
    response = checked(name, body)
    assert response.status_code == 422, response.text
    assert response.json()["error"]["code"] in ("bad-form", "bad-data")


def test_a_damaged_archive_is_found_by_the_check(
    checked: Callable[[str, bytes], httpx.Response],
) -> None:
    lines = b"".join(b'{"item": "i%d", "query": "q", "title": "t"}\n' % n for n in range(500))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jsonl", lines)
    full = packed.getvalue()
    assert checked("a.zip", full).status_code == 200
    for place in range(40, len(full) - 120, 7):
        damaged = full[:place] + bytes([full[place] ^ 0xFF]) + full[place + 1 :]
        response = checked("a.zip", damaged)
        assert response.status_code == 422, (place, response.text)


def test_headers_over_64_kilobytes_are_refused(site: Site) -> None:
    place = urlsplit(site.url)
    for line in (b"x-long: " + b"a" * 100_000, b"x-more: yes\r\n" * 10_000):
        with socket.create_connection((place.hostname, place.port), timeout=300) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n" + line)
            assert connection.recv(65_536).startswith(b"HTTP/1.1 400 ")
    assert site.browser().client.get("/healthz").status_code == 200
