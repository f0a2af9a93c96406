"""Sweeps on a Dask cluster: parts of the judgments stay with its workers, parameters travel.

A sweep sends the parameters, workers run the same kernels on their parts, and the sums come back.
Sums are whole numbers: labels, parameters and draws have the same bits as with threads, whatever
the number of workers and whichever of them died.
"""

from __future__ import annotations

import logging
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines import _cluster as remote
from adjudge.engines._cluster import Connection, Draw, Parts, Sampling
from adjudge.engines._part import usable_cores
from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Tally, Task
from adjudge.engines.sweeps import Sweeps
from adjudge.errors import BadSetting, ClusterLost
from adjudge.lazy import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.data.formats.format import Content, Options

_REACHED = 10.0  # seconds in which a scheduler must answer
_REMEMBERED = 64  # draws after which the mean so far is fetched, and they are forgotten


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
        if client is None:
            client = _connect(scheduler) if scheduler else self._start(processes)
            self._owned.append(client)
        self.connection = Connection(client)

    def _start(self, processes: int | None) -> Any:
        """Start a cluster on this machine; its client."""
        distributed = load("distributed")
        cores = usable_cores()
        count = cores if processes is None else processes
        cluster = distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=max(1, cores // count),
            processes=True,
            dashboard_address=":0",  # any free port
            memory_limit=None,
            silence_logs=logging.ERROR,
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
        """End what was started here: the client, and the cluster."""
        for owned in reversed(self._owned):
            owned.close()
        self._owned.clear()

    @property
    def client(self) -> Any:
        """The client of the cluster."""
        return self.connection.client

    @property
    def threads(self) -> int:
        """How many chains can run at once: as many as a worker has threads."""
        return max(self.connection.workers().values())

    def read_parquet(self, places: Sequence[str], options: Options | None = None) -> Content:
        """Judgments from Parquet files, read and grouped by item by the workers.

        ``places`` are paths that every worker can read, or URIs of an object storage.
        """
        from adjudge.engines._parquet import read_parquet

        return read_parquet(self.connection, places, options)

    def load(
        self,
        judgments: Judgments,
        known: NDArray[np.signedinteger] | None = None,
        *,
        by_topic: bool = False,
        shared: bool = False,
    ) -> _DaskSweeps:
        """Send judgments to the workers, in parts."""
        _check_topics(judgments, by_topic)
        parts = Parts(self.connection, judgments, known, by_topic)
        return _DaskSweeps(parts, judgments, by_topic, shared)

    def sampler(
        self,
        judgments: Judgments,
        known: NDArray[np.signedinteger] | None = None,
        *,
        by_topic: bool = False,
        seed: int = 0,
        chains: int = 1,
        pivot: NDArray[np.int16],
    ) -> _DaskSampler:
        """Send judgments to the workers for a Gibbs sampler."""
        _check_topics(judgments, by_topic)
        sampling = Sampling(seed, chains, pivot)
        parts = Parts(self.connection, judgments, known, by_topic, sampling)
        return _DaskSampler(parts, judgments, chains)


def _check_topics(judgments: Judgments, by_topic: bool) -> None:
    if by_topic and judgments.topic is None:
        raise BadSetting("by_topic", True, "judgments with topics: these have none")


def _connect(scheduler: str) -> Any:
    """A client of the scheduler at an address."""
    distributed = load("distributed")
    try:
        return distributed.Client(scheduler, timeout=_REACHED)
    except (OSError, ValueError) as fault:
        raise ClusterLost(scheduler, str(fault).splitlines()[0]) from None


class _DaskSweeps(Sweeps):
    """Judgments in parts on a cluster, swept by its workers."""

    def __init__(self, parts: Parts, judgments: Judgments, by_topic: bool, shared: bool) -> None:
        self.parts = parts
        super().__init__(judgments, by_topic, shared)

    def run(
        self,
        task: Task,
        read: NDArray[Any] | None = None,
        into: tuple[NDArray[Any], ...] = (),
    ) -> tuple[Any, ...]:
        """Run a task on all parts."""
        if not into:
            return self.parts.add_up(remote.run_task, task, own=read)
        shapes = [(array.shape[1:], array.dtype) for array in into]
        return self.parts.collect(remote.write_rows, task, shapes, into=into, own=read)


class _Chain:
    """What is needed to compute the mean of a chain again in a part that was lost."""

    def __init__(self) -> None:
        self.added = 0  # draws in the mean
        self.mean: NDArray[np.float64] | None = None  # (item, truth), when last fetched
        self.draws: list[Draw] = []  # added since then


class _DaskSampler:
    """Judgments in parts on a cluster, shared by the chains of a Gibbs sampler.

    Given the rates, items are independent, so that drawing them in parts is exact. The random
    number of an item depends on (seed, chain, iteration, item) alone, and a draw on nothing else
    but the rates: what a worker that died had drawn is drawn again, with the same bits.
    """

    def __init__(self, parts: Parts, judgments: Judgments, chains: int) -> None:
        self.parts, self.judgments = parts, judgments
        self.chains = [_Chain() for _ in range(chains)]

    def start(self, chain: int, choice: NDArray[np.int16]) -> Tally:
        """Counts under a given truth of each item."""
        return _tally(self.parts.add_up(remote.start, chain, own=choice))

    def draw(
        self,
        chain: int,
        iteration: int,
        prior: NDArray[np.int64],
        ratio: NDArray[np.int64],
        keep: float,
    ) -> Tally:
        """Draw every truth, and count under it."""
        state = self.chains[chain]
        # The caller goes on to use these arrays, and the draw may have to be made again.
        draw = Draw(chain, iteration, prior.copy(), ratio.copy(), keep, state.added)
        tally = _tally(self.parts.add_up(remote.draw, draw))
        if keep:
            state.added += 1
            state.draws.append(draw)
            if len(state.draws) >= _REMEMBERED:
                state.mean = self.mean(chain)
                state.draws = []
        return tally

    def restore(self, chain: int, mean: NDArray[np.float64]) -> None:
        """Go on from a mean of earlier: workers are behind it, and are sent it when it is asked."""
        state = self.chains[chain]
        state.mean, state.draws = mean, []
        state.added += 1

    def mean(self, chain: int) -> NDArray[np.float64]:
        """The posteriors that a chain added up."""
        state, scale = self.chains[chain], self.judgments.scale
        mean = np.empty((self.judgments.item_count, len(scale.truths)))
        given = (chain, state.draws, state.added)
        self.parts.collect(remote.mean, *given, into=(mean,), own=state.mean)
        return mean


def _tally(sums: tuple[NDArray[np.int64], ...]) -> Tally:
    counts, classes, switch = sums
    return Tally(counts=counts, classes=classes, switch=switch)
