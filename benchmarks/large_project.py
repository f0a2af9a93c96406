"""A large project: 50,000 items and 1,000 judges, many of them at once, and what it costs.

    .venv/bin/python benchmarks/large_project.py [--items 50000] [--judges 1000] [--pages 2]
        [--requests 100000] [--clients 16] [--write]

The server runs as it comes, on SQLite. Clients take the part of any of the judges: each asks for
the next page and answers it, over HTTP with a token; now and then somebody looks at the overview
and at the list of judges. That goes on until as many requests were sent as wanted, and the memory
is noted on the way. CPU time of the server stands beside times by the clock, which other work on
the machine makes longer.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from machine import commit, machine

from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer, Arrival
from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.data.scale import Scale
from collect import LABELS, PASSWORD, Api, Server, free_port

ROOT = Path(__file__).resolve().parent
Times = dict[str, list[float]]


def made_project(count: int) -> Project:
    """So many items under a tenth as many queries, and a gold for every fifty."""

    def item(name: str, topic: int) -> Item:
        words = f"{name} " + "lorem ipsum dolor sit amet " * 12
        return Item(name=name, topic=f"t{topic}", query=f"query {topic}", title=name, text=words)

    work = [item(f"d{place}", place // 10) for place in range(count)]
    golds = [item(f"g{place}", place * 5) for place in range(count // 50)]
    policy = {"training": False, "require_consent": False, "warn_below": 0.0, "block_below": 0.0,
              "address_per_minute": 0, "address_per_hour": 0}  # fmt: skip
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
    for number in range(judges):
        judge = desk.arrive(Arrival(project=slug, channel="api", key=f"judge {number}")).judge
        for _ in range(pages):
            page = desk.page(judge)
            if page is None:
                raise SystemExit("there are too few items for the judges")
            answers = [Answer(row=row.row, label=LABELS[row.row % 4]) for row in page.rows]
            desk.submit(judge, page.page, page.key, answers)
    _, judging = acting.accounts.make_token("judges", scope="judge", project=slug)
    _, asking = acting.accounts.make_token("ada", scope="requester")
    store.close()
    return slug, judging, asking


class Crowd:
    """Clients that take the part of judges, and one requester who looks on."""

    def __init__(self, port: int, slug: str, secrets: tuple[str, str], judges: int) -> None:
        self._slug, self._port = slug, port
        self._judging, self._asking = (f"Bearer {secret}" for secret in secrets)
        self._judges = judges
        self.times: Times = defaultdict(list)
        self.sent = 0
        self._lock = threading.Lock()

    def _timed(self, what: str, api: Api, method: str, path: str, sent: Any = None) -> Any:
        begun = time.perf_counter()
        answer = api.ask(method, path, sent)
        with self._lock:
            self.times[what].append(time.perf_counter() - begun)
            self.sent += 1
        return answer

    def judge(self, number: int, until: int, *, looks: bool) -> None:
        """Take turns as judges of one's own share until so many requests were sent by all."""
        api, asking = Api(self._port, self._judging), Api(self._port, self._asking)
        rng = random.Random(number)
        while self.sent < until:
            key = f"judge {rng.randrange(self._judges)}"
            path = f"/api/v1/projects/{self._slug}/arrivals"
            ticket = self._timed("arrive", api, "POST", path, {"key": key})["ticket"]
            mine = f"/api/v1/judges/{ticket}"
            page = self._timed("next page", api, "POST", f"{mine}/page")["page"]
            if page is None:
                continue
            if rng.random() < 0.5:  # some leave their page open, and find it again
                rows = [row["row"] for group in page["groups"] for row in group["rows"]]
                answers = [{"row": row, "label": LABELS[row % 4]} for row in rows]
                body = {"key": page["key"], "answers": answers}
                self._timed("submit", api, "POST", f"{mine}/pages/{page['page']}", body)
            self._timed("state", api, "GET", mine)
            if looks and rng.random() < 0.02:
                here = f"/api/v1/projects/{self._slug}"
                self._timed("overview", asking, "GET", f"{here}/progress")
                if rng.random() < 0.2:
                    self._timed("judges", asking, "GET", f"{here}/judges")
        api.close()
        asking.close()

    def run(self, clients: int, until: int, *, looks: bool) -> None:
        """So many clients at once."""
        faults: list[str] = []

        def one(number: int) -> None:
            try:
                self.judge(number, until, looks=looks)
            except Exception as fault:  # noqa: BLE001 - told by the main thread
                faults.append(f"{type(fault).__name__}: {fault}")

        threads = [threading.Thread(target=one, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise SystemExit(f"a client failed: {faults[0]}")


def _own(server: Server) -> tuple[float, float]:
    """Resident megabytes and CPU seconds of the server, without the fits it runs beside itself."""
    here = Path(f"/proc/{server.process.pid}")
    held = int((here / "status").read_text().split("VmRSS:")[1].split()[0])
    fields = (here / "stat").read_text().rsplit(")", 1)[1].split()
    ticks = int(fields[11]) + int(fields[12])
    return held * 1024 / 1e6, ticks / os.sysconf("SC_CLK_TCK")


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Everything, on a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.db"
        begun = time.perf_counter()
        slug, judging, asking = filled(path, options.items, options.judges, options.pages)
        print(f"filled in {time.perf_counter() - begun:.0f} s", file=sys.stderr)
        port = free_port()
        command = [sys.executable, "-m", "adjudge", "serve", "--port", str(port)]
        command += ["--database", str(path)]
        server = Server(command, port, "/readyz", {})
        try:
            crowd = Crowd(port, slug, (judging, asking), options.judges)
            memory = [(0, _own(server)[0])]
            cpu = _own(server)[1]
            for part in range(1, 11):
                crowd.run(options.clients, options.requests * part // 10, looks=True)
                memory.append((crowd.sent, _own(server)[0]))
                print(f"{crowd.sent} requests, {memory[-1][1]:.0f} MB", file=sys.stderr)
            spent = _own(server)[1] - cpu
        finally:
            server.stop()
    return {"times": crowd.times, "memory": memory, "cpu": spent, "sent": crowd.sent}


def written(found: dict[str, Any], options: argparse.Namespace) -> str:
    """The figures as tables."""
    lines = ["| request | times | p50 ms | p95 ms |", "| --- | --- | --- | --- |"]
    for what, times in sorted(found["times"].items()):
        cuts = statistics.quantiles(times, n=100) if len(times) > 1 else [times[0]] * 99
        lines.append(f"| {what} | {len(times):,} | {1000 * cuts[49]:.0f} | {1000 * cuts[94]:.0f} |")
    cpu = 1000 * found["cpu"] / found["sent"]
    lines += ["", f"Server CPU: {cpu:.1f} ms a request, of all kinds.", ""]
    lines += ["| requests so far | memory MB |", "| --- | --- |"]
    lines += [f"| {sent:,} | {held:.0f} |" for sent, held in found["memory"]]
    about = machine()
    said = (
        f"{time.strftime('%Y-%m-%d')}, commit {commit(ROOT.parent)}; {options.items:,} items, "
        f"{options.judges:,} judges with {options.pages} pages each, {options.clients} clients; "
        f"{about['processor']}, {about['cores']} cores, load {about['load_before']}."
    )
    return "\n".join([*lines, "", said])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (("items", 50_000), ("judges", 1_000), ("pages", 2),
                        ("requests", 100_000), ("clients", 16)):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--write", action="store_true", help="into large_project.md")
    options = parser.parse_args()
    text = written(measured(options), options)
    print(text)
    if options.write:
        page = ROOT / "large_project.md"
        head = page.read_text("utf-8").split("<!-- results -->")[0]
        page.write_text(f"{head}<!-- results -->\n\n{text}\n", "utf-8")


if __name__ == "__main__":
    main()
