"""Collecting judgments: our server next to Label Studio, in one run, with the same clients.

    .venv/bin/python benchmarks/collect.py [--seconds 15] [--clients 8] [--no-peers] [--write]

Each client asks for the next thing to judge and submits its answer, again and again, over HTTP
with a token. Label Studio is installed by pip into an environment of its own (``.cache``), and runs
as it comes: SQLite, its default server. One thing at a time on both sides; ours also by pages.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import commit, machine

ROOT = Path(__file__).resolve().parent
CACHE = ROOT / ".cache"
PASSWORD, TOKEN = "correct-horse-battery-1", "0123456789abcdef0123456789abcdef01234567"
LABELS = ("Matching", "Not Matching", "Off Topic", "Spam")
TASKS = 10_000
Turn = Callable[[], None]


class Failed(Exception):
    """A request that the server failed at; the turn counts as an error, and the client goes on."""


class Api:
    """One client with one connection that is kept, cheap enough not to be what is measured."""

    def __init__(self, port: int, authorization: str) -> None:
        self._port = port
        self._headers = {"Authorization": authorization, "Content-Type": "application/json"}
        self._open()

    def close(self) -> None:
        self._link.close()

    def _open(self) -> None:
        self._link = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        self._link.connect()
        assert self._link.sock is not None
        self._link.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, method: str, path: str, sent: Any = None) -> Any:
        body = None if sent is None else json.dumps(sent)
        for again in (True, False):
            try:
                self._link.request(method, path, body, self._headers)
                answer = self._link.getresponse()
                read = answer.read()
                break
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                if not again:
                    raise
                self.close()
                self._open()  # it closes connections after a while, or after each answer
        if answer.status >= 300:
            text = f"{method} {path}: {answer.status} {read[:300]!r}"
            raise Failed(text) if answer.status >= 500 else RuntimeError(text)
        return json.loads(read) if read else None


class Server:
    """A server process: how long its start took, its memory and CPU time with its children's."""

    def __init__(self, command: list[str], port: int, path: str, env: dict[str, str]) -> None:
        self.port = port
        begun = time.perf_counter()
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the process
        self.process = subprocess.Popen(
            command, stdout=self.log, stderr=self.log, env={**os.environ, **env},
            start_new_session=True,
        )  # fmt: skip
        while not self._answers(path):
            if self.process.poll() is not None or time.perf_counter() - begun > 300:
                self.log.seek(0)
                raise RuntimeError(f"{command[0]} did not start:\n{self.log.read()[-3000:]}")
            time.sleep(0.02)
        self.start = time.perf_counter() - begun
        self.start_cpu = self.cpu()

    def _answers(self, path: str) -> bool:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            link.request("GET", path)
            return link.getresponse().status < 400
        except OSError:
            return False
        finally:
            link.close()

    def _pids(self) -> list[int]:
        """The process and its children."""
        found = [self.process.pid]
        for pid in found:
            children = Path(f"/proc/{pid}/task/{pid}/children")
            found += [int(child) for child in children.read_text().split()]
        return found

    def memory(self) -> float:
        """Resident megabytes."""
        total = 0
        for pid in self._pids():
            status = Path(f"/proc/{pid}/status").read_text()
            total += int(status.split("VmRSS:")[1].split()[0])
        return total * 1024 / 1e6

    def cpu(self) -> float:
        """Seconds of user and system time so far."""
        ticks = 0
        for pid in self._pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.log.close()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def driven(turns: list[Turn], server: Server, seconds: float) -> dict[str, float]:
    """Every client takes turns for so long, after a warm-up; how many, how long, how much CPU."""
    taken: list[float] = []
    errors: list[int] = []
    faults: list[str] = []
    begin = threading.Barrier(len(turns) + 1)
    until = [0.0]

    def client(turn: Turn) -> None:
        try:
            with contextlib.suppress(Failed):
                turn()
            begin.wait()
            while (begun := time.perf_counter()) < until[0]:
                try:
                    turn()
                    taken.append(time.perf_counter() - begun)
                except Failed:
                    errors.append(1)
        except Exception as fault:  # noqa: BLE001 - reported by the main thread
            faults.append(f"{type(fault).__name__}: {fault}")
            begin.abort()

    threads = [threading.Thread(target=client, args=(turn,), daemon=True) for turn in turns]
    for thread in threads:
        thread.start()
    until[0] = time.perf_counter() + 3600
    try:
        begin.wait(timeout=300)
    except threading.BrokenBarrierError:
        raise RuntimeError(f"a client failed: {faults}") from None
    begun, cpu = time.perf_counter(), server.cpu()
    until[0] = begun + seconds
    for thread in threads:
        thread.join()
    wall = time.perf_counter() - begun
    if faults:
        raise RuntimeError(f"a client failed: {faults}")
    cuts = statistics.quantiles(taken, n=100)
    return {
        "turns": len(taken), "errors": len(errors), "per_second": len(taken) / wall,
        "p50_ms": 1000 * cuts[49], "p95_ms": 1000 * cuts[94],
        "cpu_ms": 1000 * (server.cpu() - cpu) / len(taken), "memory_mb": server.memory(),
    }  # fmt: skip


