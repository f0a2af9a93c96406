"""Parts of the judgments on a Dask cluster, and functions that run on every part.

Each part is a task of Dask, whose arguments the scheduler keeps. When a worker dies, Dask runs its
tasks again elsewhere, those that made its parts first. A scheduler that is gone is an error.

What a worker of a Dask cluster does with its parts of the judgments.

Every function gets a part, so that Dask can run it on whichever worker holds that part, or on
another one after a worker died. Sums are whole numbers: where and how often a function runs does
not change a result.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines._part import Part, Slice, cut, even_cuts
from adjudge.engines.engine import Tally, Task
from adjudge.engines.threads import ThreadsSampler
from adjudge.errors import AdjudgeError, ClusterLost
from adjudge.lazy import load

_Sums = tuple[Any, ...]  # arrays of whole numbers, and whole numbers
_Rows = tuple[NDArray[Any], ...]  # one row per item of the part


@dataclass(frozen=True, slots=True, eq=False)
class Sampling:
    """What a part needs for a Gibbs sampler."""

    seed: int
    chains: int
    pivot: NDArray[np.int16]  # (item,)


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One draw of a chain; ``added`` counts the draws that were added to its mean before."""

    chain: int
    iteration: int
    prior: NDArray[np.int64]
    ratio: NDArray[np.int64]
    keep: float
    added: int


class HeldPart:
    """A run of items in the memory of a worker.

    The chains of a sampler are kept here to save time. A part that was moved or made again starts
    without them: draws depend on the rates alone, and a mean that is behind is computed again.
    """

    def __init__(
        self,
        judgments: Slice,
        known: NDArray[np.signedinteger] | None,  # (item,)
        by_topic: bool,
        first: int = 0,  # item
        sampling: Sampling | None = None,
    ) -> None:
        self.made_of = (judgments, known, by_topic, first, sampling)
        # Dask runs as many parts at once as a worker has threads.
        self.part = Part(judgments, known, by_topic=by_topic, threads=1)
        self.items = judgments.item_count
        if sampling is not None:
            self.sampler = ThreadsSampler(
                judgments,
                known,
                by_topic=by_topic,
                seed=sampling.seed,
                chains=sampling.chains,
                pivot=sampling.pivot,
                first=first,
            )
            self.added = [0] * sampling.chains
            self.locks = [threading.Lock() for _ in range(sampling.chains)]

    def __reduce__(self) -> tuple[Any, ...]:
        return HeldPart, self.made_of

    def __sizeof__(self) -> int:
        return 2 * self.made_of[0].judge.nbytes + 16 * self.items


def run(function: Callable[..., Any], held: HeldPart, given: tuple[Any, ...], own: Any) -> Any:
    """Call a function with a part, what all parts are given, and what is the part's own."""
    return function(held, *given) if own is None else function(held, *given, own)


def same(given: Any) -> Any:
    """What is given: the task that holds what all parts need."""
    return given


def add_sums(parts: list[_Sums]) -> _Sums:
    """Add the sums of several parts up."""
    return tuple(reduce(np.add, values) for values in zip(*parts, strict=True))


def run_task(held: HeldPart, task: Task, own: Any = None) -> _Sums:
    """Run a task on a part; ``own`` has one row for the task to read per item."""
    return task.run(held.part, *(() if own is None else (own,)))


def write_rows(
    held: HeldPart, task: Task, shapes: list[tuple[tuple[int, ...], Any]], own: Any = None
) -> tuple[_Sums, _Rows]:
    """Run a task that writes rows of those shapes and types; its sums and the rows."""
    rows = tuple(np.empty((held.items, *shape), dtype=kind) for shape, kind in shapes)
    return task.run(held.part, *(() if own is None else (own,)), *rows), rows


def start(held: HeldPart, chain: int, choice: NDArray[np.int16]) -> _Sums:
    """Counts under given truths, from which a chain starts."""
    with held.locks[chain]:
        return _sums_of(held.sampler.start(chain, choice.copy()))


def draw(held: HeldPart, given: Draw) -> _Sums:
    """Counts under the truths of a draw, which is added to the mean if that is not behind."""
    with held.locks[given.chain]:
        adds = given.keep != 0.0 and held.added[given.chain] == given.added
        tally = _draw(held, given, given.keep if adds else 0.0)
        held.added[given.chain] += adds
        return _sums_of(tally)


def mean(
    held: HeldPart,
    chain: int,
    draws: list[Draw],
    added: int,
    earlier: NDArray[np.float64] | None = None,  # (item, truth)
) -> tuple[_Sums, _Rows]:
    """The mean of a chain over ``added`` draws; where it is behind: ``earlier`` and ``draws``."""
    with held.locks[chain]:
        if held.added[chain] != added:
            zero = np.zeros((held.items, held.part.truths))
            held.sampler.restore(chain, zero if earlier is None else earlier)
            for one in draws:
                _draw(held, one, one.keep)
            held.added[chain] = added
        return (), (held.sampler.mean(chain),)


def _draw(held: HeldPart, given: Draw, keep: float) -> Tally:
    return held.sampler.draw(given.chain, given.iteration, given.prior, given.ratio, keep)


def _sums_of(tally: Tally) -> _Sums:
    return tally.counts, tally.classes, tally.switch


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
                sums = [self.client.submit(add_sums, group, pure=False) for group in groups]
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
        return add_sums(sums)

    def _submit(
        self, function: Callable[..., Any], given: tuple[Any, ...], own: NDArray[Any] | None
    ) -> list[Any]:
        # One task holds what all parts need: it is sent to the scheduler once.
        common = self.client.submit(same, given, pure=False)
        return [
            self.client.submit(
                run, function, part, common, None if own is None else own[items], pure=False
            )
            for part, items in zip(self.futures, self.items, strict=True)
        ]
