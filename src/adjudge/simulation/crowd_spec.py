"""Who comes to judge: numbers of simulated judges by behaviour, and how they are sent.

``ethical(accuracy, anchoring)``  looks, and errs as often as stated
``spammer``                       gives the label that was right most often so far
``random``                        gives any label
``colluder``                      shares a ring with all the other colluders
``dropout(pairs)``                is ethical, and vanishes in the middle of something

What a result truly is, only gold says. ``_SimulatedTruths`` draws the rest from
the text and a seed: the same text is the same to everyone who looks.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import AdjudgeError
from adjudge.simulation._judges import Settings
from adjudge.simulation._population import Mixture
from adjudge.simulation.behaviours import (
    Behaviour,
    Clicker,
    Ethical,
    GoldFeedback,
    JudgingClient,
    KnownTruths,
    LabelSpammer,
    Sheet,
    SimulatedJudge,
    Stage,
    visit,
)


class _Colluder:
    """All members of a ring, who do not look: they give what the ring knows or has agreed on.

    Feedback covers golds alone, so a ring passes golds that one of its members has met and
    agrees, rightly or not, on everything else: its votes look like a consensus.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.ring: dict[str, str] = {}  # the answer to each text; members share this object
        self.rng = rng

    def answer(self, sheet: Sheet) -> list[str]:
        """Give the ring's answers, and agree on new ones."""
        for text in sheet.rows:
            if text not in self.ring:
                self.ring[text] = sheet.labels[int(self.rng.integers(len(sheet.labels)))]
        return [self.ring[text] for text in sheet.rows]

    def learn(self, sheet: Sheet, labels: Sequence[str], feedback: Sequence[GoldFeedback]) -> None:
        """Share the answers with the ring."""
        for one in feedback:
            self.ring[sheet.rows[one.row]] = one.right_answer(labels)


class _SimulatedTruths(dict[str, int]):
    """The truth of every text: of gold by its first two lines, else from the text and the seed."""

    def __init__(self, labels: int, known: Mapping[str, int], seed: int) -> None:
        super().__init__(known)
        self._labels = labels
        self._salt = seed.to_bytes(16, "big")

    def __missing__(self, text: str) -> int:
        top = "\n".join(text.split("\n", 2)[:2])
        if top in self:
            return self[top]
        digest = hashlib.blake2b(text.encode(), digest_size=8, key=self._salt).digest()
        return int.from_bytes(digest, "big") % self._labels


def make_truths(labels: Sequence[str], golds: Mapping[str, str], seed: int) -> _SimulatedTruths:
    """The truths that a crowd sees which knows the gold, by ``http_client.item_key``."""
    known = {top: labels.index(label) for top, label in golds.items() if label in labels}
    return _SimulatedTruths(len(labels), known, seed)


class _DroppedOut(Exception):
    """Someone vanished: closed the window, with a page open."""


class _Dropout:
    """One who looks, and vanishes after that many pairs, in the middle of whatever it is."""

    def __init__(self, behaviour: Behaviour, pairs: int) -> None:
        self._behaviour = behaviour
        self._left = pairs

    def answer(self, sheet: Sheet) -> list[str]:
        """Labels, while they are there."""
        self._left -= len(sheet.rows)
        if self._left < 0:
            raise _DroppedOut
        return self._behaviour.answer(sheet)

    def learn(self, sheet: Sheet, labels: Sequence[str], feedback: Sequence[GoldFeedback]) -> None:
        """As their behaviour does."""
        self._behaviour.learn(sheet, labels, feedback)


@dataclass(frozen=True, slots=True)
class _Sight:
    """What is there to see at a server, and the ring of its colluders."""

    truths: KnownTruths
    labels: int
    ring: _Colluder


@dataclass(frozen=True, slots=True)
class _Acting(Settings, ABC):
    """A kind of judge who acts."""

    @abstractmethod
    def behave(self, sight: _Sight, rng: np.random.Generator) -> Behaviour:
        """Make the behaviour of one judge."""


@dataclass(frozen=True, slots=True)
class _Ethical(_Acting):
    accuracy: float = 0.9
    anchoring: float = 0.0
    name: ClassVar[str] = "ethical"

    def behave(self, sight: _Sight, rng: np.random.Generator) -> Behaviour:
        confusion = _confusion(sight.labels, self.accuracy)
        return Ethical(confusion, sight.truths, rng, anchoring=self.anchoring)


