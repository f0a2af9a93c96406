"""Parts of the judgments on the processes of a Dask cluster: where each is, and jobs about them.

Each part has a home among the processes. A job goes to every home, once a process and not once a
part; answers are sums of whole numbers, added up in a tree of processes where there are many. A
process that dies loses its parts: they get other homes, are sent again, and asked again. A process
that joins takes over some of them. None of this changes a sum.
"""

from __future__ import annotations

import itertools
import uuid
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from functools import cached_property, reduce
from importlib import import_module
from typing import Any

import numpy as np

from adjudge.engines import _remote as remote
from adjudge.engines._remote import Job, JobResult, Parcel, Partial, Past, Piece
from adjudge.engines._shared import shared_array
from adjudge.errors import AdjudgeError, ClusterLost

_LOOK = 0.25  # seconds between looks at whether processes still live
_WAIT = 60.0  # seconds that a cluster without any process is given to get one
_ATTEMPTS = 8  # times that what is lost is sent and asked again
_FAN = 8  # answers that one process adds up
_SMALL = 2**16  # bytes of a part up to which it goes with the message that asks to hold it
_LARGE = 2**28  # bytes after which parts go in another message
_EMBED = 4 * 2**20  # bytes up to which a job goes with each message, rather than once to all

_Homes = dict[str, list[int]]  # address of a process, numbers of parts


class Connection:
    """A client of a cluster and what is held there for it."""

    def __init__(self, client: Any, *, local: bool = False) -> None:
        self.client = client
        self._local = local  # it was started on this machine, for this client alone
        self.owner = uuid.uuid4().hex
        self.loads: weakref.WeakValueDictionary[str, Placed] = weakref.WeakValueDictionary()
        self.count = itertools.count()

    def processes(self) -> dict[str, int]:
        """The threads of each process by its address; it waits a while for the first of them."""
        try:
            found: dict[str, int] = self.client.nthreads()
            if not found:
                self.client.wait_for_workers(1, timeout=_WAIT)
                found = self.client.nthreads()
        except self.endings as fault:
            raise self.lost(fault) from None
        return found

    @cached_property
    def shares(self) -> bool:
        """Whether all processes, now and later, can open arrays of this one."""
        probe = shared_array(np.uint8, (1,), on_disk=False) if self._local else None
        if probe is None:
            return False
        try:
            return all(self.client.run(probe.window.is_reached).values())
        except self.endings as fault:
            raise self.lost(fault) from None

    def check(self, fault: BaseException) -> None:
        """Raise what is no trouble of the cluster, or an error where nothing is left of it."""
        if isinstance(fault, RuntimeError) and self.client.status == "running":
            raise fault
        self.processes()

    @property
    def troubles(self) -> tuple[type[BaseException], ...]:
        """What Dask raises when a process or the scheduler goes away."""
        from distributed.client import ClosedClientError
        from distributed.scheduler import KilledWorker

        return (OSError, TimeoutError, CancelledError, ClosedClientError, KilledWorker)

    @property
    def endings(self) -> tuple[type[BaseException], ...]:
        """The same, and what a client says that has given up."""
        return (*self.troubles, RuntimeError)

    def lost(self, fault: BaseException) -> ClusterLost:
        """The error for a scheduler that does not answer any more, or has no process left."""
        address = getattr(self.client.scheduler, "address", "an unknown address")
        return ClusterLost(str(address), f"{type(fault).__name__}: {fault}".splitlines()[0])

    def close(self) -> None:
        """Let the processes forget what they held for this client, if they can be told."""
        try:
            self.client.run(remote.forget, self.owner)
        except self.endings:
            return


