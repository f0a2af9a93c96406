"""Populations: how many judges there are of which kind."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import Scale, as_number, canonical
from adjudge.errors import BadSetting, UnknownName
from adjudge.simulation._judges import KINDS, Confusion, Kind, World

_EXAMPLE = "'skilled(8,2):80,spammer:10'"
_GROUP = re.compile(r"([A-Za-z_-]+)\s*(?:\(([^()]*)\)\s*)?(?::\s*(.*))?")


@dataclass(frozen=True, slots=True)
class Population:
    """A weighted mixture of kinds of judges.

    Without ``judges`` the weights are whole numbers of judges. With it they are shares of that
    many, and each group gets its share rounded so that the sizes sum exactly (largest remainder).
    Judges stand in the order of the groups.
    """

    groups: tuple[tuple[Kind, float], ...]
    judges: int | None = None

    def __post_init__(self) -> None:
        if not self.groups:
            raise BadSetting("population", self.groups, f"kinds of judges, such as {_EXAMPLE}")
        for kind, weight in self.groups:
            if not math.isfinite(weight) or weight < 0:
                raise BadSetting(f"weight of {kind}", weight, "a number, 0 or more")
            if self.judges is None and weight != int(weight):
                raise BadSetting(
                    f"weight of {kind}", weight, "a whole number of judges, or judges beside it"
                )
        if sum(weight for _, weight in self.groups) <= 0:
            raise BadSetting("population", str(self), "at least one judge")
        if self.judges is not None and self.judges < 1:
            raise BadSetting("judges", self.judges, "1 or more")

    @classmethod
    def parse(cls, text: str, *, judges: int | None = None) -> Population:
        """A population as people write it: ``skilled(8,2):80,spammer:10,lazy:5,adversary:5``.

        Each kind may have its settings in brackets, in their order, and its weight after a colon;
        a kind without a weight has weight 1.
        """
        parts = parse_groups(text, KINDS, _EXAMPLE)
        return cls(tuple((_with_settings(name, inside), n) for name, inside, n in parts), judges)

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
        return tuple(share_out(weights, self.judges).tolist())

    @property
    def kinds(self) -> tuple[str, ...]:  # (judge,)
        """The kind of each judge, as text."""
        pairs = zip(self.groups, self.sizes, strict=True)
        return tuple(name for (kind, _), size in pairs for name in [str(kind)] * size)

    @property
    def paces(self) -> NDArray[np.float64]:  # (judge,)
        """The seconds a judgment takes each judge, at the median of their kind."""
        return np.repeat([kind.pace for kind, _ in self.groups], self.sizes)

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


def share_out(weights: NDArray[np.float64], judges: int) -> NDArray[np.int64]:  # (group,)
    """So many judges by weights: whole numbers that add up, by largest remainder."""
    share = weights / weights.sum() * judges
    sizes = np.floor(share).astype(np.int64)
    # Rounded, so that shares that are equal on paper tie, and the group named first wins.
    rest = np.argsort(-np.round(share - sizes, 9), kind="stable")
    sizes[rest[: judges - int(sizes.sum())]] += 1
    return np.asarray(sizes)


def parse_groups(
    text: str, kinds: Collection[str], example: str
) -> list[tuple[str, str | None, float]]:
    """Read ``skilled(8,2):80,spammer:10`` as kinds, texts in brackets and weights."""
    found = []
    for part in re.split(r",(?![^(]*\))", text):  # at commas, but for those in brackets
        group = _GROUP.fullmatch(part.strip())
        if group is None:
            raise BadSetting("population", part.strip(), f"a kind and how many, such as {example}")
        name, inside, after = group.groups()
        if name not in kinds:
            raise UnknownName("kind of judge", name, kinds)
        weight = 1.0 if after is None else as_number(after)
        if weight is None or not 0 <= weight < math.inf:
            raise BadSetting(f"weight of {name}", after, "a number, 0 or more")
        found.append((name, inside, weight))
    return found


def _with_settings(name: str, inside: str | None) -> Kind:
    """A kind with the settings that stand in its brackets."""
    kind: Any = KINDS[name]
    if inside is None:
        return kind()  # type: ignore[no-any-return]
    names = [field.name for field in fields(kind) if field.name != "phi"]  # no matrix in a text
    texts = [text.strip() for text in inside.split(",")]
    if len(texts) > len(names) or not all(texts):
        raise BadSetting(f"settings of {name}", inside, f"{', '.join(names)}, in this order")
    return kind(*map(_value, texts))  # type: ignore[no-any-return]


def _value(text: str) -> float | str:
    """A setting as a number, whole if it is, or as the text it stands in."""
    number = as_number(text)
    if number is None:
        return text
    return int(number) if number.is_integer() else number
