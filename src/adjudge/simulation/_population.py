"""Populations: how many judges there are of which kind."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import Scale, as_number, canonical
from adjudge.errors import BadSetting, UnknownName
from adjudge.simulation._judges import KINDS, Confusion, Kind, Settings, World

_GROUP = re.compile(r"([A-Za-z_-]+)\s*(?:\(([^()]*)\)\s*)?(?::\s*(.*))?")
_K = TypeVar("_K", bound=Settings)


@dataclass(frozen=True, slots=True)
class Mixture(Generic[_K]):
    """A weighted mixture of kinds of judges.

    Without ``judges`` the weights are numbers of judges. With it they are shares of that
    many, and each group gets its share rounded so that the sizes sum exactly (largest remainder).
    Judges stand in the order of the groups.
    """

    groups: tuple[tuple[_K, float], ...]
    judges: int | None = None
    known: ClassVar[Mapping[str, type[Any]]]
    example: ClassVar[str]

    def __post_init__(self) -> None:
        for kind, weight in self.groups:
            if not 0 <= weight < math.inf:
                raise BadSetting(f"weight of {kind}", weight, "a number, 0 or more")
            if self.judges is None and weight != int(weight):
                expected = "a whole number of judges, or a number of judges in all"
                raise BadSetting(f"weight of {kind}", weight, expected)
        if sum(weight for _, weight in self.groups) <= 0:
            raise BadSetting("population", str(self), f"at least one judge, as {self.example!r}")
        if self.judges is not None and self.judges < 1:
            raise BadSetting("judges", self.judges, "1 or more")

    @classmethod
    def parse(cls, text: str, *, judges: int | None = None) -> Self:
        """Read a population as people write it: ``skilled(8,2):80,spammer:10,lazy:5``.

        Each kind may have its settings in brackets, in their order, and its weight after a colon;
        a kind without a weight has weight 1.
        """
        parts = re.split(r",(?![^(]*\))", text)  # at commas, but for those in brackets
        return cls(tuple(cls._group(part.strip()) for part in parts), judges)

    @classmethod
    def _group(cls, text: str) -> tuple[_K, float]:
        """Read one kind with its settings and its weight."""
        group = _GROUP.fullmatch(text)
        if group is None:
            raise BadSetting("population", text, f"a kind and how many, such as {cls.example!r}")
        name, inside, after = group.groups()
        if name not in cls.known:
            raise UnknownName("kind of judge", name, cls.known)
        weight = 1.0 if after is None else as_number(after)
        if weight is None:
            raise BadSetting(f"weight of {name}", after, "a number, 0 or more")
        kind = cls.known[name]
        names = [field.name for field in fields(kind) if field.name != "phi"]  # no matrix in a text
        texts = [] if inside is None else [text.strip() for text in inside.split(",")]
        if len(texts) > len(names) or not all(texts):
            expected = f"{', '.join(names) or 'none'}, in this order"
            raise BadSetting(f"settings of {name}", inside, expected)
        numbers = map(as_number, texts)
        given = [text if n is None else n for n, text in zip(numbers, texts, strict=True)]
        return kind(*given), weight

    def __str__(self) -> str:
        """The text that ``parse`` reads back."""
        return ",".join(f"{kind}:{canonical(weight)}" for kind, weight in self.groups)

    def __len__(self) -> int:
        return sum(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many judges each group has."""
        weights = np.array([weight for _, weight in self.groups], dtype=np.float64)
        if self.judges is None:
            return tuple(int(weight) for weight in weights)
        share = weights / weights.sum() * self.judges
        sizes = np.floor(share).astype(np.int64)
        # Rounded, so that shares that are equal on paper tie, and the group named first wins.
        rest = np.argsort(-np.round(share - sizes, 9), kind="stable")
        sizes[rest[: self.judges - int(sizes.sum())]] += 1
        return tuple(sizes.tolist())

    @property
    def members(self) -> tuple[_K, ...]:  # (judge,)
        """The kind of each judge."""
        pairs = zip(self.groups, self.sizes, strict=True)
        return tuple(kind for (kind, _), size in pairs for _ in range(size))


class Population(Mixture[Kind]):
    """A mixture of judges whose labels follow confusion matrices."""

    __slots__ = ()
    known = KINDS
    example = "skilled(8,2):80,spammer:10"

    @property
    def kinds(self) -> tuple[str, ...]:  # (judge,)
        """The kind of each judge, as text."""
        return tuple(map(str, self.members))

    @property
    def paces(self) -> NDArray[np.float64]:  # (judge,)
        """The seconds a judgment takes each judge, at the median of their kind."""
        return np.array([kind.pace for kind in self.members])

    def draw(
        self,
        scale: Scale,
        prevalence: NDArray[np.float64],  # (truth,)
        rng: np.random.Generator,
    ) -> Confusion:
        """The confusion matrix of every judge."""
        world = World(scale, prevalence, rng)
        pairs = zip(self.groups, self.sizes, strict=True)
        return np.concatenate([kind.draw(size, world) for (kind, _), size in pairs])