@dataclass(frozen=True, slots=True)
class _Vanishing(_Acting):
    pairs: float = 40.0
    name: ClassVar[str] = "dropout"

    def behave(self, sight: _Sight, rng: np.random.Generator) -> Behaviour:
        return _Dropout(_Ethical().behave(sight, rng), int(rng.geometric(1 / self.pairs)))


class _Spamming(_Acting):
    name = "spammer"

    def behave(self, sight: _Sight, rng: np.random.Generator) -> Behaviour:  # noqa: ARG002
        return LabelSpammer(rng)


class _Random(_Acting):
    name = "random"

    def behave(self, sight: _Sight, rng: np.random.Generator) -> Behaviour:  # noqa: ARG002
        return Clicker(rng)


class _Colluding(_Acting):
    name = "colluder"

    def behave(self, sight: _Sight, rng: np.random.Generator) -> Behaviour:  # noqa: ARG002
        return sight.ring


class CrowdSpec(Mixture[_Acting]):
    """A crowd to come: ``CrowdSpec.parse("ethical(0.9):150,spammer:20,random:20,dropout:10")``."""

    __slots__ = ()
    known: ClassVar[Mapping[str, type[_Acting]]] = {
        kind.name: kind for kind in (_Ethical, _Spamming, _Random, _Colluding, _Vanishing)
    }
    example = "ethical:80,spammer:10,random:10"

    @property
    def kinds(self) -> tuple[str, ...]:  # (judge,)
        """The name of each judge's kind."""
        return tuple(kind.name for kind in self.members)

    def make_judges(
        self, truths: KnownTruths, labels: int, rng: np.random.Generator
    ) -> list[SimulatedJudge]:
        """Make the judges, each with a random stream of their own, in the order of ``kinds``."""
        seeds = (np.random.default_rng(rng.integers(2**63)) for _ in range(len(self) + 1))
        sight = _Sight(truths, labels, _Colluder(next(seeds)))  # one ring for all members
        pairs = zip(self.members, seeds, strict=True)
        return [SimulatedJudge(kind.behave(sight, own)) for kind, own in pairs]


def _confusion(labels: int, accuracy: float) -> NDArray[np.float64]:  # (truth, label)
    """Right with this chance, else any of the others."""
    if labels == 1:
        return np.ones((1, 1))
    matrix = np.full((labels, labels), (1 - accuracy) / (labels - 1))
    np.fill_diagonal(matrix, accuracy)
    return matrix


class _StagedClient(JudgingClient, Protocol):
    """A client that knows the stage of a judge after they left, too."""

    def stage(self, key: str) -> Stage:
        """The stage a judge is at, as far as is known."""
        ...


@dataclass(frozen=True, slots=True)
class VisitEnd:
    """How one visit ended: at a stage, ``gone`` in the middle of it, or by a problem."""

    key: str
    kind: str
    stage: str
    sheets: int
    gone: bool = False
    problem: str = ""


def send_crowd(
    client: _StagedClient,
    judges: Sequence[SimulatedJudge],
    kinds: Sequence[str],
    *,
    at_once: int,
    name: str = "judge",
    on_end: Callable[[VisitEnd], None] | None = None,
) -> list[VisitEnd]:
    """Send judges to a client, that many at once, each in a thread; how each visit ended."""

    def go(place: int) -> VisitEnd:
        return _visit(client, judges[place], f"{name}-{place}", kinds[place])

    ended: dict[int, VisitEnd] = {}
    pool = ThreadPoolExecutor(max_workers=max(1, min(at_once, len(judges))))
    try:
        waiting = {pool.submit(go, place): place for place in range(len(judges))}
        for done in as_completed(waiting):
            ended[waiting[done]] = done.result()
            if on_end is not None:
                on_end(ended[waiting[done]])
    finally:
        pool.shutdown(cancel_futures=True)
    return [ended[place] for place in range(len(judges))]


def _visit(client: _StagedClient, judge: SimulatedJudge, key: str, kind: str) -> VisitEnd:
    """One visit from the arrival to its end."""
    sheets, gone, problem, stage = 0, False, "", "not let in"
    try:
        for _ in visit(judge, client, key):
            sheets += 1
    except _DroppedOut:
        gone = True
    except AdjudgeError as fault:
        problem = str(fault)
    with suppress(KeyError):
        stage = client.stage(key)
    return VisitEnd(key, kind, stage, sheets, gone, problem)
