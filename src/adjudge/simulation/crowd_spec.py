"""Who comes to judge: stated numbers of made judges of stated behaviour, and how they are sent.

``ethical(accuracy, anchoring)``  looks, and errs as often as they are told to
``spammer``                       gives the label that was right most often so far
``random``                        gives any label
``colluder``                      shares a ring with all the other colluders
``dropout(pairs)``                is ethical, and vanishes in the middle of something

What a result truly is, only gold says. ``_MadeTruths`` makes up the rest from the text and a seed:
the same text is the same to everyone who looks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import as_number
from adjudge.errors import AdjudgeError, BadSetting
from adjudge.simulation._population import parse_groups, share_out
from adjudge.simulation.behaviours import (
    Behaviour,
    Clicker,
    Ethical,
    GoldFeedback,
    JudgingClient,
    KnownTruths,
    LabelSpammer,
    MadeJudge,
    Sheet,
    Stage,
    visit,
)


class _Colluder:
    """All members of a ring, who do not look: they give what the ring knows or has agreed on.

    A judge is told of golds alone, so that a ring passes golds that one of its members has met and
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
        """Tell the ring."""
        for one in feedback:
            self.ring[sheet.rows[one.row]] = one.right_answer(labels)


_BEHAVIOURS = ("ethical", "spammer", "random", "colluder", "dropout")
_SETTINGS = {"ethical": ("accuracy", "anchoring"), "dropout": ("pairs",)}
_EXAMPLE = "'ethical:80,spammer:10,random:10'"


class _MadeTruths(Mapping[str, int]):
    """The truth of every text: what gold says, else made up from the text and the seed."""

    def __init__(self, labels: int, known: Mapping[str, int], seed: int) -> None:
        self._labels = labels
        self._known = known
        self._salt = seed.to_bytes(16, "big")

    def __getitem__(self, text: str) -> int:
        top = "\n".join(text.split("\n", 2)[:2])
        known = self._known.get(top)
        if known is not None:
            return known
        digest = hashlib.blake2b(text.encode(), digest_size=8, key=self._salt).digest()
        return int.from_bytes(digest, "big") % self._labels

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def make_truths(labels: Sequence[str], golds: Mapping[str, str], seed: int) -> _MadeTruths:
    """The truths that a crowd sees which knows the gold, by ``http_client.item_key``."""
    known = {top: labels.index(label) for top, label in golds.items() if label in labels}
    return _MadeTruths(len(labels), known, seed)


class _DroppedOut(Exception):
    """Someone vanished: closed the window, with a page open."""


class _Dropout:
    """One who looks, and vanishes after so many pairs, in the middle of whatever it is."""

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
class _CrowdPart:
    """One kind of judge, with its settings and its weight."""

    kind: str
    settings: Mapping[str, float]
    weight: float


@dataclass(frozen=True, slots=True)
class CrowdSpec:
    """A crowd to come: kinds of judges with weights, and how many there are in all."""

    parts: tuple[_CrowdPart, ...]
    judges: int

    def __post_init__(self) -> None:
        if self.judges < 1:
            raise BadSetting("judges", self.judges, "1 or more")
        if not sum(part.weight for part in self.parts) > 0:
            raise BadSetting("population", "", f"at least one judge, such as {_EXAMPLE}")

    @classmethod
    def parse(cls, text: str, *, judges: int | None = None) -> CrowdSpec:
        """A crowd as people write it: ``ethical(0.9):150,spammer:20,random:20,dropout:10``.

        Weights are numbers of judges, or shares of ``judges`` where that is given.
        """
        parts = tuple(_part(*group) for group in parse_groups(text, _BEHAVIOURS, _EXAMPLE))
        if judges is None:
            for part in parts:
                if part.weight != int(part.weight):
                    wanted = "a whole number of judges, or a number of judges in all"
                    raise BadSetting(f"weight of {part.kind}", part.weight, wanted)
            judges = int(sum(part.weight for part in parts))
        return cls(parts, judges)

    @property
    def kinds(self) -> tuple[str, ...]:  # (judge,)
        """The kind of each judge, in the order of the parts; sizes by largest remainder."""
        return tuple(part.kind for part in self._members())

    def make_judges(
        self, truths: KnownTruths, labels: int, rng: np.random.Generator
    ) -> list[MadeJudge]:
        """The judges, each with a random stream of their own, in the order of ``kinds``."""
        ring = _Colluder(np.random.default_rng(rng.integers(2**63)))  # one for all members
        return [
            MadeJudge(
                _behaviour(part, truths, labels, np.random.default_rng(rng.integers(2**63)), ring)
            )
            for part in self._members()
        ]

    def _members(self) -> list[_CrowdPart]:
        weights = np.array([part.weight for part in self.parts])
        pairs = zip(self.parts, share_out(weights, self.judges), strict=True)
        return [part for part, size in pairs for _ in range(size)]


def _part(kind: str, inside: str | None, weight: float) -> _CrowdPart:
    """Read the settings of one kind: ``0.9,0.5``."""
    names = _SETTINGS.get(kind, ())
    values = [] if inside is None else [as_number(one.strip()) for one in inside.split(",")]
    if len(values) > len(names) or None in values:
        wanted = f"{', '.join(names)}, in this order" if names else "no settings"
        raise BadSetting(f"settings of {kind}", inside, wanted)
    settings = {n: value for n, value in zip(names, values, strict=False) if value is not None}
    if not 0 <= settings.get("accuracy", 0.5) <= 1:
        raise BadSetting("accuracy of ethical", settings["accuracy"], "a share from 0 to 1")
    return _CrowdPart(kind, settings, weight)


def _behaviour(
    part: _CrowdPart,
    truths: KnownTruths,
    labels: int,
    rng: np.random.Generator,
    ring: _Colluder,
) -> Behaviour:
    if part.kind == "spammer":
        return LabelSpammer(rng)
    if part.kind == "random":
        return Clicker(rng)
    if part.kind == "colluder":
        return ring
    accuracy = part.settings.get("accuracy", 0.9)
    looks = Ethical(
        _confusion(labels, accuracy), truths, rng, anchoring=part.settings.get("anchoring", 0.0)
    )
    if part.kind == "dropout":
        mean = max(1.0, part.settings.get("pairs", 40.0))
        return _Dropout(looks, int(rng.geometric(1 / mean)))
    return looks


def _confusion(labels: int, accuracy: float) -> NDArray[np.float64]:  # (truth, label)
    """Right with this chance, else any of the others."""
    if labels == 1:
        return np.ones((1, 1))
    matrix = np.full((labels, labels), (1 - accuracy) / (labels - 1))
    np.fill_diagonal(matrix, accuracy)
    return matrix


class _StagedClient(JudgingClient, Protocol):
    """A client that knows where a judge stands after they left, too."""

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
    judges: Sequence[MadeJudge],
    kinds: Sequence[str],
    *,
    at_once: int,
    name: str = "judge",
    on_end: Callable[[VisitEnd], None] | None = None,
) -> list[VisitEnd]:
    """Send judges to a client, so many at once, each in a thread; how each visit ended."""

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


def _visit(client: _StagedClient, judge: MadeJudge, key: str, kind: str) -> VisitEnd:
    """One visit from the arrival to its end."""
    sheets = 0
    gone, problem = False, ""
    try:
        for _ in visit(judge, client, key):
            sheets += 1
    except _DroppedOut:
        gone = True
    except AdjudgeError as fault:
        problem = str(fault)
    try:
        stage: str = client.stage(key)
    except KeyError:
        stage = "not let in"
    return VisitEnd(key, kind, stage, sheets, gone, problem)
