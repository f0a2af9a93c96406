"""What a process of a cluster does: it holds parts of the judgments and answers jobs about them.

Parts stay in a dictionary of the process from sweep to sweep. A job that finds a part or its state
gone, because the process that held it died, says so, and whoever asked sends it again: the one
that asks is the durable source. Draws carry a number, so that a job that is run twice counts once.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.engines._part import Part, Sums
from adjudge.engines._sampling import ThreadsSampler
from adjudge.engines._shared import Window
from adjudge.engines._sources import PartSource, SentPart
from adjudge.engines._voting import count_against, weigh_votes
from adjudge.engines.engine import RowTask, Tables, Tally, Task


@dataclass(frozen=True, slots=True, eq=False)
class Sampling:
    """What a part has to know to be sampled."""

    seed: int
    chains: int
    pivot: NDArray[np.int16]  # (item,)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A part of the judgments as it is sent: a run of items."""

    number: int
    first: int  # item
    source: PartSource
    known: NDArray[np.signedinteger] | None  # (item,)
    by_topic: bool
    sampling: Sampling | None = None

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes to send."""
        given = self.source
        size = given.judgments.judge.nbytes * 2 if isinstance(given, SentPart) else 0
        pivot = None if self.sampling is None else self.sampling.pivot
        return size + sum(array.nbytes for array in (self.known, pivot) if array is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One draw of a chain, the ``sequence``-th job that it was given."""

    chain: int
    sequence: int
    iteration: int
    prior: NDArray[np.int64]
    ratio: NDArray[np.int64]
    keep: float

    def run(self, held: HeldPart, _: Any) -> JobResult | None:
        """Draw, unless that was done already."""
        sampler = held.need_sampler()
        with held.locks[self.chain]:
            if held.done[self.chain] == self.sequence - 1:
                tally = sampler.draw(self.chain, self.iteration, self.prior, self.ratio, self.keep)
                held.done[self.chain] = self.sequence
            elif held.done[self.chain] == self.sequence:
                tally = held.tally_of(self.chain)
            else:
                return None
        return _tallied(tally)


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """What a chain did in a part that is lost: posteriors added up, and draws since then."""

    chain: int
    sequence: int  # how far it had come
    choice: NDArray[np.int16]  # (item,) where it started
    mean: NDArray[np.float64] | None  # (item, truth)
    draws: tuple[Draw, ...]  # those that were kept since the mean


@dataclass(frozen=True, slots=True, eq=False)
class JobResult:
    """What a job leaves: whole numbers to be added up, and rows by the number of the part."""

    sums: tuple[Any, ...] = ()
    rows: dict[int, tuple[NDArray[Any], ...]] = field(default_factory=dict)

    def add(self, other: JobResult) -> JobResult:
        """Both answers as one; they may be used up."""
        sums = tuple(_added(one, two) for one, two in zip(self.sums, other.sums, strict=True))
        return JobResult(sums, self.rows | other.rows)


def _added(one: Any, two: Any) -> Any:
    if isinstance(one, np.ndarray) and one.flags.writeable:
        return np.add(one, two, out=one)
    return one + two


def _tallied(tally: Tally) -> JobResult:
    """A tally as an answer."""
    return JobResult((tally.counts, tally.classes, tally.switch))


def _summed(sums: Sums) -> JobResult:
    """Sums as an answer."""
    return JobResult((sums.counts, sums.classes, sums.likelihood))


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """What a process answers: about which parts, and which parts it does not have."""

    done: tuple[int, ...]
    missing: tuple[int, ...]
    answer: JobResult | None

    def add(self, other: Partial) -> Partial:
        """Both as one."""
        answers = [part.answer for part in (self, other) if part.answer is not None]
        answer = reduce(JobResult.add, answers) if answers else None
        return Partial(self.done + other.done, self.missing + other.missing, answer)


