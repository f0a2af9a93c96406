"""What all models share: settings that are checked when a model is made, and ``fit``."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any, ClassVar, Literal, NamedTuple, get_args, get_origin, get_type_hints

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, takes_tables
from adjudge.engines.engine import Engine
from adjudge.errors import BadSetting
from adjudge.models._prevalence import check_prevalence
from adjudge.models.model import Progress

_LEAST = {
    "iterations": 1,
    "chains": 1,
    "draws": 1,
    "thin": 1,
    "warmup": 0,
    "kinds": 1,
    "resamples": 2,
    "tolerance": 0,
    "shrink": 0,
    "pooled": 0,
}
_ABOVE = ("diagonal", "strength", "lean_spread", "scale")


@cache
def _choices(kind: Any) -> dict[str, tuple[Any, ...]]:
    """The values that each setting of a model may have, where they can be listed."""
    hints = get_type_hints(kind)
    return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}


def check_settings(model: Any) -> None:
    """Refuse settings that no fit can use: choices that do not exist, numbers out of bounds."""
    for name, choices in _choices(model.__class__).items():
        if getattr(model, name) not in choices:
            wanted = f"{', '.join(choices[:-1])} or {choices[-1]}"
            raise BadSetting(name, getattr(model, name), wanted)
    for entry in fields(model):
        value = getattr(model, entry.name)
        if value is None:
            continue
        if entry.name in _LEAST and not value >= _LEAST[entry.name]:
            raise BadSetting(entry.name, value, f"at least {_LEAST[entry.name]}")
        if entry.name in _ABOVE and not value > 0:
            raise BadSetting(entry.name, value, "more than 0")
    check_prevalence(getattr(model, "prevalence", None))


class Given(NamedTuple):
    """What a model is fitted to, and where."""

    judgments: Judgments
    gold: Gold | None
    engine: Engine | None
    progress: Progress | None


class Fitted:
    """A model of labels: settings, and ``fit``."""

    __slots__ = ()

    name: ClassVar[str]
    shared: ClassVar[bool] = False  # one confusion for all judges

    def __post_init__(self) -> None:
        check_settings(self)

    @takes_tables
    def fit(
        self,
        judgments: JudgmentsLike,
        gold: GoldLike = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> Consensus:
        """The consensus of judgments, with gold where it is known."""
        return self._fit(Given(judgments, gold, engine, progress))

    def _fit(self, given: Given) -> Consensus:
        raise NotImplementedError