class Placed:
    """Parts of one load of judgments, each with a home."""

    def __init__(
        self,
        connection: Connection,
        count: int,
        piece: Callable[[int], Piece],
        past: Callable[[int, int], Past | None] | None = None,
    ) -> None:
        self.connection = connection
        self.client = connection.client
        self.piece = piece
        self.past = past
        self.name = str(next(connection.count))
        self.load = (connection.owner, self.name)
        self.home: list[str | None] = [None] * count
        connection.loads[self.name] = self

    def ask(
        self,
        job: Job,
        *,
        own: Callable[[int], Any] | None = None,
        chain: int | None = None,
        take: Callable[[int, tuple[Any, ...]], None] | None = None,
        apart: bool = True,
    ) -> tuple[Any, ...]:
        """The sums of a job over all parts.

        ``own`` is what a part is sent with the job, by its number. ``take`` gets the rows that the
        parts send back, part by part, each in a message of its own unless ``apart`` is false.
        ``chain`` says whose state is to be sent along with a part that is lost.
        """
        left = list(range(len(self.home)))
        total: JobResult | None = None
        for _ in range(_ATTEMPTS):
            homes = self._homes(left)
            for partial in self._round(job, homes, own, each=apart and take is not None):
                if partial.answer is not None:
                    total = self._taken(partial.answer, total, take)
                left = [number for number in left if number not in set(partial.done)]
                self._send(partial.missing, chain)
            if not left:
                return () if total is None else total.sums
        raise ClusterLost(
            str(self.client.scheduler.address), f"processes died {_ATTEMPTS} times in one sweep"
        )

    def _taken(
        self,
        answer: JobResult,
        total: JobResult | None,
        take: Callable[[int, tuple[Any, ...]], None] | None,
    ) -> JobResult:
        if take is not None:
            for number, rows in answer.rows.items():
                take(number, rows)
            answer = JobResult(answer.sums)
        return answer if total is None else total.add(answer)

    def _homes(self, wanted: list[int]) -> _Homes:
        """The home of each part wanted; parts whose home is gone or too full get another."""
        processes = self.connection.processes()
        most = -(-len(self.home) // len(processes))
        held: _Homes = {address: [] for address in processes}
        moved = []
        for number, address in enumerate(self.home):
            if address in held and len(held[address]) < most:
                held[address].append(number)
            else:
                moved.append(number)
        for number in moved:
            address = min(held, key=lambda name: len(held[name]))
            held[address].append(number)
            self.home[number] = address
        chosen = set(wanted)
        found = {address: [n for n in numbers if n in chosen] for address, numbers in held.items()}
        return {address: numbers for address, numbers in found.items() if numbers}

    def _round(
        self, job: Job, homes: _Homes, own: Callable[[int], Any] | None, *, each: bool
    ) -> list[Partial]:
        """The answers that came back; those of processes that died meanwhile are not among them."""
        groups = [
            (address, group)
            for address, numbers in homes.items()
            for group in ([(n,) for n in numbers] if each else [tuple(numbers)])
        ]
        try:
            sent = self._job(job, len(groups))
            futures = {}
            for address, group in groups:
                given = None if own is None else {number: own(number) for number in group}
                future = self.client.submit(
                    remote.work, self.load, group, sent, given, workers=[address], pure=False
                )
                futures[future] = address
            if each or len(futures) <= _FAN:
                ended = self._finished(futures)
                return [self._result(future, {futures[future]}) for future in ended]
            return self._tree(futures)
        except self.connection.endings as fault:
            self.connection.check(fault)
            return []

    def _job(self, job: Job, count: int) -> Any:
        """The job as it is given to every message: itself, or a note of where it was sent."""
        tables: Any = getattr(job, "tables", None) or job
        arrays = [getattr(tables, name, None) for name in ("ratio", "weight", "plain")]
        size = sum(array.nbytes for array in arrays if array is not None)
        if size * count <= _EMBED:
            return job
        return self.client.scatter(job, broadcast=True, hash=False)

    def _finished(self, futures: dict[Any, str]) -> list[Any]:
        """Those that ended, well or badly; those whose process is gone are given up."""
        wait: Any = import_module("distributed").wait
        waiting, ended = dict(futures), []
        while waiting:
            try:
                done = wait(list(waiting), timeout=_LOOK, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                done = set()
            for future in done:
                del waiting[future]
                ended.append(future)
            if not done:
                living = self.connection.processes()
                for future in [f for f, address in waiting.items() if address not in living]:
                    del waiting[future]
                    future.cancel()
        return ended

    def _result(self, future: Any, addresses: set[str]) -> Partial:
        """The answer in a future; nothing, if a process that had it is gone.

        A process may die between its answer and our asking for it. The scheduler then waits for
        one at that very address to do the work again, and would wait for ever.
        """
        while True:
            try:
                partial: Partial = future.result(timeout=_LOOK)
            except AdjudgeError:
                raise
            except TimeoutError:
                if addresses - set(self.connection.processes()):
                    future.cancel()
                    return Partial((), (), None)
            except self.connection.troubles:
                return Partial((), (), None)
            else:
                return partial

    def _tree(self, futures: dict[Any, str]) -> list[Partial]:
        """The answers added up by the processes themselves, a few at a time."""
        level = [future for future in self._finished(futures) if future.status == "finished"]
        while len(level) > _FAN:
            groups = [level[at : at + _FAN] for at in range(0, len(level), _FAN)]
            knots = {self.client.submit(remote.together, group, pure=False): "" for group in groups}
            level = self._watched(knots, set(futures.values()))
        partials = [self._result(future, set(futures.values())) for future in level]
        return [reduce(Partial.add, partials)] if partials else []

    def _watched(self, knots: dict[Any, str], addresses: set[str]) -> list[Any]:
        """Knots of the tree when they are done; none, if one of the processes beneath them died."""
        wait: Any = import_module("distributed").wait
        while True:
            try:
                wait(list(knots), timeout=_LOOK)
            except TimeoutError:
                if addresses - set(self.connection.processes()):
                    for knot in knots:
                        knot.cancel()
                    return []
                continue
            return list(knots)

    def _send(self, missing: tuple[int, ...], chain: int | None) -> None:
        """Send parts to their homes, with the past of a chain if there is one."""
        if not missing:
            return
        living = self.connection.processes()
        live = tuple(self.connection.loads)
        futures: dict[Any, str] = {}
        for address, parcels in self._parcels(missing, chain, living):
            try:
                given: Any = parcels
                if parcels[0][0].nbytes > _SMALL or chain is not None:
                    (given,) = self.client.scatter([parcels], workers=[address], hash=False)
                future = self.client.submit(
                    remote.hold,
                    self.load,
                    live,
                    given,
                    living[address],
                    workers=[address],
                    pure=False,
                )
            except self.connection.troubles:
                continue
            futures[future] = address
        for future in self._finished(futures):
            self._result(future, {futures[future]})

    def _parcels(
        self, missing: tuple[int, ...], chain: int | None, living: dict[str, int]
    ) -> Iterator[tuple[str, list[Parcel]]]:
        """Parts by the home that they are sent to, as many at once as are not too large."""
        for address in living:
            parcels: list[Parcel] = []
            size = 0
            for number in missing:
                if self.home[number] != address:
                    continue
                past = None if chain is None or self.past is None else self.past(number, chain)
                parcels.append((self.piece(number), past))
                size += parcels[-1][0].nbytes
                if size > _LARGE:
                    yield address, parcels
                    parcels, size = [], 0
            if parcels:
                yield address, parcels
