"""Collecting judgments while the server is killed: are answers lost, stored twice, or too many?

    .venv/bin/python benchmarks/kills.py [--answers 9000] [--kills 5] [--doubled 0.1] [--write]

Clients judge over HTTP until a project is done. A share of the submits is sent twice, and the
server process is ended by SIGKILL at even intervals and started again. Afterwards every
acknowledged answer is looked up in the database. SQLite and PostgreSQL; the second needs the
package ``pgserver``, or a server of yours by ``--postgresql URL``, whose database must be empty.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from machine import commit, machine

from collect import LABELS, PASSWORD, Api, Failed, Server, free_port

RESULT = Path(__file__).resolve().parent / "kills.md"
EACH = 3  # judgments per item
PATIENCE = 120.0  # seconds that a client tries a request again
AWAY = (Failed, OSError, http.client.HTTPException)


@dataclass
class Record:
    """What the server acknowledged: the label by page and row."""

    given: dict[tuple[str, int], str] = field(default_factory=dict)
    submits: int = 0
    doubled: int = 0
    tried_again: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Client:
    """A judge who tries a request again until it is answered."""

    def __init__(self, port: int, secret: str, record: Record) -> None:
        self._port, self._secret, self._record = port, secret, record
        self._api: Api | None = None

    def ask(self, method: str, path: str, sent: Any = None) -> Any:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._api = self._api or Api(self._port, f"Bearer {self._secret}")
                return self._api.ask(method, f"/api/v1{path}", sent)
            except AWAY:
                if time.monotonic() > until:
                    raise
                with contextlib.suppress(OSError, AttributeError):
                    self._api.close()  # type: ignore[union-attr]
                self._api = None
                self._record.tried_again += 1
                time.sleep(0.05)

    def judge(self, slug: str, name: str, doubled: float) -> None:
        """Judge until nothing is left."""
        chance = random.Random(name)
        sent = {"key": name, "consent": True}
        ticket = self.ask("POST", f"/projects/{slug}/arrivals", sent)["ticket"]
        while (page := self.ask("POST", f"/judges/{ticket}/page")["page"]) is not None:
            rows = [row["row"] for group in page["groups"] for row in group["rows"]]
            answers = [{"row": row, "label": chance.choice(LABELS)} for row in rows]
            body = {"key": page["key"], "answers": answers}
            times = 1 + (chance.random() < doubled)
            try:
                for _ in range(times):
                    self.ask("POST", f"/judges/{ticket}/pages/{page['page']}", body)
            except RuntimeError as refused:
                if "page-expired" not in str(refused):
                    raise
                continue  # its results went to others meanwhile, and nothing was stored
            with self._record.lock:
                self._record.submits += 1
                self._record.doubled += times - 1
                for answer in answers:
                    self._record.given[page["page"], answer["row"]] = answer["label"]


@contextlib.contextmanager
def database(kind: str, folder: Path, given: str) -> Iterator[str]:
    """The URL of an empty database."""
    if kind == "sqlite" or given:
        yield given or str(folder / "kills.db")
        return
    import pgserver

    server = pgserver.get_server(folder / "pg", cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def prepare(url: str, answers: int) -> tuple[str, str]:
    """A project that takes so many answers, and a token to judge with."""
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.store.database import Database
    from adjudge.collect.values.project import Item, Project
    from adjudge.data.scale import Scale

    items = [
        Item(name=f"d{n}", topic=f"t{n // 5}", query=f"query {n // 5}", title=f"d{n}", text="Text.")
        for n in range(answers // EACH)
    ]
    policy = {"training": False, "require_consent": False, "judgments_per_item": EACH,
              "lease_minutes": 1.0}  # fmt: skip
    store = Database(url)
    services = RequesterServices(store)
    accounts = services.accounts
    acting = services.acting_for(accounts.set_up(accounts.make_setup_token(), "ada", PASSWORD))
    project = Project(name="Kills", scale=Scale(labels=LABELS), items=tuple(items), policy=policy)
    slug = acting.projects.create(project).slug
    acting.projects.set_state(slug, "open")
    secret = acting.accounts.make_token("kills", scope="judge", project=slug)[1]
    store.close()
    return slug, secret


def run(url: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Judge a project to its end while the server is killed; what was found afterwards."""
    slug, secret = prepare(url, options.answers)
    port, record = free_port(), Record()
    command = [sys.executable, "-m", "adjudge", "serve", "--port", str(port), "--database", url]
    command += ["--secret-file", str(folder / "secret")]
    server = Server(command, port, "/readyz", {})
    begun, kills, faults = time.perf_counter(), 0, list[str]()

    def work(number: int) -> None:
        try:
            Client(port, secret, record).judge(slug, f"judge {number}", options.doubled)
        except Exception as fault:  # noqa: BLE001 - reported with the figures
            faults.append(f"{type(fault).__name__}: {fault}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(options.clients)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        due = (kills + 1) * options.answers / (options.kills + 1)
        if kills < options.kills and len(record.given) >= due:
            os.killpg(server.process.pid, signal.SIGKILL)
            server.process.wait()
            kills += 1
            server = Server(command, port, "/readyz", {})
        time.sleep(0.01)
    seconds = time.perf_counter() - begun
    server.stop()
    return {"seconds": seconds, "kills": kills, "faults": faults, **look(url, record)}


def look(url: str, record: Record) -> dict[str, Any]:
    """Compare what was acknowledged with what is stored."""
    from adjudge.collect.store import schema
    from adjudge.collect.store.database import Database

    given, pages, items = schema.judgments, schema.pages, schema.items
    store = Database(url)
    with store.read() as on:
        rows = on.execute(
            sa.select(pages.c.public, given.c.row, given.c.label, given.c.judge, given.c.item)
            .join(pages, pages.c.id == given.c.page)
        ).all()  # fmt: skip
        most = on.execute(
            sa.select(sa.func.count()).where(items.c.leased + items.c.trusted > items.c.needed)
        ).scalar_one()
        left = on.execute(
            sa.select(sa.func.count()).where(items.c.state == "open", ~items.c.gold)
        ).scalar_one()
    store.close()
    stored = Counter((row.public, row.row, row.label) for row in rows)
    acknowledged = {(page, row, label) for (page, row), label in record.given.items()}
    twice = Counter((row.judge, row.item) for row in rows)
    each = Counter(row.item for row in rows)
    return {
        "acknowledged": len(acknowledged),
        "stored": len(rows),
        "lost": len(acknowledged - stored.keys()),
        "doubled": sum(count > 1 for counts in (stored, twice) for count in counts.values()),
        "over": most + sum(count > EACH for count in each.values()),
        "open": left,
        "submits": record.submits,
        "sent twice": record.doubled,
        "tried again": record.tried_again,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=9_000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--doubled", type=float, default=0.1)
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    parser.add_argument("--postgresql", default="", help="the URL of an empty database")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    options = parser.parse_args()
    names = ("acknowledged", "stored", "lost", "doubled", "over", "open", "submits", "sent twice",
             "tried again", "kills", "seconds")  # fmt: skip
    lines = [f"| database | {' | '.join(names)} |", "| --- " * (len(names) + 1) + "|"]
    bad = False
    for kind in [options.only] if options.only else ["sqlite", "postgresql"]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            given = options.postgresql if kind == "postgresql" else ""
            with database(kind, folder, given) as url:
                found = run(url, folder, options)
        cells = (f"{found[one]:,.0f}" for one in names)
        lines.append(f"| {kind} | {' | '.join(cells)} |")
        bad |= any(found[one] for one in ("lost", "doubled", "over", "open", "faults"))
        print(lines[-1], *found["faults"], sep="\n", flush=True)
    print("\n".join(lines))
    if options.write:
        head = (
            "# Answers while the server is killed\n\nMade by `benchmarks/kills.py`. *over*: items "
        )
        head += "with more judgments than they need. *open*: items that were never finished.\n\n"
        about = machine()
        foot = f"\n\n{time.strftime('%Y-%m-%d')}, commit {commit(RESULT.parent.parent)}; "
        foot += f"{about['processor']}, {about['cores']} cores, {about['system']}.\n"
        RESULT.write_text(head + "\n".join(lines) + foot)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
