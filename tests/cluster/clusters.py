"""Real clusters for tests: a scheduler and its workers, each a process that can be killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

from ports import free_port

START = 300.0  # seconds, for what will never be: on a busy machine a start alone may take one


class RealCluster:
    """A scheduler on a free port and processes that work for it; all of them end with the block."""

    def __init__(self, folder: Path, workers: int, port: int | None = None) -> None:
        self.folder = folder
        self.port = port or free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler = self._run(
            "scheduler",
            "--port",
            str(self.port),
            "--host",
            "127.0.0.1",
            "--dashboard-address",
            ":0",
        )
        wait_for_port(self.port, self.scheduler)
        self.workers = [self.add() for _ in range(workers)]

    def add(self) -> subprocess.Popen[bytes]:
        """One more process, without a nanny: when it is killed, it stays dead."""
        return self._run(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
            "--memory-limit", "0", "--local-directory", str(self.folder),
        )  # fmt: skip

    def _run(self, *words: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{words[0]}-{time.monotonic_ns()}.log").open("wb")
        with log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *words],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONWARNINGS": "default"},
            )

    def have(self, workers: int) -> None:
        """So many processes, of those that live: others are added, or killed."""
        self.workers = [process for process in self.workers if process.poll() is None]
        while len(self.workers) > workers:
            kill(self.workers.pop())
        while len(self.workers) < workers:
            self.workers.append(self.add())

    def __enter__(self) -> RealCluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in (*self.workers, self.scheduler):
            if process.poll() is None:
                process.kill()
            process.wait(START)


class KeptCluster:
    """A cluster that tests hand on, as far as the one before has left it alive."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: RealCluster | None = None

    def having(self, workers: int) -> RealCluster:
        """The cluster, with so many processes."""
        if self.running is not None and self.running.scheduler.poll() is not None:
            self.close()
        if self.running is None:
            self.running = RealCluster(self.folder, workers)
        self.running.have(workers)
        return self.running

    def close(self) -> None:
        """End what still runs."""
        if self.running is not None:
            self.running.__exit__(None, None, None)
        self.running = None


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process as a machine that loses power does: without a word."""
    process.send_signal(signal.SIGKILL)
    process.wait(START)


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a process listens there."""
    end = time.monotonic() + START
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    process.kill()
    process.wait(START)
    raise TimeoutError(f"nothing listens on port {port}")
