"""A large project: 50,000 items and 1,000 judges, many of them at once, and what it costs.

    .venv/bin/python benchmarks/large_project.py [--items 50000] [--judges 1000] [--pages 2]
        [--requests 100000] [--clients 16] [--workers 1] [--write]
    PYTHONPATH=OLDER/src .venv/bin/python benchmarks/large_project.py --of COMMIT --write

The server runs as it comes, on SQLite; --workers gives it more processes. Clients take the part of
any of the judges: each asks for the next page and answers it, over HTTP with a token, and sends its
next request when the answer to the last is there, so that as many requests as clients are under way
at every moment. A requester looks on: at the overview every five seconds, as its page renews
itself, and every fifth time at the list of judges. That goes on for a number of requests, and the
memory is noted on the way. Then one client asks for each kind of thing by itself, and the CPU time
of the server is noted. At the end every acknowledged answer has to be stored, once, and no item may
have more judgments than it needs.

Every run is a line of large_project.jsonl; the page shows the newest, and that with several workers
if there is one, next to the newest of an older commit, whose source the second command names.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import socket
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from machine import commit, machine

from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer, Arrival
from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.data.scale import Scale
from collect import LABELS, PASSWORD, Server, free_port

ROOT = Path(__file__).resolve().parent
Times = dict[str, list[float]]
_EVERY = 5.0  # seconds between two looks of a requester


def made_project(count: int) -> Project:
    """So many items under a tenth as many queries, and a gold for every fifty."""

    def item(name: str, topic: int) -> Item:
        words = f"{name} " + "lorem ipsum dolor sit amet " * 12
        return Item(name=name, topic=f"t{topic}", query=f"query {topic}", title=name, text=words)

    work = [item(f"d{place}", place // 10) for place in range(count)]
    golds = [item(f"g{place}", place * 5) for place in range(count // 50)]
    policy = {"training": False, "require_consent": False, "warn_below": 0.0, "block_below": 0.0,
              "address_per_minute": 0, "address_per_hour": 0,
              "judgments_per_item": 8}  # work for all requests  # fmt: skip
    entries = tuple(GoldEntry(item=gold.name, accepted=(LABELS[0],)) for gold in golds)
    return Project(
        name="Large", scale=Scale(labels=LABELS), guidelines="# Large", items=(*work, *golds),
        golds=entries, policy=policy,
    )  # fmt: skip


def filled(path: Path, items: int, judges: int, pages: int) -> tuple[str, str, str]:
    """A store with a project that judges have worked on: its slug, and two tokens' secrets."""
    store = Database(path)
    services, desk = RequesterServices(store), JudgingService(store)
    ada = services.accounts.set_up(services.accounts.make_setup_token(), "ada", PASSWORD)
    acting = services.acting_for(ada)
    slug = acting.projects.create(made_project(items)).slug
    acting.projects.set_state(slug, "open")
    token, judging = acting.accounts.make_token("judges", scope="judge", project=slug)
    _, asking = acting.accounts.make_token("ada", scope="requester")
    for number in range(judges):
        key = f"{token.token}:judge {number}"  # as they are called who come by the API
        judge = desk.arrive(Arrival(project=slug, channel="api", key=key)).judge
        for _ in range(pages):
            page = desk.page(judge)
            if page is None:
                raise SystemExit("there are too few items for the judges")
            answers = [Answer(row=row.row, label=LABELS[row.row % 4]) for row in page.rows]
            desk.submit(judge, page.page, page.key, answers)
    store.close()
    return slug, judging, asking


class Browser:
    """A requester's browser: logged in, and no more than its cookie."""

    def __init__(self, port: int) -> None:
        self._link = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        self._cookie = ""
        found = re.search(r'name="proof" value="([^"]+)"', self.get("/login"))
        assert found
        form = {"proof": found[1], "name": "ada", "password": PASSWORD}
        self._ask("POST", "/login", urlencode(form))

    def get(self, path: str) -> str:
        return self._ask("GET", path)

    def _ask(self, method: str, path: str, body: str | None = None) -> str:
        headers = {"Cookie": self._cookie} if self._cookie else {}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._link.request(method, path, body, headers)
        answer = self._link.getresponse()
        text = answer.read().decode()
        if answer.status >= 400 or "/login" in answer.headers.get("location", ""):
            raise RuntimeError(f"{method} {path}: {answer.status} {text[-300:]}")
        for line in answer.headers.get_all("set-cookie") or ():
            self._cookie = line.partition(";")[0]
        return text


