"""The server answers others while it reads the largest upload that it allows."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from adjudge.collect import importing
from adjudge.collect.importing import Upload
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from crowds import ServerProcess, prepare
from sites import Api, served, small_project
from sizes import sized
from stores import new_store
from waiting import wait_until

pytestmark = pytest.mark.slow
LIMIT = 20_000_000  # what Settings allow if nothing else is said
ROOM = LIMIT - 10_000


def filled(head: bytes, piece: bytes, tail: bytes = b"") -> bytes:
    return head + piece * ((ROOM - len(head) - len(tail)) // len(piece)) + tail


ITEMS = sized(12_000, full=190_000)  # of a table, each a line of a hundred characters


def table() -> bytes:
    rows = (b"i%d,q%d,%s\n" % (n, n // 10, b"x" * 90) for n in range(ITEMS))
    return b"item,query,title\n" + b"".join(rows)


def book() -> bytes:
    """As large as it may be; what takes longest to read it is how many pairs there are."""
    pair = b'{"query_text":"q","doc_id":"d","x":[]},   ' + b" " * sized(220, full=20)
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


def _status(pid: int) -> list[str]:
    """The system's status of a process, from its state on; empty for one that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _times(pid: int) -> list[int]:
    """Ticks of processor time: its own, in programs and the system, and of children that ended."""
    return [int(ticks) for ticks in _status(pid)[11:15]]


def _children(pid: int) -> list[int]:
    every = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
    return [one for one in every if _status(one)[1:2] == [str(pid)]]


@dataclass
class Running:
    """A server in a process of its own: what a client does here takes nothing from it."""

    server: ServerProcess
    database: Database
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def where(self) -> str:
        return f"{self.server.url}/api/v1/projects/lamps/import"

    def upload(self, kind: str, *, check: bool = True) -> httpx.Response:
        files = [("files", file) for file in FILES[kind]()]
        with httpx.Client(headers=self.headers, timeout=3000, verify=False) as client:
            if files:
                return client.post(self.where, params={"check": check}, files=files)
            about = {"content-type": "multipart/form-data; boundary=x"}
            body = filled(b"--x\r\nContent-Disposition: form-data; a=", b"abcdefgh")
            return client.post(self.where, content=body, headers=about)

    def count(self, what: str) -> float:
        """A figure of the server."""
        known = {"authorization": "Bearer metrics"}
        where = f"{self.server.url}/metrics"
        text = httpx.get(where, headers=known, timeout=300, verify=False).text
        lines = dict(line.rsplit(" ", 1) for line in text.splitlines())
        return float(lines.get(f'adjudge_events_total{{event="{what}"}}', 0))

    @property
    def pid(self) -> int:
        assert self.server.process is not None
        return self.server.process.pid

    def worked(self) -> float:
        """Seconds of processor time that the server and the processes that read have had."""
        ended = None
        while ended != (ended := _times(self.pid)[2:]):  # one that ends is counted once
            running = sum(sum(_times(child)[:2]) for child in _children(self.pid))
        return (running + sum(_times(self.pid))) / os.sysconf("SC_CLK_TCK")

    def readers(self) -> list[int]:
        """The processes that the server has read files."""
        found = []
        for child in _children(self.pid):
            try:
                command = Path(f"/proc/{child}/cmdline").read_bytes()
            except OSError:
                continue  # it has ended meanwhile
            if b"importing.process" in command:
                found.append(child)
        return found

    def begin_upload(self) -> socket.socket:
        """A connection by which a large file was sent, and which waits for the answer."""
        head = b'--x\r\nContent-Disposition: form-data; name="files"; filename="b.json"\r\n\r\n'
        body = head + book() + b"\r\n--x--\r\n"
        given = "POST /api/v1/projects/lamps/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
        given += f"{self.token}\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        client = socket.create_connection(("127.0.0.1", self.server.port))
        client.sendall(f"{given}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return client


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("large")
    database = new_store(folder / "large.db")
    _, token = prepare(database, small_project())
    server = ServerProcess(f"sqlite:///{folder / 'large.db'}", folder)
    yield Running(server, database, token)
    server.stop()
    database.close()


@pytest.fixture
def running(kept: Running) -> Running:
    """The server that the tests share, started where it does not run."""
    if kept.server.process is None or kept.server.process.poll() is not None:
        kept.server.start()
    return kept


@pytest.fixture
def check_health(running: Running) -> Callable[[Future[httpx.Response]], None]:
    """Ask for health until an upload is done, and check that it is always answered.

    Neither the server nor who reads for it does a second of work while health is waited for: by the
    clock that may take longer, on a machine that does other things.
    """

    def check(sent: Future[httpx.Response]) -> None:
        work = [0.0]
        with httpx.Client(timeout=300, verify=False) as client:
            while not sent.done():
                worked = running.worked()
                assert client.get(f"{running.server.url}/healthz").status_code == 200
                work.append(running.worked() - worked)
                time.sleep(0.2)
        assert max(work) < 1.0

    return check


Check = Callable[[Future[httpx.Response]], None]


@pytest.mark.parametrize(
    "kind",
    [
        "a book of pairs",
        "headers of a form",
        pytest.param("tags never closed", marks=pytest.mark.full),
        pytest.param("a run", marks=pytest.mark.full),
    ],
)
def test_health_is_reported_within_a_second(
    running: Running, check_health: Check, kind: str
) -> None:
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(running.upload, kind)
        check_health(sent)
    assert sent.result().status_code in (200, 400, 413, 422)
    assert running.readers() == []


def test_large_table_is_stored(running: Running, check_health: Check) -> None:
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(running.upload, "a table", check=False)
        check_health(sent)
    assert sent.result().json()["items"] == ITEMS
    with running.database.read() as on:
        names = set(on.scalars(sa.select(schema.items.c.name)))
    assert {f"i{n}" for n in range(ITEMS)} <= names


def test_reader_ends_when_its_client_leaves(running: Running) -> None:
    before = running.count("disconnected")
    client = running.begin_upload()
    wait_until(lambda: running.readers() != [], 300, "a process reads")
    client.close()
    wait_until(lambda: running.readers() == [], 300, "the process has ended")
    wait_until(lambda: running.count("disconnected") == before + 1, 300, "the server knows it")


def test_reader_that_dies_is_a_fault_of_one_request(running: Running) -> None:
    with running.begin_upload() as client:
        wait_until(lambda: running.readers() != [], 300, "a process reads")
        os.kill(running.readers()[0], signal.SIGKILL)
        assert client.recv(100).startswith(b"HTTP/1.1 500")
    assert httpx.get(f"{running.server.url}/healthz", timeout=300, verify=False).status_code == 200


def test_readers_end_with_the_server(running: Running) -> None:
    with running.begin_upload():
        wait_until(lambda: running.readers() != [], 300, "a process reads")
        pid = running.readers()[0]
        running.server.stop()
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), 300, "the process has ended")


