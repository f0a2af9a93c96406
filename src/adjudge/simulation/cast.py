"""Who comes to a desk: stated numbers of actors of stated behaviour, and how they are sent there.

``ethical(accuracy, anchoring)``  looks, and errs as often as she is told to
``spammer``                       gives the label that was right most often so far
``random``                        gives any label
``colluder``                      shares a ring with all the other colluders
``dropout(pairs)``                is ethical, and vanishes in the middle of something

What a result truly is, only gold says. ``MadeSight`` makes up the rest from the text and a seed:
the same text is the same to everyone who looks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import as_number
from adjudge.errors import AdjudgeError, BadSetting, UnknownName
from adjudge.simulation.actors import (
    Actor,
    Behaviour,
    Clicker,
    Colluder,
    Ethical,
    Ring,
    Sight,
    Spammer,
)
from adjudge.simulation.desk import Desk, Sheet, Stage, Told, visit

ROLES = ("ethical", "spammer", "random", "colluder", "dropout")
_SETTINGS = {"ethical": ("accuracy", "anchoring"), "dropout": ("pairs",)}
_EXAMPLE = "'ethical:80,spammer:10,random:10'"
_PART = re.compile(r"([A-Za-z_-]+)\s*(?:\(([^()]*)\)\s*)?(?::\s*(.*))?")


class MadeSight(Mapping[str, int]):
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


def sight_of(labels: Sequence[str], golds: Mapping[str, str], seed: int) -> MadeSight:
    """The sight of a crowd that is told the gold, by ``http_desk.head``."""
    known = {top: labels.index(label) for top, label in golds.items() if label in labels}
    return MadeSight(len(labels), known, seed)


class Gone(Exception):
    """Someone vanished: closed the window, with a page open."""


class Dropout:
    """One who looks, and vanishes after so many pairs, in the middle of whatever it is."""

    def __init__(self, behaviour: Behaviour, pairs: int) -> None:
        self._behaviour = behaviour
        self._left = pairs

    def answer(self, sheet: Sheet) -> list[str]:
        """Labels, while she is there."""
        self._left -= len(sheet.rows)
        if self._left < 0:
            raise Gone
        return self._behaviour.answer(sheet)

    def learn(self, sheet: Sheet, labels: Sequence[str], told: Sequence[Told]) -> None:
        """As her behaviour does."""
        self._behaviour.learn(sheet, labels, told)


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of actor, with its settings and its weight."""

    role: str
    settings: Mapping[str, float]
    weight: float


@dataclass(frozen=True, slots=True)
class Cast:
    """A crowd to come: kinds of actors with weights, and how many there are in all."""

    parts: tuple[Part, ...]
    judges: int

    def __post_init__(self) -> None:
        if self.judges < 1:
            raise BadSetting("judges", self.judges, "1 or more")
        if not sum(part.weight for part in self.parts) > 0:
            raise BadSetting("population", "", f"at least one judge, such as {_EXAMPLE}")

    @classmethod
    def parse(cls, text: str, *, judges: int | None = None) -> Cast:
        """A cast as people write it: ``ethical(0.9):150,spammer:20,random:20,dropout:10``.

        Weights are numbers of judges, or shares of ``judges`` where that is given.
        """
        parts = tuple(_part(part.strip()) for part in re.split(r",(?![^(]*\))", text))
        if judges is None:
            for part in parts:
                if part.weight != int(part.weight):
                    wanted = "a whole number of judges, or --judges beside it"
                    raise BadSetting(f"weight of {part.role}", part.weight, wanted)
            judges = int(sum(part.weight for part in parts))
        return cls(parts, judges)

    @property
    def roles(self) -> tuple[str, ...]:  # (judge,)
        """The role of each judge, in the order of the parts; sizes by largest remainder."""
        return tuple(part.role for part in self._players())

    def actors(self, sight: Sight, labels: int, rng: np.random.Generator) -> list[Actor]:
        """The actors, each with a chance of her own, in the order of ``roles``."""
        ring = Ring(np.random.default_rng(rng.integers(2**63)))
        return [
            Actor(_behaviour(part, sight, labels, np.random.default_rng(rng.integers(2**63)), ring))
            for part in self._players()
        ]

    def _players(self) -> list[Part]:
        weights = np.array([part.weight for part in self.parts])
        share = weights / weights.sum() * self.judges
        sizes = np.floor(share).astype(np.int64)
        rest = np.argsort(-np.round(share - sizes, 9), kind="stable")
        sizes[rest[: self.judges - int(sizes.sum())]] += 1
        pairs = zip(self.parts, sizes, strict=True)
        return [part for part, size in pairs for _ in range(int(size))]


