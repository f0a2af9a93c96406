"""What the server does between requests: take back pages, block who is flagged, refit, plan."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import IO

from adjudge.collect.consensus import planner, refit
from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.web._health import Metrics
from adjudge.collect.web.logs import event, run_noting
from adjudge.collect.web.settings import Settings

_LONGEST = 1_800.0  # seconds of one fit
_TICK = 0.5
_SAID = (0, 3)  # codes of a process that has kept what came of it, good or bad


class Background:
    """One thread of one process; of several on one machine, only the first does the work."""

    def __init__(
        self,
        settings: Settings,
        judging: JudgingService,
        services: RequesterServices,
        metrics: Metrics,
    ) -> None:
        self._settings = settings
        self._judging = judging
        self._services = services
        self._metrics = metrics
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="background", daemon=True)
        self._child: subprocess.Popen[bytes] | None = None
        self._lock: IO[bytes] | None = None
        self._flagged: dict[str, int] = {}  # judgments of a project when it was last looked at

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and end a fit that is under way: it is made again after the next start."""
        self._stop.set()
        child = self._child
        if child is not None and child.poll() is None:
            child.terminate()
        self._thread.join(timeout=5.0)
        if self._lock is not None:
            self._lock.close()

    def _run(self) -> None:
        swept = looked = 0.0
        while not self._stop.wait(_TICK):
            if not self._leads():
                continue
            now = time.monotonic()
            if now - swept >= self._settings.sweep_seconds:
                swept = now
                run_noting("background-failed", self._sweep)
                run_noting("background-failed", self._flag)
            if self._settings.refit_seconds and now - looked >= self._settings.refit_seconds:
                looked = now
                run_noting("background-failed", self._plan)
                run_noting("background-failed", self._refit)

    def _leads(self) -> bool:
        """Whether this process holds the lock; it is tried again in case its holder has gone."""
        if self._lock is not None:
            return True
        if sys.platform == "win32":
            return True
        import fcntl

        path = Path(f"{self._settings.secret_path}.lock")
        file = path.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            self._stop.wait(5.0)
            return False
        self._lock = file
        return True

    def _sweep(self) -> None:
        given_back = self._judging.sweep()
        if given_back:
            self._metrics.count("pages-expired", given_back)
            event("pages-expired", pages=given_back)

    def _flag(self) -> None:
        """Block who is flagged, in projects that want it and have new judgments."""
        for project in self._services.projects.get_all():
            if project.judgments == self._flagged.get(project.slug, 0):
                continue
            self._flagged[project.slug] = project.judgments
            if self._services.projects.get_policy(project.slug)[0].flags_block:
                blocked = self._services.judges.block_flagged(project.slug)
                if blocked:
                    event("flagged-blocked", judges=len(blocked))

    def _refit(self) -> None:
        for project, model in refit.find_due(self._services):
            code = self._run_beside(refit, project=project, model=model)
            if self._stop.is_set():
                return
            if code not in _SAID:
                refit.note_failure(self._services, project, model, code)
            self._metrics.count("refits")

    def _plan(self) -> None:
        for project in planner.find_due(self._services):
            code = self._run_beside(planner, project=project)
            if self._stop.is_set():
                return
            if code not in _SAID:
                planner.note_failure(self._services, project, code)
            self._metrics.count("plans")

    def _run_beside(self, module: ModuleType, **wanted: str) -> int:
        """Run a module as a process of its own, and wait for it; its code."""
        given = json.dumps({"database": self._settings.database, **wanted})
        began = time.monotonic()
        self._child = subprocess.Popen(
            [sys.executable, "-m", module.__name__],
            env={**os.environ, module.ENVIRONMENT: given},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if self._stop.is_set():  # it may have been set before there was a child to end
            self._child.terminate()
        code = self._wait(self._child)
        self._child = None
        what, model = module.__name__.rpartition(".")[2], wanted.get("model", "")
        event(what, model=model, code=code, seconds=round(time.monotonic() - began, 1))
        return code

    @staticmethod
    def _wait(child: subprocess.Popen[bytes]) -> int:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(timeout=_LONGEST)
        child.kill()
        return child.wait()