def test_errors_are_reported_like_those_of_small_files(tmp_path: Path) -> None:
    """The same files, read here and in a process of its own, with something wrong in them."""
    lines = [f"i{n},q{n // 10},{'' if n % 220 == 5 else 'x' * 300}" for n in range(4_500)]
    files = {
        "items.csv": "\n".join(["item,query,title", *lines]).encode(),
        "gold.csv": b"item,gold\ni1,Good\ni2,Middling\nnowhere,Bad\n",
    }
    packed = gzip.compress(files["items.csv"])
    assert len(files["items.csv"]) > 1_000_000 > len(packed)
    with served(tmp_path) as site:
        site.set_up()
        site.open_project()
        api = Api(site, site.make_token()).client
        scale, known, topics = site.services.projects.get_known("lamps")
        here = importing.read(
            [Upload(name=name, body=body) for name, body in files.items()],
            scale=scale, known=known, topics=topics,
        )  # fmt: skip
        assert len(here.errors) == 23
        for items in (("items.csv", files["items.csv"]), ("items.csv", packed)):
            sent = [("files", items), ("files", ("gold.csv", files["gold.csv"]))]
            answer = api.post("/projects/lamps/import", files=sent)
            assert answer.status_code == 422
            said = answer.json()["error"]
            assert said["message"] == str(here.errors[0])
            assert said["faults"] == [
                {"at": error.place, "problem": error.problem} for error in here.errors
            ]


def test_reading_has_an_end(tmp_path: Path) -> None:
    with served(tmp_path, upload_seconds=0.001) as site:
        browser = site.set_up()
        browser.get("/projects/new")
        browser.post(
            "/projects/upload", expect=422, files={"items": ("book.json", book())},
            name="Slow", labels="Bad < Good", do="check",
        )  # fmt: skip
        assert "takes longer than 0.001 seconds to read; expected less" in browser.words