class HeldPart:
    """A part in the memory of this process."""

    def __init__(self, piece: Piece, threads: int) -> None:
        self.piece = piece
        self.judgments = piece.source.open()
        self.threads = threads
        self.lock = threading.Lock()
        self._part: Part | None = None
        self.sampler: ThreadsSampler | None = None
        given = piece.sampling
        chains = 0 if given is None else given.chains
        self.done = [-1] * chains  # the last job that each chain was given
        self.locks = [threading.Lock() for _ in range(chains)]
        if given is not None:
            self.sampler = ThreadsSampler(
                self.judgments,
                piece.known,
                by_topic=piece.by_topic,
                seed=given.seed,
                chains=chains,
                pivot=given.pivot,
                first=piece.first,
            )

    @property
    def part(self) -> Part:
        """The part, ready to be swept."""
        with self.lock:
            if self._part is None:
                self._part = Part(
                    self.judgments,
                    self.piece.known,
                    by_topic=self.piece.by_topic,
                    threads=self.threads,
                )
            return self._part

    def need_sampler(self) -> ThreadsSampler:
        """The sampler of a part that was sent to be sampled."""
        if self.sampler is None:
            raise RuntimeError("this part was not sent to be sampled")
        return self.sampler

    def tally_of(self, chain: int) -> Tally:
        """The counts of a chain's last draw."""
        tally = self.need_sampler().tally(chain)
        if tally is None:
            raise RuntimeError(f"chain {chain} has not been started")
        return tally

    def recall(self, past: Past) -> None:
        """Bring a chain to where it was."""
        sampler = self.need_sampler()
        with self.locks[past.chain]:
            sampler.start(past.chain, past.choice)
            shape = (sampler.items, sampler.truths)
            sampler.restore(past.chain, np.zeros(shape) if past.mean is None else past.mean)
            for draw in past.draws:
                sampler.draw(past.chain, draw.iteration, draw.prior, draw.ratio, draw.keep)
            self.done[past.chain] = past.sequence

    @property
    def posterior(self) -> NDArray[np.float64]:
        """Room for the posteriors of the part's items."""
        return np.empty((self.judgments.item_count, len(self.judgments.scale.truths)))

    def window(self, buffer: Window | None) -> NDArray[np.float64] | None:
        """The part's rows in a shared buffer, None where there is none or it is elsewhere."""
        whole = None if buffer is None else buffer.open(write=True)
        first = self.piece.first
        return None if whole is None else whole[first : first + self.judgments.item_count]


class Job(Protocol):
    """Something to be done with every part."""

    def run(self, held: HeldPart, own: Any) -> JobResult | None:
        """The answer of a part, given what is the part's own; None if its state is lost."""


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """A sweep; with ``keep`` posteriors are written to ``buffer``, or sent back where it is not.

    A part that is swept twice writes the same bits twice.
    """

    tables: Tables | None
    shared: bool
    keep: bool = False
    buffer: Window | None = None  # (item, truth)

    def run(self, held: HeldPart, _: Any) -> JobResult:
        """Sums of expected counts, and posteriors if they are wanted."""
        if not self.keep:
            return _summed(held.part.sweep(self.tables, self.shared))
        rows = held.window(self.buffer)
        if rows is not None:
            return _summed(held.part.sweep(self.tables, self.shared, rows))
        posterior = held.posterior
        answer = _summed(held.part.sweep(self.tables, self.shared, posterior))
        return JobResult(answer.sums, {held.piece.number: (posterior,)})


@dataclass(frozen=True, slots=True, eq=False)
class CountCells:
    """A count of the judgments in each cell."""

    shared: bool

    def run(self, held: HeldPart, _: Any) -> JobResult:
        """Judgments of each label by each judge."""
        return JobResult((held.part.cells(self.shared),))


@dataclass(frozen=True, slots=True, eq=False)
class Against:
    """A count of labels by the kind of the item; the part's own are the kinds of its items."""

    kinds: int

    def run(self, held: HeldPart, own: NDArray[np.int16]) -> JobResult:
        """Labels of each judge by the kind of the item."""
        return JobResult((count_against(held.part, own, self.kinds),))


