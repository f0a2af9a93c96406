"""Files that requesters send: read within the server's limits, and kept until they are used.

Python runs one thread at a time, and some steps of a reader are long: what is large is read in a
process of its own, so that others never wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from anyio import from_thread
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from adjudge.collect.web._state import state_of
from adjudge.collect.web.logs import event
from adjudge.data.scale import Scale
from adjudge.errors import BadData

if TYPE_CHECKING:
    from adjudge.collect.importing import ImportLimits, Preview, Upload
    from adjudge.collect.services.requester import RequesterServices


_AT_ONCE = 2  # processes that read; other uploads wait for their turn
_MOST_WAITING = 8  # that wait, each with its files in memory


def limits_of(request: Request) -> ImportLimits:
    """How much an upload may hold."""
    from adjudge.collect.importing import ImportLimits

    settings = state_of(request).settings
    return ImportLimits(bytes=settings.upload_bytes, rows=settings.upload_rows)


def read(
    request: Request,
    files: Iterable[tuple[str, bytes]],
    scale: Scale | None,
    known: frozenset[str] = frozenset(),
    **more: Any,
) -> Preview:
    """Return what files hold, and all that is wrong with them; ``more`` is for the reader."""
    # Late: readers are heavy, and most requests need none.
    from adjudge.collect.importing import Upload, process
    from adjudge.collect.importing import read as read_here

    limits = limits_of(request)
    uploads = [Upload(name=name, body=body) for name, body in files]
    options = {"scale": scale, "known": known, "limits": limits, **more}
    if process.is_large(uploads, limits):
        return from_thread.run(state_of(request).readers.read, request, uploads, options)
    return read_here(uploads, **options)


def read_more(
    request: Request,
    files: Iterable[tuple[str, bytes]],
    services: RequesterServices,
    project: str,
) -> Preview:
    """Return what files hold for a project that has items already."""
    scale, known, topics = services.projects.get_known(project)
    return read(request, files, scale, known, topics=topics)


def _read_in_process(
    child: subprocess.Popen[bytes], files: list[Upload], options: dict[str, Any]
) -> Preview | None:
    """Return what a process finds; None where it ended before its time."""
    from adjudge.collect.importing import process

    if child.stdin is None or child.stdout is None:
        return None
    try:
        process.ask(child.stdin, files, options)
        return process.hear(child.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        return None


class UploadReaders:
    """The processes that read large uploads: each ends with the request that it reads for."""

    def __init__(self, seconds: float) -> None:
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._present = 0  # uploads that are read or wait
        self._seconds = seconds
        self._children: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False

    async def read(self, request: Request, files: list[Upload], options: dict[str, Any]) -> Preview:
        """What the files of a request hold, as a process of its own finds it."""
        if self._present >= _AT_ONCE + _MOST_WAITING:
            raise HTTPException(503, "many files are being read; please send yours again later")
        self._present += 1
        try:
            return await self._read(request, files, options)
        finally:
            self._present -= 1

    async def _read(
        self, request: Request, files: list[Upload], options: dict[str, Any]
    ) -> Preview:
        from adjudge.collect.importing import Preview

        async with self._turns:
            child = await run_in_threadpool(self._start)
            watching = asyncio.create_task(self._watch(request, child))
            try:
                preview = await run_in_threadpool(_read_in_process, child, files, options)
            finally:
                watching.cancel()
                child.kill()
                await run_in_threadpool(self._forget, child)
            if preview is not None:
                return preview
        if self._closed:
            raise HTTPException(503, "the server is stopping; nothing was stored")
        why = watching.result() if watching.done() and not watching.cancelled() else ""
        if why == "gone":
            raise ClientDisconnect
        if why == "late":
            problem = f"takes longer than {self._seconds:,g} seconds to read; expected less"
            return Preview(errors=(BadData(problem, source="what was sent", expected="less"),))
        event("reader-ended", code=child.returncode)
        raise RuntimeError(f"a reader of files ended with code {child.returncode}")

    def close(self) -> None:
        """End every process, whatever it reads."""
        with self._lock:
            self._closed = True
            for child in self._children:
                child.kill()

    def _start(self) -> subprocess.Popen[bytes]:
        from adjudge.collect.importing import process

        child = subprocess.Popen(
            [sys.executable, "-m", process.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C is for the server, which ends its readers itself
        )
        with self._lock:
            self._children.add(child)
            if self._closed:
                child.kill()
        return child

    def _forget(self, child: subprocess.Popen[bytes]) -> None:
        child.wait()
        for pipe in (child.stdin, child.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        with self._lock:
            self._children.discard(child)

    async def _watch(self, request: Request, child: subprocess.Popen[bytes]) -> str:
        """End the process when its client is gone, or has waited long enough."""
        why = "late"
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                why = "gone"
        child.kill()
        return why
