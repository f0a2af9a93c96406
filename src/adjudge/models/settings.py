"""What all models share: settings that are checked when a model is made, and ``fit``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, ClassVar, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, takes_tables
from adjudge.data.scale import Scale, canonical
from adjudge.engines.engine import Engine
from adjudge.errors import BadSetting
from adjudge.models.model import Progress

Shares = Mapping[str, float] | tuple[float, ...]
_SUM = 0.02  # that rounded shares may differ from a sum of 1


def check_prevalence(prevalence: Shares | None) -> None:
    """Refuse shares that are not above 0 or do not sum to 1."""
    if prevalence is None:
        return
    shares = prevalence.values() if isinstance(prevalence, Mapping) else prevalence
    try:
        good = all(share > 0 for share in shares) and abs(math.fsum(shares) - 1) <= _SUM
    except TypeError:
        good = False
    if not good:
        expected = "shares above 0 that sum to 1, by label or in the order of the labels"
        raise BadSetting("prevalence", prevalence, expected)


def fixed_prevalence(
    prevalence: Shares | None, scale: Scale
) -> NDArray[np.float64] | None:  # (truth,)
    """The known shares of the classes of a scale; None where they are to be estimated."""
    if prevalence is None:
        return None
    shares = list(prevalence.values() if isinstance(prevalence, Mapping) else prevalence)
    if isinstance(prevalence, Mapping):
        named = {canonical(label): share for label, share in prevalence.items()}
        shares = [named.pop(truth, 0.0) for truth in scale.truths] + list(named.values())
    if len(shares) != len(scale.truths) or not all(shares):
        raise BadSetting(
            "prevalence", prevalence, f"one share per label: {', '.join(scale.truths)}"
        )
    known = np.array(shares, dtype=np.float64)
    return np.asarray(known / known.sum())


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
            expected = f"{', '.join(choices[:-1])} or {choices[-1]}"
            raise BadSetting(name, getattr(model, name), expected)
    for entry in fields(model):
        value = getattr(model, entry.name)
        if value is None:
            continue
        if entry.name in _LEAST and not value >= _LEAST[entry.name]:
            least = _LEAST[entry.name]
            raise BadSetting(entry.name, value, f"at least {least}" if least else "0 or more")
        if entry.name in _ABOVE and not value > 0:
            raise BadSetting(entry.name, value, "more than 0")
    check_prevalence(getattr(model, "prevalence", None))


class Given(NamedTuple):
    """What a model is fitted to, and where."""

    judgments: Judgments
    gold: Gold | None
    engine: Engine | None
    progress: Progress | None
    start: Consensus | None = None


class FitPredict:
    """Fits and returns the main table of the result in one call."""

    __slots__ = ()

    def fit_predict(self, *data: Any, **options: Any) -> Any:
        """Return the table of ``fit`` with the same arguments: one row per item."""
        fitted: Any = self
        return fitted.fit(*data, **options).to_table()


class Fitted(FitPredict):
    """A model of labels: settings, and ``fit``."""

    __slots__ = ()

    name: ClassVar[str]
    shared: ClassVar[bool] = False  # one confusion for all judges
    continues: ClassVar[bool] = False  # from an earlier fit

    def __post_init__(self) -> None:
        check_settings(self)

    @takes_tables
    def fit(
        self,
        judgments: JudgmentsLike,
        gold: GoldLike = None,
        *,
        engine: Engine | None = None,
        progress: Any = None,
        start: Consensus | None = None,
    ) -> Consensus:
        """Fit judgments, with gold where it is known.

        ``start`` is an earlier fit, from whose counts models fitted by EM go on.
        ``progress`` is a function that takes each step, True or False; by default a bar appears on
        a terminal and in a notebook after two seconds.
        """
        if start is not None and not (self.continues and isinstance(start, Consensus)):
            expected = "a Consensus, for a model fitted by EM"
            raise BadSetting("start", f"{type(start).__name__} for {self.name}", expected)
        return self._fit(Given(judgments, gold, engine, progress, start))

    def _fit(self, given: Given) -> Consensus:
        raise NotImplementedError