@dataclass(frozen=True, slots=True, eq=False)
class Weigh:
    """Weighted votes."""

    weight: NDArray[np.int64]  # (judge,)
    plain: NDArray[np.int64]  # (judge,)
    flip: NDArray[np.bool_]  # (judge,)

    def run(self, held: HeldPart, _: Any) -> JobResult:
        """Votes of every item, which fell back, and counts under them."""
        posterior = held.posterior
        fallback = np.zeros(len(posterior), dtype=np.bool_)
        counts = weigh_votes(held.part, self.weight, self.plain, self.flip, posterior, fallback)
        return JobResult((counts,), {held.piece.number: (posterior, fallback)})


@dataclass(frozen=True, slots=True, eq=False)
class AddUp:
    """A task whose sums are added up."""

    task: Task

    def run(self, held: HeldPart, _: Any) -> JobResult:
        """The sums of the part."""
        return JobResult(self.task.run(held.part))


@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """A task that writes rows, to ``buffer`` or, where it is elsewhere, to be sent back."""

    task: RowTask
    columns: int
    buffer: Window | None = None  # (item, column)

    def run(self, held: HeldPart, _: Any) -> JobResult:
        """The rows of the part."""
        rows = held.window(self.buffer)
        if rows is not None:
            self.task.fill(held.part, rows)
            return JobResult()
        rows = np.empty((held.judgments.item_count, self.columns))
        self.task.fill(held.part, rows)
        return JobResult((), {held.piece.number: (rows,)})


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """The start of a chain; the part's own are the truths of its items."""

    chain: int

    def run(self, held: HeldPart, own: NDArray[np.int16]) -> JobResult:
        """Counts under the given truths."""
        with held.locks[self.chain]:
            tally = held.need_sampler().start(self.chain, own.copy())
            held.done[self.chain] = 0
        return _tallied(tally)


@dataclass(frozen=True, slots=True, eq=False)
class ChainMean:
    """The posteriors that a chain added up."""

    chain: int
    sequence: int

    def run(self, held: HeldPart, _: Any) -> JobResult | None:
        """The sum of every item, if the chain is as far as is thought."""
        if held.done[self.chain] != self.sequence:
            return None
        return JobResult((), {held.piece.number: (held.need_sampler().mean(self.chain),)})


_HELD: dict[tuple[str, str], dict[int, HeldPart]] = {}  # by owner and load, then by number
_LOCK = threading.Lock()


Parcel = tuple[Piece, Past | None]


def hold(load: tuple[str, str], live: tuple[str, ...], parcels: list[Parcel], threads: int) -> None:
    """Take parts in; one with a past has its chain brought to where it was.

    ``live`` are the loads that the owner still uses: the rest of theirs is forgotten.
    """
    owner, _ = load
    with _LOCK:
        for other in [key for key in _HELD if key[0] == owner and key[1] not in live]:
            del _HELD[other]
    for piece, past in parcels:
        with _LOCK:
            held = _HELD.setdefault(load, {}).get(piece.number)
        if held is None:
            made = HeldPart(piece, threads)
            with _LOCK:
                held = _HELD.setdefault(load, {}).setdefault(piece.number, made)
        if past is not None:
            held.recall(past)


def work(
    load: tuple[str, str], numbers: tuple[int, ...], job: Job, own: dict[int, Any] | None
) -> Partial:
    """Do a job with each of the parts and add the answers up; say which parts are not here."""
    with _LOCK:
        here = dict(_HELD.get(load, {}))
    done: list[int] = []
    total: JobResult | None = None
    for number in numbers:
        held = here.get(number)
        answer = None if held is None else job.run(held, None if own is None else own[number])
        if answer is not None:
            total = answer if total is None else total.add(answer)
            done.append(number)
    missing = tuple(number for number in numbers if number not in set(done))
    return Partial(tuple(done), missing, total)


def together(partials: list[Partial]) -> Partial:
    """What several processes answered, as one: a knot of the tree that adds up."""
    return reduce(Partial.add, partials)


def forget(owner: str) -> None:
    """Let go of everything that an owner had here."""
    with _LOCK:
        for key in [key for key in _HELD if key[0] == owner]:
            del _HELD[key]


def count_held(owner: str) -> int:
    """How many parts this process holds for an owner."""
    with _LOCK:
        return sum(len(parts) for key, parts in _HELD.items() if key[0] == owner)
