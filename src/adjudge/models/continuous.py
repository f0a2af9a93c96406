"""Continuous: judgments that are numbers, each judge with a bias and a noise of their own.

    y_ij = shift_j + scale_j mu_i + e_ij,   e_ij ~ N(0, noise_j^2)
    mu_i ~ N(m, t^2),  shift_j ~ N(0, b^2),  scale_j ~ N(1, a^2),  noise_j^2 shrunken to their pool

Everything above is estimated from the judgments by expectation and maximisation, what holds for all
judges (b, a, the pool of noises) too, so that a judge of few judgments is taken to be like the
others. The model is that of Welinder and Perona (2010) for numbers, with scales added.

Where zero is the commonest answer, as with feelings that are mostly absent, a bias is taken to be
proportional: judges who see nothing say zero, so there are scales and no shifts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import as_names, look_up
from adjudge.data.scale import as_number
from adjudge.errors import BadData, BadSetting
from adjudge.models.model import Progress, Step

_Floats = NDArray[np.float64]
_LEVEL = 1.959964  # of a 95% interval


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContinuousConsensus:
    """What was found: the value of each item, and the bias and noise of each judge."""

    judgments: Judgments
    settings: dict[str, object]
    value: _Floats  # (item,)
    error: _Floats  # (item,) standard error
    shift: _Floats  # (judge,)
    scale: _Floats  # (judge,)
    noise: _Floats  # (judge,) standard deviation
    iterations: int
    converged: bool
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> Any:
        """One row an item: its value with a 95% interval, and how many judged it."""
        given = self.judgments
        columns: dict[str, Any] = {"item": given.items}
        if given.topics is not None and given.topic is not None:
            columns["topic"] = given.topics.take(pa.array(given.topic))
        if given.documents is not None:
            columns["document"] = given.documents
        columns["label"] = pa.array(np.round(self.value, 6))
        columns["low"] = pa.array(np.round(self.value - _LEVEL * self.error, 6))
        columns["high"] = pa.array(np.round(self.value + _LEVEL * self.error, 6))
        columns["error"] = pa.array(np.round(self.error, 6))
        columns["judgments"] = pa.array(given.counts_per_item)
        return pa.table(columns)

    @property
    def judges(self) -> Any:
        """One row a judge: how many judgments they gave, their bias and their noise."""
        return pa.table(
            {
                "judge": self.judgments.judges,
                "judgments": pa.array(self.judgments.counts_per_judge),
                "shift": pa.array(np.round(self.shift, 6)),
                "scale": pa.array(np.round(self.scale, 6)),
                "noise": pa.array(np.round(self.noise, 6)),
            }
        )


@dataclass(slots=True)
class _ValueState:
    """What is estimated, as it stands."""

    value: _Floats  # (item,)
    spread: _Floats  # (item,) variance
    shift: _Floats  # (judge,)
    scale: _Floats  # (judge,)
    noise: _Floats  # (judge,) variance
    centre: float = 0.0
    between: float = 1.0
    shifts: float = 1.0
    scales: float = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuous:
    """Numbers judged by people who are each biased and noisy in their own way."""

    name: ClassVar[str] = "continuous"

    bias: Literal["auto", "shift", "scale", "both"] = "auto"
    pooled: float = 10.0  # judgments that the noise of all weighs as
    iterations: int = 500
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        if self.bias not in ("auto", "shift", "scale", "both"):
            raise BadSetting("bias", self.bias, "auto, shift, scale or both")
        if not self.pooled >= 0:
            raise BadSetting("pooled", self.pooled, "0 or more")

    def fit(
        self, judgments: Judgments, gold: Gold | None = None, *, progress: Progress | None = None
    ) -> ContinuousConsensus:
        """The values of the items; those of gold are known."""
        number = _numbers(judgments)
        y = number[judgments.label]
        item, judge = judgments.item, judgments.judge
        if not len(y):
            raise BadData("there are no judgments to fit")
        known = _known(judgments, gold)
        bias = self.bias if self.bias != "auto" else _natural_bias(judgments, number)
        state = _begin(y, item, judgments.item_count, judgments.judge_count)
        width = float(np.std(y)) or 1.0
        done, moved = 0, np.inf
        for done in range(1, self.iterations + 1):
            before = state.value.copy()
            _items(state, y, item, judge, known)
            _judges(state, y, item, judge, bias, self.pooled)
            moved = float(np.max(np.abs(state.value - before), initial=0.0)) / width
            if progress is not None:
                progress(Step("sweep", done, self.iterations, f"moved {moved:.1e}"))
            if moved < self.tolerance:
                break
        word = {"scale": "a scale", "shift": "a shift", "both": "a shift and a scale"}[bias]
        return ContinuousConsensus(
            judgments=judgments,
            settings=asdict(self) | {"bias": bias},
            value=state.value,
            error=np.sqrt(state.spread),
            shift=state.shift,
            scale=state.scale,
            noise=np.sqrt(state.noise),
            iterations=done,
            converged=moved < self.tolerance,
            notes=(f"each judge has {word} and a noise of their own",),
        )


def _numbers(judgments: Judgments) -> _Floats:  # (label,)
    """The number of each label; a label that is none is an error."""
    found = [as_number(label) for label in judgments.scale.labels]
    for label, number in zip(judgments.scale.labels, found, strict=True):
        if number is None:
            raise BadData(
                f"label {label!r} is no number, and continuous judgments are", value=label
            )
    return np.array(found, dtype=np.float64)


def _known(judgments: Judgments, gold: Gold | None) -> _Floats:  # (item,) NaN unknown
    known = np.full(judgments.item_count, np.nan)
    if gold is None:
        return known
    found = [as_number(value) for value in gold.values]
    values = np.array([np.nan if number is None else number for number in found])
    at = look_up(as_names(gold.items), judgments.items)
    known[at[at >= 0]] = values[gold.value[at >= 0]]
    return known


def _natural_bias(judgments: Judgments, number: _Floats) -> Literal["scale", "both"]:
    """Scales alone where zero is the commonest answer, else shifts too."""
    counts = np.bincount(judgments.label, minlength=len(number))
    return "scale" if number[int(np.argmax(counts))] == 0 else "both"


def _begin(y: _Floats, item: NDArray[np.int32], items: int, judges: int) -> _ValueState:
    """The plain mean of each item, and judges who are all alike."""
    count = np.bincount(item, minlength=items)
    total = np.bincount(item, y, items)
    value = np.where(count > 0, total / np.maximum(count, 1), y.mean())
    left = float(np.mean((y - value[item]) ** 2)) + 1e-9
    return _ValueState(
        value,
        np.full(items, left),
        np.zeros(judges),
        np.ones(judges),
        np.full(judges, left),
        centre=float(value.mean()),
        between=float(value.var()) + 1e-9,
        shifts=left / 4 + 1e-9,
    )


def _items(
    state: _ValueState,
    y: _Floats,
    item: NDArray[np.int32],
    judge: NDArray[np.int32],
    known: _Floats,
) -> None:
    """Values and their variances, given the judges."""
    items = len(state.value)
    sure = 1.0 / state.noise[judge]
    scale = state.scale[judge]
    precision = 1.0 / state.between + np.bincount(item, scale**2 * sure, items)
    pull = np.bincount(item, scale * sure * (y - state.shift[judge]), items)
    state.value = (state.centre / state.between + pull) / precision
    state.spread = np.reciprocal(precision)
    told = np.isfinite(known)
    state.value[told], state.spread[told] = known[told], 0.0
    state.centre = float(state.value.mean())
    state.between = float(np.mean((state.value - state.centre) ** 2 + state.spread)) + 1e-9


def _judges(
    state: _ValueState,
    y: _Floats,
    item: NDArray[np.int32],
    judge: NDArray[np.int32],
    bias: str,
    pooled: float,
) -> None:
    """Shifts, scales and noises, given the values; and what holds for all judges."""
    judges = len(state.noise)
    value, spread = state.value[item], state.spread[item]
    sure = 1.0 / state.noise[judge]
    shifts = state.shifts if bias in ("shift", "both") else 1e-12
    scales = state.scales if bias in ("scale", "both") else 1e-12
    one = np.bincount(judge, sure, judges) + 1.0 / shifts
    cross = np.bincount(judge, sure * value, judges)
    two = np.bincount(judge, sure * (value**2 + spread), judges) + 1.0 / scales
    first = np.bincount(judge, sure * y, judges)
    second = np.bincount(judge, sure * y * value, judges) + 1.0 / scales
    whole = one * two - cross**2
    state.shift = (two * first - cross * second) / whole
    state.scale = (one * second - cross * first) / whole
    of_shift, of_scale = two / whole, one / whole
    state.shifts = float(np.mean(state.shift**2 + of_shift)) + 1e-12
    state.scales = float(np.mean((state.scale - 1.0) ** 2 + of_scale)) + 1e-12
    state.shift = state.shift - state.shift.mean()  # what all share is the values'
    mean = float(state.scale.mean())
    if mean > 0:  # the unit of the values is that of the judges together
        state.scale = state.scale / mean
    rest = (y - state.scale[judge] * value - state.shift[judge]) ** 2
    rest = rest + state.scale[judge] ** 2 * spread + of_shift[judge]
    pool = float(np.exp(np.mean(np.log(state.noise))))
    count = np.bincount(judge, minlength=judges)
    state.noise = (np.bincount(judge, rest, judges) + pooled * pool) / (count + pooled) + 1e-12