def ours(pairs: int, seconds: float, clients: int) -> dict[str, Any]:
    """Our server: ``pairs`` on a page, gold among them."""
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.store.database import Database

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        store = Database(path)
        services = RequesterServices(store)
        acting = services.acting_for(
            services.accounts.set_up(services.accounts.make_setup_token(), "ada", PASSWORD)
        )
        slug = acting.projects.create(_project(pairs)).slug
        acting.projects.set_state(slug, "open")
        _, secret = acting.accounts.make_token("bench", scope="judge", project=slug)
        store.close()
        port = free_port()
        command = [sys.executable, "-m", "adjudge", "serve", "--port", str(port)]
        server = Server([*command, "--database", str(path)], port, "/readyz", {})
        try:
            with contextlib.ExitStack() as stack:
                every = [Api(port, f"Bearer {secret}") for _ in range(clients)]
                for api in every:
                    stack.callback(api.close)
                turns = [_our_turn(api, slug, n) for n, api in enumerate(every)]
                figures = driven(turns, server, seconds)
        finally:
            server.stop()
    return {"what": f"adjudge, {pairs} a page", "pairs": pairs, "start_s": server.start,
            "start_cpu_s": server.start_cpu, **figures}  # fmt: skip


def _project(pairs: int) -> Any:
    from adjudge.collect.values.project import GoldEntry, Item, Project
    from adjudge.data.scale import Scale

    def item(name: str, topic: int) -> Item:
        return Item(
            name=name, topic=f"t{topic}", query=f"query {topic}", title=name, text="A text."
        )

    work = [item(f"d{place}", place // 5) for place in range(TASKS)]
    golds = [item(f"g{place}", place * 5) for place in range(200)]
    side = round(pairs**0.5)
    policy = {"training": False, "require_consent": False, "judgments_per_item": 8,
              "queries_per_page": side, "results_per_query": side, "warn_below": 0.0,
              "block_below": 0.0}  # fmt: skip
    return Project(
        name="Bench", scale=Scale(labels=LABELS), guidelines="# Bench", items=(*work, *golds),
        golds=tuple(GoldEntry(item=gold.name, accepted=(LABELS[0],)) for gold in golds),
        policy=policy,
    )  # fmt: skip


def _our_turn(api: Api, slug: str, number: int) -> Turn:
    sent = {"key": f"judge {number}", "consent": True}
    ticket = api.ask("POST", f"/api/v1/projects/{slug}/arrivals", sent)["ticket"]

    def turn() -> None:
        page = api.ask("POST", f"/api/v1/judges/{ticket}/page")["page"]
        rows = [row["row"] for group in page["groups"] for row in group["rows"]]
        answers = [{"row": row, "label": LABELS[row % 4]} for row in rows]
        body = {"key": page["key"], "answers": answers}
        api.ask("POST", f"/api/v1/judges/{ticket}/pages/{page['page']}", body)

    return turn


def installed(folder: Path) -> Path:
    """The environment of Label Studio; made, with its newest version, if it is not there."""
    command = folder / "bin" / "label-studio"
    if not command.is_file():
        print("Setting up: installing label-studio (once) ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--disable-pip-version-check", "label-studio"], check=True)
    return command


def label_studio(command: Path, seconds: float, clients: int) -> dict[str, Any]:
    """Label Studio as it comes: one task at a time, all clients with one user's token."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        env = {"LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true", "HOME": folder,
               "LABEL_STUDIO_BASE_DATA_DIR": folder, "COLLECT_ANALYTICS": "False",
               "LATEST_VERSION_CHECK": "False", "DEBUG": "False"}  # fmt: skip
        start = [str(command), "start", "--no-browser", "--port", str(port), "--data-dir", folder,
                 "--username", "ada@example.com", "--password", PASSWORD,
                 "--user-token", TOKEN]  # fmt: skip
        server = Server(start, port, "/health", env)  # the first start, which makes its database
        server.stop()
        server = Server(start, port, "/health", env)
        try:
            api = Api(port, f"Token {TOKEN}")
            choices = "".join(f'<Choice value="{label}"/>' for label in LABELS)
            config = (
                '<View><Text name="text" value="$text"/><Choices name="label" toName="text">'
                f"{choices}</Choices></View>"
            )
            made = api.ask("POST", "/api/projects", {"title": "Bench", "label_config": config})
            project = made["id"]
            for first in range(0, 2000, 500):
                rows = [{"text": f"d{place}"} for place in range(first, first + 500)]
                api.ask("POST", f"/api/projects/{project}/import", rows)
            turns = [_their_turn(Api(port, f"Token {TOKEN}"), project) for _ in range(clients)]
            figures = driven(turns, server, seconds)
        finally:
            server.stop()
    return {"what": "Label Studio, one task", "pairs": 1, "start_s": server.start,
            "start_cpu_s": server.start_cpu, **figures}  # fmt: skip


def _their_turn(api: Api, project: int) -> Turn:
    choice = {"from_name": "label", "to_name": "text", "type": "choices"}
    result = [{**choice, "value": {"choices": [LABELS[0]]}}]

    def turn() -> None:
        task = api.ask("GET", f"/api/projects/{project}/next")
        api.ask("POST", f"/api/tasks/{task['id']}/annotations", {"result": result})

    return turn


def table(rows: list[dict[str, Any]]) -> str:
    """The figures as Markdown."""
    peer = next((row for row in rows if row["what"].startswith("Label")), None)
    lines = [
        "|  | next + submit a second | pairs a second | p50 ms | p95 ms | server CPU ms each "
        "| start s | of it CPU | memory MB | failed "
        "| times Label Studio | by CPU |",
        "| --- " * 12 + "|",
    ]
    for row in rows:
        times = by_cpu = ""
        if peer is not None:
            times = f"{row['per_second'] / peer['per_second']:.1f}"
            by_cpu = f"{peer['cpu_ms'] / row['cpu_ms']:.1f}"
        lines.append(
            f"| {row['what']} | {row['per_second']:.1f} | {row['per_second'] * row['pairs']:.0f} "
            f"| {row['p50_ms']:.0f} | {row['p95_ms']:.0f} | {row['cpu_ms']:.1f} "
            f"| {row['start_s']:.1f} | {row['start_cpu_s']:.1f} | {row['memory_mb']:.0f} "
            f"| {row['errors']} of {row['errors'] + row['turns']} | {times} | {by_cpu} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--peers", type=Path, default=CACHE / "label-studio")
    parser.add_argument("--write", action="store_true", help="put the table into collect.md")
    given = parser.parse_args()
    about, rows = machine(), []
    rows.append(ours(1, given.seconds, given.clients))
    print(rows[-1], file=sys.stderr)
    if not given.no_peers:
        command = installed(given.peers)
        rows.append(label_studio(command, given.seconds, given.clients))
        print(rows[-1], file=sys.stderr)
    rows.append(ours(25, given.seconds, given.clients))
    text = (
        f"{table(rows)}\n\n{time.strftime('%Y-%m-%d')}, commit {commit(ROOT.parent)}; "
        f"{given.clients} clients, {given.seconds:g} s each; {about['processor']}, "
        f"{about['cores']} cores, {about['system']}, load before {about['load_before']}.\n"
    )
    print(text)
    if given.write:
        page = ROOT / "collect.md"
        head, mark, _ = page.read_text("utf-8").partition("<!-- results -->\n")
        page.write_text(f"{head}{mark}\n{text}", "utf-8")


if __name__ == "__main__":
    main()
