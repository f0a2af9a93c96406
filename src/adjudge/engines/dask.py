"""Sweeps on a Dask cluster: parts of the judgments stay with its processes, parameters travel.

A sweep sends the parameters, every process runs the same kernels on its parts, and the sums come
back. Sums are whole numbers: labels, parameters and draws have the same bits as with the embedded
engine, whatever the number of processes and whichever of them died on the way.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines._cluster import Connection, Placed
from adjudge.engines._dask_sampling import DaskSampler
from adjudge.engines._part import Frame, Sums, is_on_disk, make_buffer, spelt_out, usable_cores
from adjudge.engines._pieces import Cuts
from adjudge.engines._remote import AddUp, Against, CountCells, Fill, Sweep, Weigh
from adjudge.engines._shared import Shared, Window, shared_array
from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Counts, Parameters, RowTask, Tables, Task
from adjudge.errors import BadSetting, ClusterLost
from adjudge.lazy import load

_REACHED = 10.0  # seconds in which a scheduler must answer
_WORTH = 4 * 2**20  # bytes from which sharing a buffer is worth it


class DaskEngine:
    """Sweeps on a cluster: a ``distributed.Client``, a scheduler's address, or processes here.

    Without a client and an address, a cluster of ``processes`` on this machine is started, and
    ended by ``close`` or at the end of a ``with`` block.
    """

    def __init__(
        self,
        client: Any = None,
        *,
        scheduler: str | None = None,
        processes: int | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        if sum(given is not None for given in (client, scheduler, processes)) > 1:
            raise BadSetting("processes", processes, "one of client, scheduler and processes")
        if processes is not None and processes < 1:
            raise BadSetting("processes", processes, "at least one process")
        self._owned: list[Any] = []
        local = client is None and scheduler is None
        if client is None:
            client = _connected(scheduler) if scheduler else self._local(processes)
            self._owned.append(client)
        self.connection = Connection(client, local=local)

    def _local(self, processes: int | None) -> Any:
        """A client of a cluster that is started here."""
        distributed = load("distributed")
        cores = usable_cores()
        count = cores if processes is None else processes
        cluster = distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=max(1, cores // count),
            processes=True,
            dashboard_address=":0",  # any port that is free
            memory_limit=None,
        )
        self._owned.append(cluster)
        return distributed.Client(cluster, direct_to_workers=True)  # they are on this machine

    def __enter__(self) -> DaskEngine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what the cluster holds, and end it if it was started here."""
        self.connection.close()
        for owned in reversed(self._owned):
            owned.close()
        self._owned.clear()

    @property
    def client(self) -> Any:
        """The client, for whatever else is to be asked of the cluster."""
        return self.connection.client

    @property
    def threads(self) -> int:
        """How many chains can run at once: as many as the processes have threads."""
        return max(self.connection.processes().values())

    def each(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """The results of calls on the processes of the cluster, in the order of the arguments.

        A few calls more than there are threads are under way at a time. A call whose process dies
        is made again, so it has to do no harm when it is made twice.
        """
        room = 2 * sum(self.connection.processes().values())
        under_way: deque[Any] = deque()
        try:
            for given in arguments:
                under_way.append(self.client.submit(function, *given, pure=False, retries=3))
                if len(under_way) >= room:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        except self.connection.endings as fault:
            self.connection.check(fault)
            raise self.connection.lost(fault) from None

    def load(
        self,
        judgments: Judgments,
        known: NDArray[np.signedinteger] | None = None,
        *,
        by_topic: bool = False,
        shared: bool = False,
    ) -> _DaskSweeps:
        """Take judgments in: parts are sent when the first sweep asks for them."""
        if by_topic and judgments.topic is None:
            raise BadSetting("by_topic", True, "judgments with topics: these have none")
        cuts = self._cuts(judgments, known, by_topic)
        return _DaskSweeps(Placed(self.connection, len(cuts), cuts.piece), cuts, shared)

    def sampler(
        self,
        judgments: Judgments,
        known: NDArray[np.signedinteger] | None = None,
        *,
        by_topic: bool = False,
        seed: int = 0,
        chains: int = 1,
        pivot: NDArray[np.int16],
    ) -> DaskSampler:
        """Take judgments in for a Gibbs sampler."""
        if by_topic and judgments.topic is None:
            raise BadSetting("by_topic", True, "judgments with topics: these have none")
        cuts = self._cuts(judgments, known, by_topic)
        return DaskSampler(self.connection, cuts, seed=seed, chains=chains, pivot=pivot)

    def _cuts(
        self, judgments: Judgments, known: NDArray[np.signedinteger] | None, by_topic: bool
    ) -> Cuts:
        processes = len(self.connection.processes())
        return Cuts.of(judgments, known, by_topic, processes, local=self.connection.shares)


def _connected(scheduler: str) -> Any:
    """A client of the scheduler at an address."""
    distributed = load("distributed")
    try:
        return distributed.Client(scheduler, timeout=_REACHED)
    except (OSError, ValueError) as fault:
        raise ClusterLost(scheduler, str(fault).splitlines()[0]) from None


def _make_shared_buffer(judgments: Judgments, truths: int) -> Shared | None:  # (item, truth)
    """The same, for processes of this machine to write to; None where sending costs less."""
    if 8 * judgments.item_count * truths < _WORTH:
        return None
    shape = (judgments.item_count, truths)
    return shared_array(np.float64, shape, on_disk=is_on_disk(judgments, truths))


def _keep_shared(shared: Shared, judgments: Judgments) -> NDArray[np.float64]:  # (item, truth)
    """What was written into a shared buffer, to keep: in memory of its own, or the file itself."""
    if is_on_disk(judgments, shared.array.shape[1]):
        return shared.array
    return np.array(shared.array)


class _DaskSweeps:
    """Judgments in parts on a cluster, swept by its processes."""

    def __init__(self, placed: Placed, cuts: Cuts, shared: bool) -> None:
        self.placed, self.cuts, self.shared = placed, cuts, shared
        self.judgments = cuts.judgments
        (cells,) = placed.ask(CountCells(shared))
        self.frame = Frame(self.judgments.scale, np.asarray(cells), cuts.items_of())

    def votes(self) -> Counts:
        """Counts with vote shares for posteriors."""
        return self._swept(None, self.frame, None)

    def expect(self, parameters: Parameters) -> Counts:
        """Expected counts under the parameters."""
        return self._swept(parameters, self.frame, None)

    def posterior(
        self, parameters: Parameters | None, *, own: bool
    ) -> tuple[NDArray[np.float64], Counts]:
        """The posterior of every item, brought together here, and the counts that go with it."""
        truths = len(self.judgments.scale.truths)
        frame = self.frame
        if self.shared and own:
            frame = replace(frame, cells=self.cells().reshape(-1))
            if parameters is not None:
                parameters = spelt_out(parameters, self.judgments.judge_count)
        buffer = _make_shared_buffer(self.judgments, truths) if self.cuts.local else None
        if buffer is not None:
            counts = self._swept(parameters, frame, buffer.array, buffer.window)
            return _keep_shared(buffer, self.judgments), counts
        posterior = make_buffer(self.judgments, truths)
        return posterior, self._swept(parameters, frame, posterior)

    def cells(self) -> NDArray[np.int64]:
        """How many judgments there are of each label by each judge."""
        cells = self.placed.ask(CountCells(False))[0] if self.shared else self.frame.cells
        return np.asarray(cells).reshape(-1, len(self.judgments.scale.labels))

    def against(self, reference: NDArray[np.int16], kinds: int) -> NDArray[np.int64]:
        """How often each judge gave each label to items of each kind."""

        def own(number: int) -> NDArray[np.int16]:
            return reference[self.cuts.items(number)]

        (counts,) = self.placed.ask(Against(kinds), own=own)
        return np.asarray(counts)

    def weigh(
        self, weight: NDArray[np.int64], plain: NDArray[np.int64], flip: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
        """Weighted votes of every item, the items that fell back, and counts in shares."""
        posterior = make_buffer(self.judgments, len(self.judgments.scale.truths))
        fallback = np.zeros(self.judgments.item_count, dtype=np.bool_)

        def take(number: int, rows: tuple[Any, ...]) -> None:
            where = self.cuts.items(number)
            posterior[where], fallback[where] = rows

        (counts,) = self.placed.ask(Weigh(weight, plain, flip), take=take)
        return posterior, fallback, np.asarray(counts)

    def tables(self, parameters: Parameters) -> Tables:
        """The parameters as the whole numbers that tasks read."""
        return self.frame.tables(parameters)[0]

    def counts(self, shares: NDArray[np.int64], classes: NDArray[np.int64]) -> Counts:
        """Shares that a task left, as counts."""
        return self.frame.counts(Sums(shares, classes, 0), 0.0)

    def ask(self, task: Task) -> tuple[Any, ...]:
        """The sums of a task over all parts."""
        return self.placed.ask(AddUp(task))

    def rows(self, task: RowTask, columns: int) -> NDArray[np.float64]:
        """What a task writes of every item, brought together here."""
        shared = _make_shared_buffer(self.judgments, columns) if self.cuts.local else None
        out = make_buffer(self.judgments, columns) if shared is None else shared.array

        def take(number: int, rows: tuple[Any, ...]) -> None:
            out[self.cuts.items(number)] = rows[0]

        buffer = None if shared is None else shared.window
        self.placed.ask(Fill(task, columns, buffer), take=take, apart=shared is None)
        return out if shared is None else _keep_shared(shared, self.judgments)

    def _swept(
        self,
        parameters: Parameters | None,
        frame: Frame,
        posterior: NDArray[np.float64] | None,
        buffer: Window | None = None,
    ) -> Counts:
        """Run one sweep and turn its sums into counts; ``buffer`` is where the posterior is."""
        tables, base = (None, math.nan) if parameters is None else frame.tables(parameters)
        shared = self.shared and len(frame.cells) == len(frame.scale.labels)
        if posterior is None:
            sums = self.placed.ask(Sweep(tables, shared))
        else:
            whole = posterior

            def take(number: int, rows: tuple[Any, ...]) -> None:
                whole[self.cuts.items(number)] = rows[0]

            job = Sweep(tables, shared, keep=True, buffer=buffer)
            sums = self.placed.ask(job, take=take, apart=buffer is None)
        return frame.counts(Sums(*sums), base)