class Wire:
    """A client with one connection that is kept, and no more HTTP than our own server speaks.

    The clients share the processors with the server: what they need is taken from it.
    """

    def __init__(self, port: int, authorization: str) -> None:
        self._port, self._used = port, 0.0
        self._link: socket.socket | None = None
        self._head = f"Host: 127.0.0.1:{port}\r\nAuthorization: {authorization}\r\n"

    def close(self) -> None:
        if self._link is not None:
            self._link.close()

    def _open(self) -> socket.socket:
        """The connection; a new one where the server may have closed it, since nobody spoke."""
        if self._link is None or time.monotonic() - self._used > 10:
            self.close()
            self._link = socket.create_connection(("127.0.0.1", self._port), timeout=120)
            self._link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._used = time.monotonic()
        return self._link

    def ask(self, method: str, path: str, sent: Any = None) -> Any:
        link = self._open()
        head = f"{method} {path} HTTP/1.1\r\n{self._head}"
        body = b"" if sent is None else json.dumps(sent).encode()
        if method != "GET":
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        link.sendall(f"{head}\r\n".encode() + body)
        got = b""
        while (end := got.find(b"\r\n\r\n")) < 0:
            got += _more(link)
        status = int(got[9:12])
        length = int(got[:end].lower().partition(b"\r\ncontent-length:")[2].split(b"\r\n", 1)[0])
        while len(got) < end + 4 + length:
            got += _more(link)
        self._used = time.monotonic()
        read = got[end + 4 :]
        if status != 200:
            raise RuntimeError(f"{method} {path}: {status} {read[:300]!r}")
        return json.loads(read)


def _more(link: socket.socket) -> bytes:
    some = link.recv(262_144)
    if not some:
        raise RuntimeError("the server closed a connection")
    return some