def _part(text: str) -> Part:
    """One kind with its settings and weight: ``ethical(0.9,0.5):80``."""
    found = _PART.fullmatch(text)
    if found is None:
        raise BadSetting("population", text, f"kinds of judges, such as {_EXAMPLE}")
    role, inside, after = found.groups()
    if role not in ROLES:
        raise UnknownName("kind of judge", role, ROLES)
    weight = 1.0 if after is None else as_number(after)
    if weight is None or weight < 0:
        raise BadSetting(f"weight of {role}", after, "a number, 0 or more")
    names = _SETTINGS.get(role, ())
    values = [] if inside is None else [as_number(one.strip()) for one in inside.split(",")]
    if len(values) > len(names) or None in values:
        wanted = f"{', '.join(names)}, in this order" if names else "no settings"
        raise BadSetting(f"settings of {role}", inside, wanted)
    settings = {
        name: value for name, value in zip(names, values, strict=False) if value is not None
    }
    if not 0 <= settings.get("accuracy", 0.5) <= 1:
        raise BadSetting("accuracy of ethical", settings["accuracy"], "a share from 0 to 1")
    return Part(role, settings, weight)


def _behaviour(
    part: Part, sight: Sight, labels: int, rng: np.random.Generator, ring: Ring
) -> Behaviour:
    if part.role == "spammer":
        return Spammer(rng)
    if part.role == "random":
        return Clicker(rng)
    if part.role == "colluder":
        return Colluder(ring)
    accuracy = part.settings.get("accuracy", 0.9)
    looks = Ethical(
        _confusion(labels, accuracy), sight, rng, anchoring=part.settings.get("anchoring", 0.0)
    )
    if part.role == "dropout":
        mean = max(1.0, part.settings.get("pairs", 40.0))
        return Dropout(looks, int(rng.geometric(1 / mean)))
    return looks


def _confusion(labels: int, accuracy: float) -> NDArray[np.float64]:  # (truth, label)
    """Right with this chance, else any of the others."""
    if labels == 1:
        return np.ones((1, 1))
    matrix = np.full((labels, labels), (1 - accuracy) / (labels - 1))
    np.fill_diagonal(matrix, accuracy)
    return matrix


class StagedDesk(Desk, Protocol):
    """A desk that knows where a judge stands after she left, too."""

    def stage(self, key: str) -> Stage:
        """The stage a judge is at, as far as is known."""
        ...


@dataclass(frozen=True, slots=True)
class Visited:
    """How one visit ended: at a stage, ``gone`` in the middle of it, or by a problem."""

    key: str
    role: str
    stage: str
    sheets: int
    gone: bool = False
    problem: str = ""


def send(
    desk: StagedDesk,
    actors: Sequence[Actor],
    roles: Sequence[str],
    *,
    at_once: int,
    name: str = "judge",
    on_end: Callable[[Visited], None] | None = None,
) -> list[Visited]:
    """Send actors to a desk, so many at once, each in a thread of her own; how each visit ended."""

    def go(place: int) -> Visited:
        return _visited(desk, actors[place], f"{name}-{place}", roles[place])

    ended: dict[int, Visited] = {}
    pool = ThreadPoolExecutor(max_workers=max(1, min(at_once, len(actors))))
    try:
        waiting = {pool.submit(go, place): place for place in range(len(actors))}
        for done in as_completed(waiting):
            ended[waiting[done]] = done.result()
            if on_end is not None:
                on_end(ended[waiting[done]])
    finally:
        pool.shutdown(cancel_futures=True)
    return [ended[place] for place in range(len(actors))]


def _visited(desk: StagedDesk, actor: Actor, key: str, role: str) -> Visited:
    """One visit from the arrival to its end."""
    sheets = 0
    gone, problem = False, ""
    try:
        for _ in visit(actor, desk, key):
            sheets += 1
    except Gone:
        gone = True
    except AdjudgeError as fault:
        problem = str(fault)
    try:
        stage: str = desk.stage(key)
    except KeyError:
        stage = "not let in"
    return Visited(key, role, stage, sheets, gone, problem)
