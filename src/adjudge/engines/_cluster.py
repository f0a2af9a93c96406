"""Parts of the judgments on a Dask cluster, and functions that run on every part.

Each part is a task of Dask, whose arguments the scheduler keeps. When a worker dies, Dask runs its
tasks again elsewhere, those that made its parts first. A scheduler that is gone is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines import _remote as remote
from adjudge.engines._coded import cut
from adjudge.engines._part import even_cuts
from adjudge.engines._remote import HeldPart, Sampling
from adjudge.errors import AdjudgeError, ClusterLost
from adjudge.lazy import load

_WAIT = 60.0  # seconds that a cluster without any worker is given to get one
_FAN = 8  # sums that one task adds up
_MOST = 8_000_000  # judgments in a part at most
_SPARE = 2  # parts per thread of the cluster: a thread that is slow does not hold up the others


class Connection:
    """A client of a cluster; what goes wrong with the cluster is raised as ``ClusterLost``."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.address = str(client.scheduler.address)  # a client that gave up has none

    def workers(self) -> dict[str, int]:
        """The threads of each worker by its address; waits a while for the first worker."""
        with self.guard():
            found: dict[str, int] = self.client.nthreads()
            if not found:
                self.client.wait_for_workers(1, timeout=_WAIT)
                found = self.client.nthreads()
            return found

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turn what Dask raises when its scheduler or all workers are gone into one error."""
        from distributed.client import ClosedClientError
        from distributed.scheduler import KilledWorker

        gone = (OSError, TimeoutError, CancelledError, ClosedClientError, KilledWorker)
        try:
            yield
        except AdjudgeError:
            raise
        except (*gone, RuntimeError) as fault:
            if isinstance(fault, RuntimeError) and self.client.status == "running":
                raise
            reason = f"{type(fault).__name__}: {fault}".splitlines()[0]
            if isinstance(fault, CancelledError):
                reason = "its scheduler does not answer"
            raise ClusterLost(self.address, reason) from None

    def gather(self, futures: list[Any]) -> list[Any]:
        """The results of tasks, in their order."""
        wait = load("distributed").wait
        with self.guard():
            while True:
                try:
                    wait(futures, timeout=_WAIT)
                    break
                except TimeoutError:
                    self.workers()
            return list(self.client.gather(futures))


class Parts:
    """Judgments cut into runs of items, each held by a worker."""

    def __init__(
        self,
        connection: Connection,
        judgments: Judgments,
        known: NDArray[np.signedinteger] | None,
        by_topic: bool,
        sampling: Sampling | None = None,
    ) -> None:
        self.connection, self.client = connection, connection.client
        threads = sum(connection.workers().values())
        ends = even_cuts(judgments.offsets, max(_SPARE * threads, -(-len(judgments) // _MOST)))
        self.items = [slice(*run) for run in pairwise(ends)]
        self.futures = []
        # Parts are in the graph, so that Dask can make them again: it need not warn of its size.
        unlimited = {"distributed.admin.large-graph-warning-threshold": 2**60}
        with connection.guard(), load("dask").config.set(unlimited):
            for items in self.items:
                own = None if known is None else known[items]
                drawn = None
                if sampling is not None:
                    drawn = Sampling(sampling.seed, sampling.chains, sampling.pivot[items])
                part = (cut(judgments, items), own, by_topic, items.start, drawn)
                self.futures.append(self.client.submit(HeldPart, *part, pure=False))

    def add_up(
        self, function: Callable[..., Any], *given: Any, own: NDArray[Any] | None = None
    ) -> tuple[Any, ...]:
        """The sums that a function leaves of all parts; ``own`` has one row per item."""
        with self.connection.guard():
            sums = self._submit(function, given, own)
            while len(sums) > 1:
                groups = [sums[at : at + _FAN] for at in range(0, len(sums), _FAN)]
                sums = [self.client.submit(remote.add_sums, group, pure=False) for group in groups]
        found: tuple[Any, ...] = self.connection.gather(sums)[0]
        # Arrays from a message are read-only; kernels are compiled for those that are not.
        return tuple(
            np.require(value, requirements="W") if np.ndim(value) else value for value in found
        )

    def collect(
        self,
        function: Callable[..., Any],
        *given: Any,
        into: tuple[NDArray[Any], ...],
        own: NDArray[Any] | None = None,
    ) -> tuple[Any, ...]:
        """The sums that a function leaves; its rows are written ``into`` arrays of all items."""
        with self.connection.guard():
            futures = self._submit(function, given, own)
        sums = []
        for items in self.items:
            added, rows = self.connection.gather([futures.pop(0)])[0]
            sums.append(added)
            for array, values in zip(into, rows, strict=True):
                array[items] = values
        return remote.add_sums(sums)

    def _submit(
        self, function: Callable[..., Any], given: tuple[Any, ...], own: NDArray[Any] | None
    ) -> list[Any]:
        # One task holds what all parts need: it is sent to the scheduler once.
        common = self.client.submit(remote.same, given, pure=False)
        return [
            self.client.submit(
                remote.run, function, part, common, None if own is None else own[items], pure=False
            )
            for part, items in zip(self.futures, self.items, strict=True)
        ]