class Crowd:
    """Clients that take the part of judges, and one requester who looks on."""

    def __init__(self, port: int, slug: str, secrets: tuple[str, str], judges: int) -> None:
        self.slug, self._port = slug, port
        self._judging, self._asking = (f"Bearer {secret}" for secret in secrets)
        self.judges = judges
        self.asking, self._api = Wire(port, self._asking), Wire(port, self._judging)
        self.times: Times = defaultdict(list)
        self.sent = self.stored = 0  # requests, and answers that were acknowledged
        self._lock = threading.Lock()

    def _timed(self, what: str, api: Wire, method: str, path: str, sent: Any = None) -> Any:
        begun = time.perf_counter()
        answer = api.ask(method, path, sent)
        with self._lock:
            self.times[what].append(time.perf_counter() - begun)
            self.sent += 1
        return answer

    def _count(self, outcome: Any) -> None:
        """Count the answers that a submit stored."""
        with self._lock:
            self.stored += 0 if outcome["again"] else outcome["stored"]

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Meanwhile a requester looks at the overview, and now and then at the list of judges."""
        over = threading.Event()

        def look() -> None:
            api, here, number = Wire(self._port, self._asking), f"/api/v1/projects/{self.slug}", 0
            while not over.wait(_EVERY):
                number += 1
                self._timed("overview", api, "GET", f"{here}/progress")
                if number % 5 == 0:
                    self._timed("judges", api, "GET", f"{here}/judges")

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def judge(self, number: int, until: int) -> None:
        """Take turns as judges of one's own share until so many requests were sent by all."""
        api = Wire(self._port, self._judging)
        rng = random.Random(number)
        while self.sent < until:
            key = f"judge {rng.randrange(self.judges)}"
            path = f"/api/v1/projects/{self.slug}/arrivals"
            ticket = self._timed("arrive", api, "POST", path, {"key": key})["ticket"]
            mine = f"/api/v1/judges/{ticket}"
            page = self._timed("next page", api, "POST", f"{mine}/page")["page"]
            if page is None:
                continue
            if rng.random() < 0.5:  # some leave their page open, and find it again
                rows = [row["row"] for group in page["groups"] for row in group["rows"]]
                answers = [{"row": row, "label": LABELS[row % 4]} for row in rows]
                body = {"key": page["key"], "answers": answers}
                there = f"{mine}/pages/{page['page']}"
                self._count(self._timed("submit", api, "POST", there, body))
            self._timed("state", api, "GET", mine)
        api.close()

    def turn(self, key: str) -> Iterator[tuple[str, Callable[[], Any]]]:
        """The requests of one turn of a judge, each to be sent before the next is asked for."""
        got: dict[str, Any] = {}

        def ask(what: str, method: str, path: str, sent: Any = None) -> Callable[[], None]:
            def send() -> None:
                got[what] = self._api.ask(method, path, sent)
                if what == "submit":
                    self._count(got[what])

            return send

        yield (
            "arrive",
            ask("arrive", "POST", f"/api/v1/projects/{self.slug}/arrivals", {"key": key}),
        )
        mine = f"/api/v1/judges/{got['arrive']['ticket']}"
        yield "next page", ask("next page", "POST", f"{mine}/page")
        page = got["next page"]["page"]
        if page is None:
            raise SystemExit("there are too few items for so many requests")
        rows = [row["row"] for group in page["groups"] for row in group["rows"]]
        answers = [{"row": row, "label": LABELS[row % 4]} for row in rows]
        body = {"key": page["key"], "answers": answers}
        yield "submit", ask("submit", "POST", f"{mine}/pages/{page['page']}", body)
        yield "state", ask("state", "GET", mine)

    def run(self, clients: int, until: int) -> None:
        """So many clients at once."""
        faults: list[str] = []

        def one(number: int) -> None:
            try:
                self.judge(number, until)
            except Exception as fault:  # noqa: BLE001 - reported by the main thread
                faults.append(f"{type(fault).__name__}: {fault}")

        threads = [threading.Thread(target=one, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise SystemExit(f"a client failed: {faults[0]}")


def _own(server: Server) -> tuple[float, float]:
    """Resident megabytes and CPU seconds of the server, without its fits."""
    held, spent = 0, 0.0
    for pid in _workers(server):
        status = Path(f"/proc/{pid}/status").read_text()
        held += int(status.split("VmRSS:")[1].split()[0])
        spent += time.clock_gettime((~pid << 3) | 2)  # of another process, as Linux has it
    return held * 1024 / 1e6, spent


def _workers(server: Server) -> list[int]:
    """The process of the server, and those that serve for it if there are several."""
    first = server.process.pid
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    serving = [
        int(child) for child in children
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]  # fmt: skip
    return [first, *serving]


def each_by_itself(server: Server, crowd: Crowd, browser: Browser, times: int) -> dict[str, float]:
    """CPU milliseconds of the server for one request of each kind, asked one after the other."""
    here = f"/projects/{crowd.slug}"
    kinds = {
        "overview, by the API": lambda: crowd.asking.ask("GET", f"/api/v1{here}/progress"),
        "overview, the page": lambda: browser.get(here),
        "judges, the page": lambda: browser.get(f"{here}/judges"),
    }
    found = {}
    for what, ask in kinds.items():
        ask()
        before = _own(server)[1]
        for _ in range(times):
            ask()
        found[what] = 1000 * (_own(server)[1] - before) / times
    spent = dict.fromkeys(("arrive", "next page", "submit", "state"), 0.0)
    for number in range(4 * times):
        for what, ask in crowd.turn(f"judge {number % crowd.judges}"):
            before = _own(server)[1]
            ask()
            spent[what] += _own(server)[1] - before
    return {**{what: 1000 * cpu / (4 * times) for what, cpu in spent.items()}, **found}


_COUNT = "SELECT count(*) FROM judgments"
_WRONG = {  # what must never be, by the number of rows of which it is true
    "items with more judgments than they need":
        "SELECT count(*) FROM items WHERE leased + trusted > needed",
    "items whose judgments are not those that are counted":
        "SELECT count(*) FROM items WHERE trusted != (SELECT count(*) FROM judgments WHERE "
        "item = items.id AND gold IS NULL AND NOT other AND standing = 'trusted')",
    "judges with two judgments of one item":
        "SELECT count(*) FROM (SELECT 1 FROM judgments WHERE gold IS NULL "
        "GROUP BY judge, item HAVING count(*) > 1)",
}  # fmt: skip


def check_store(path: Path, expected: int) -> None:
    """End unless every answer that was acknowledged is stored, once, and none is over N."""
    with closing(sqlite3.connect(path)) as store:
        stored = store.execute(_COUNT).fetchone()[0]
        if stored != expected:
            raise SystemExit(f"{expected:,} answers were acknowledged, {stored:,} are stored")
        for what, statement in _WRONG.items():
            if number := store.execute(statement).fetchone()[0]:
                raise SystemExit(f"{number:,} {what}")


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Everything, on a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.db"
        begun = time.perf_counter()
        slug, judging, asking = filled(path, options.items, options.judges, options.pages)
        print(f"filled in {time.perf_counter() - begun:.0f} s", file=sys.stderr)
        with closing(sqlite3.connect(path)) as store:
            before = store.execute(_COUNT).fetchone()[0]
        port = free_port()
        command = [sys.executable, "-m", "adjudge", "serve", "--port", str(port)]
        command += ["--database", str(path), "--workers", str(options.workers)]
        server = Server(command, port, "/readyz", {})
        try:
            crowd = Crowd(port, slug, (judging, asking), options.judges)
            memory = [(0, _own(server)[0])]
            cpu, loads, begun = _own(server)[1], [], time.perf_counter()
            with crowd.watched():
                for part in range(1, 11):
                    crowd.run(options.clients, options.requests * part // 10)
                    memory.append((crowd.sent, _own(server)[0]))
                    loads.append(os.getloadavg()[0])
                    print(f"{crowd.sent} requests, {memory[-1][1]:.0f} MB", file=sys.stderr)
            spent, seconds = _own(server)[1] - cpu, time.perf_counter() - begun
            each = each_by_itself(server, crowd, Browser(port), options.times)
        finally:
            server.stop()
        check_store(path, before + crowd.stored)
    times = {
        what: [round(1000 * cut, 1) for cut in (_cut(taken, 50), _cut(taken, 95))]
        for what, taken in crowd.times.items()
    }
    return {
        "date": time.strftime("%Y-%m-%d"), "commit": options.of or commit(ROOT.parent),
        "older": bool(options.of),
        "items": options.items, "judges": options.judges, "pages": options.pages,
        "clients": options.clients, "workers": options.workers,
        "requests": crowd.sent, "seconds": round(seconds, 1), "times": times,
        "memory": [[sent, round(held)] for sent, held in memory],
        "cpu_ms": round(1000 * spent / crowd.sent, 2),
        "cpu_ms_each": {what: round(cpu, 1) for what, cpu in each.items()},
        "load": round(statistics.mean(loads), 1), "processor": machine()["processor"],
        "cores": machine()["cores"],
    }  # fmt: skip


def _cut(taken: list[float], percent: int) -> float:
    return statistics.quantiles(taken, n=100)[percent - 1] if len(taken) > 1 else taken[0]


def written(sides: list[dict[str, Any]]) -> str:
    """The figures as tables: of this commit, with several workers, of another commit."""
    found, names = sides[0], [_name(side) for side in sides]

    def table(head: str, rows: list[tuple[str, list[Any]]]) -> list[str]:
        lines = [f"| {head} | {' | '.join(names)} |", "| --- |" + " --- |" * len(names)]
        return [
            *lines,
            *(f"| {what} | {' | '.join(map(str, cells))} |" for what, cells in rows),
            "",
        ]

    waited = [
        (what, ["{:.0f} / {:.0f}".format(*side["times"][what]) if what in side["times"] else "-"
                for side in sides])
        for what in sorted(found["times"])
    ]  # fmt: skip
    spent = [(what, [side["cpu_ms_each"].get(what, "-") for side in sides])
             for what in found["cpu_ms_each"]]  # fmt: skip
    spent.append(("on average, of all kinds, many at once", [side["cpu_ms"] for side in sides]))
    said = [
        f"{_name(side)}: {side['date']}; {side['items']:,} items, {side['judges']:,} judges "
        f"with {side['pages']} pages each, {side['clients']} clients, "
        f"{side['requests']:,} requests in {side['seconds']:.0f} s; "
        f"{side['processor']}, {side['cores']} cores, load {side['load']} (mean over the run)."
        for side in sides
    ]
    return "\n".join(
        [
            *table("ms by the clock, p50 / p95", waited),
            *table("CPU ms of the server", spent),
            "| memory in MB after | nothing |" + "".join(f" {n}0% |" for n in range(1, 11)),
            "| --- |" + " --- |" * 11,
            *(
                f"| {_name(side)} | {' | '.join(str(held) for _, held in side['memory'])} |"
                for side in sides
            ),
            "",
            "\n".join(f"- {line}" for line in said),
        ]
    )


def _name(side: dict[str, Any]) -> str:
    """How a run is called: by its commit, and its workers where it had several."""
    return f"{side['commit']}" + (f", {side['workers']} workers" if side["workers"] > 1 else "")


def keep(found: dict[str, Any]) -> None:
    """Put a run into the file of runs; the page has the newest of each kind side by side."""
    runs = ROOT / "large_project.jsonl"
    text = runs.read_text("utf-8") if runs.exists() else ""
    text += json.dumps(found) + "\n"
    runs.write_text(text, "utf-8")
    lines = [json.loads(line) for line in reversed(text.splitlines())]
    kinds = (
        lambda line: not line["older"] and line["workers"] == 1,
        lambda line: not line["older"] and line["workers"] > 1,
        lambda line: line["older"],
    )
    newest = [next(filter(kind, lines), None) for kind in kinds]
    page = ROOT / "large_project.md"
    head = page.read_text("utf-8").split("<!-- results -->")[0]
    page.write_text(
        f"{head}<!-- results -->\n\n{written([run for run in newest if run])}\n", "utf-8"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (("items", 50_000), ("judges", 1_000), ("pages", 2),
                        ("requests", 100_000), ("clients", 16), ("workers", 1)):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--times", type=int, default=30, help="of each kind, by itself")
    parser.add_argument("--of", default="", help="the commit whose source is run")
    parser.add_argument("--write", action="store_true", help="into large_project.md")
    options = parser.parse_args()
    found = measured(options)
    print(written([found]))
    if options.write:
        keep(found)


if __name__ == "__main__":
    main()
