"""A real server process for load tests: started, killed and started again, and looked into."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.values.project import Project
from adjudge.simulation.crowd_spec import CrowdSpec, VisitEnd, make_truths, send_crowd
from adjudge.simulation.http_client import CrowdRecord, HttpClient
from ports import free_port
from waiting import answers, wait_until

PASSWORD = "correct horse battery"


@dataclass
class ServerProcess:
    """``adjudge serve`` as a process of its own, on a port that it keeps over restarts."""

    database: str
    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    starts: list[float] = field(default_factory=list)  # seconds

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        begun = time.perf_counter()
        command = [sys.executable, "-m", "adjudge", "serve", "--port", str(self.port)]
        command += ["--database", self.database, "--log-format", "json"]
        command += ["--secret-file", str(self.folder / "secret")]
        given = {**os.environ, "ADJUDGE_METRICS_TOKEN": "metrics"}
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=given)
        wait_until(self._is_ready, 300, "the server is ready")
        self.starts.append(time.perf_counter() - begun)

    def _is_ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log()[-3000:]
        return answers(self.url)

    def kill(self) -> None:
        """End it as a power cut would end the process: nothing is finished first."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=300)

    def log(self) -> str:
        return (self.folder / "server.log").read_text("utf-8", "replace")


@dataclass
class Crowded:
    """What came of a crowd at a server."""

    ended: list[VisitEnd]
    record: CrowdRecord
    seconds: float
    looks: int  # how often the items were looked at
    over: list[Any]  # items found over what they need
    kills: int

    def figures(self) -> str:
        taken = self.record.seconds["submit"]
        p50, p95, most = 1000 * np.quantile(taken, [0.5, 0.95, 1.0])
        given = len(self.record.given)
        return (
            f"{len(self.ended)} judges, {self.kills} kills: {given:,} judgments in "
            f"{self.seconds:.1f} s ({given / self.seconds:,.0f} a second), {len(taken):,} submits, "
            f"p50 {p50:.0f} ms, p95 {p95:.0f} ms, most {most:.0f} ms; {self.looks} looks; stages "
            f"{dict(Counter(one.stage for one in self.ended))}; sent again "
            f"{dict(self.record.again)}, refused {dict(self.record.refused)}"
        )


def join(first: Crowded, then: Crowded) -> None:
    """Add a crowd that came later to the first."""
    first.ended += then.ended
    first.over += then.over
    first.looks += then.looks
    first.record.given += then.record.given
    first.record.again += then.record.again
    first.record.refused += then.record.refused


def prepare(store: Database, project: Project) -> tuple[str, str]:
    """A project open to judges, and a requester's token: slug and secret."""
    services = RequesterServices(store)
    owner = services.accounts.set_up(services.accounts.make_setup_token(), "ada", PASSWORD)
    acting = services.acting_for(owner)
    slug = acting.projects.create(project).slug
    acting.projects.set_state(slug, "open")
    return slug, acting.accounts.make_token("crowd", scope="requester")[1]


def crowd_at(
    server: ServerProcess,
    store: Database,
    slug: str,
    token: str,
    population: str,
    *,
    wait: float,
    kills: int = 0,
    every: int = 150,
    seed: int = 0,
    name: str = "judge",
) -> Crowded:
    """Send a crowd to the server, looking at the store all the while; kill the server now and then.

    ``every`` is how many judgments it stores between a start and a kill, ``name`` how the key of
    every judge begins.
    """
    spec = CrowdSpec.parse(population)
    client = HttpClient(server.url, slug, token, wait=wait, patience=900.0)
    labels = client.labels()
    truths = make_truths(labels, client.golds(), seed)
    actors = spec.make_judges(truths, len(labels), np.random.default_rng(seed))
    done, over, looks, killed = threading.Event(), [], [], []

    def look() -> None:
        table = schema.items
        query = sa.select(table.c.name, table.c.leased, table.c.trusted, table.c.needed).where(
            table.c.leased + table.c.trusted > table.c.needed
        )
        while not done.wait(0.1):
            with store.read() as on:
                over.extend(on.execute(query).all())
            looks.append(1)

    def strike() -> None:
        while len(killed) < kills and not done.wait(0.01):
            if len(client.record.given) >= (1 + len(killed)) * every:
                server.kill()
                killed.append(1)
                server.start()

    aside = [threading.Thread(target=work, daemon=True) for work in (look, strike)]
    for thread in aside:
        thread.start()
    begun = time.perf_counter()
    try:
        ended = send_crowd(client, actors, spec.kinds, at_once=len(spec), name=name)
    finally:
        seconds = time.perf_counter() - begun
        done.set()
        for thread in aside:
            thread.join(timeout=400)
        client.close()
    return Crowded(ended, client.record, seconds, len(looks), over, len(killed))


def stored_judgments(store: Database) -> Counter[tuple[str, str, int, str, str]]:
    """Every judgment in the store as (judge, page, row, label, kind)."""
    given, judges, pages = schema.judgments, schema.judges, schema.pages
    query = (
        sa.select(judges.c.public, pages.c.public, given.c.row, given.c.label, given.c.kind)
        .join(judges, judges.c.id == given.c.judge)
        .join(pages, pages.c.id == given.c.page)
    )
    with store.read() as on:
        return Counter(tuple(row) for row in on.execute(query))


def acknowledged(ledger: CrowdRecord) -> Counter[tuple[str, str, int, str, str]]:
    """Every judgment that was confirmed to the crowd."""
    return Counter((one.judge, one.page, one.row, one.label, one.kind) for one in ledger.given)
