"""The server answers others while it reads the largest upload that it allows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from sites import PASSWORD, Site, served, small_project

pytestmark = pytest.mark.slow
LIMIT = 20_000_000  # what Settings allow if nothing else is said
ROOM = LIMIT - 10_000


def filled(head: bytes, piece: bytes, tail: bytes = b"") -> bytes:
    return head + piece * ((ROOM - len(head) - len(tail)) // len(piece)) + tail


def table() -> bytes:
    rows = (b"i%d,q%d,%s\n" % (n, n // 10, b"x" * 90) for n in range(190_000))
    return b"item,query,title\n" + b"".join(rows)


def book() -> bytes:
    pair = b'{"query_text":"q","doc_id":"d","x":[]},   ' + b" " * 20
    return filled(b'{"query_doc_pairs":[', pair, b"{}]}")


RUN = ("run.txt", b"1 Q0 d1 1 1.5 tag\n")
FILES: dict[str, Callable[[], list[tuple[str, bytes]]]] = {
    "a table": lambda: [("items.csv", table())],
    "a book of pairs": lambda: [("book.json", book())],
    "tags never closed": lambda: [
        RUN,
        ("topics.txt", filled(b"<top>", b"<num> some words <title> ")),
    ],
    "a run": lambda: [("run.txt", filled(b"", b"1 Q0 document 1 1.5 run\n"))],
    "headers of a form": list,
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, str]]:
    with served(tmp_path_factory.mktemp("large")) as site:
        site.set_up()
        acting = site.services.acting_for(site.services.accounts.log_in("ada", PASSWORD))
        acting.projects.create(small_project())
        yield site, acting.accounts.make_token("large", scope="requester")[1]


@pytest.mark.parametrize("kind", FILES)
def test_health_is_told_within_a_second(running: tuple[Site, str], kind: str) -> None:
    site, token = running
    files = [("files", file) for file in FILES[kind]()]
    headers = {"Authorization": f"Bearer {token}"}

    def upload() -> int:
        where = f"{site.url}/api/v1/projects/lamps/import?check=true"
        with httpx.Client(headers=headers, timeout=240) as client:
            if files:
                return client.post(where, files=files).status_code
            kind = {"content-type": "multipart/form-data; boundary=x"}
            body = filled(b"--x\r\nContent-Disposition: form-data; a=", b"abcdefgh")
            return client.post(where, content=body, headers=kind).status_code

    waits = []
    with ThreadPoolExecutor(1) as pool, httpx.Client(base_url=site.url, timeout=60) as client:
        sent = pool.submit(upload)
        while not sent.done():
            begun = time.monotonic()
            assert client.get("/healthz").status_code == 200
            waits.append(time.monotonic() - begun)
            time.sleep(0.01)
    assert sent.result() in (200, 400, 413, 422)
    assert max(waits) < 1.0, f"{max(waits):.2f} s, of {len(waits)} tries"
