"""What a model of numbers leaves: the value of each item, the bias and noise of each judge.

An engine adds up six numbers per judge, whatever the number of judgments: how many they gave, their
sum and their squares, once; the values of the items, their squares, and their products with the
numbers, in every sweep. Numbers are in standard deviations of the judgments here. What is computed
from sums is computed in an order that neither items, judges nor judgments decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.judges import Judges
from adjudge.data.judgments import Judgments, JudgmentsLike, takes_tables
from adjudge.data.names import look_up, restore
from adjudge.data.results import Result
from adjudge.data.saved import Saved
from adjudge.data.scale import Scale, as_number
from adjudge.data.source import count_of
from adjudge.engines.engine import Engine
from adjudge.engines.sweeps import CountCells, Sweeps
from adjudge.engines.tasks import Biases, ExpectValues, MeasureNumbers, WriteValues
from adjudge.engines.threads import ThreadsEngine
from adjudge.errors import BadData
from adjudge.kernels.numbers import FURTHEST
from adjudge.models.loop import Loop, State

_Floats = NDArray[np.float64]
_Bias = Literal["shift", "scale", "both"]
_FREE = 62  # bits of a sum
_BEYOND = 4.0  # times the largest number: no value is further from 0
_LARGE = 1e200  # a number that is times this one still is: its square is, then, too
_LEAST = 1e-9  # variance, in those of the judgments
_NONE = 1e-12  # variance of what is held at its mean
_SCALES = 0.25  # variance of scales at the start
_BLOCK = 4_000_000  # items looked at together


@dataclass(frozen=True, slots=True, eq=False)
class JudgeState:
    """The judges and what holds for all of them, as they stand, in the unit of the sweeps."""

    shift: _Floats  # (judge,)
    scale: _Floats  # (judge,)
    noise: _Floats  # (judge,) variance
    centre: float  # of the values
    between: float  # variance of the values
    shifts: float  # variance of the shifts
    scales: float  # variance of the scales

    @property
    def pool(self) -> float:
        """The noise of all judges."""
        return math.exp(mean_of(np.log(self.noise)))


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The numbers in the unit of the sweeps: less their centre, in standard deviations."""

    number: _Floats  # (label,)
    centre: float
    width: float
    bias: _Bias
    gold: _Floats  # (code of gold,)
    judgments: int
    items: int
    most: int  # judgments of one item

    def back(self, value: _Floats) -> _Floats:
        """Values as they were."""
        return value * self.width + self.centre


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """What stays the same from sweep to sweep."""

    count: _Floats  # (judge,)
    first: _Floats  # (judge,) sum of numbers
    second: _Floats  # (judge,) sum of squares


def read_numbers(
    sweeps: Sweeps,
    number: _Floats,  # (label,)
    gold: _Floats,
    bias: Literal["auto"] | _Bias,
    items: int,
    most: int,
) -> Numbers:
    """Numbers, centred and scaled; with ``auto``, biases as the commonest answer suggests.

    Where zero is the commonest answer there are scales and no shifts, and zero is the centre.
    """
    (found,) = sweeps.run(CountCells(shared=True))
    counts = np.asarray(found)
    total = int(counts.sum())
    if bias == "auto":
        bias = "scale" if number[int(np.argmax(counts))] == 0 else "both"
    middle = math.fsum(counts * (number / total))
    if not math.isfinite(float(np.abs(number).max()) * _LARGE):
        raise BadData("the numbers are too far apart to be fitted; are some of them codes?")
    width = math.sqrt(math.fsum(counts * ((number - middle) ** 2 / total)))
    centre = 0.0 if bias == "scale" else middle
    width = width or 1.0
    scaled, known = (number - centre) / width, (gold - centre) / width
    return Numbers(scaled, centre, width, bias, known, total, items, most)


def begin(sweeps: Sweeps, numbers: Numbers) -> tuple[Fixed, JudgeState]:
    """What stays the same, and judges who are all alike about the plain mean of each item."""
    number, many = numbers.number, numbers.judgments
    top = float(np.abs(number).max())
    unit = np.array([_unit(top, many), _unit(top * top, many)])
    first = np.rint(number * unit[0]).astype(np.int64)
    second = np.rint(number * number * unit[1]).astype(np.int64)
    judges, items = sweeps.run(MeasureNumbers(first, second, unit))
    fixed = Fixed(judges[:, 0].astype(np.float64), judges[:, 1] / unit[0], judges[:, 2] / unit[1])
    overall = int(judges[:, 1].sum()) / unit[0] / many
    empty = numbers.items - int(items[0])
    centre = (int(items[1]) / unit[0] + empty * overall) / numbers.items
    square = (int(items[2]) / unit[1] + empty * overall**2) / numbers.items
    left = max((int(judges[:, 2].sum()) - int(items[3])) / unit[1] / many, 0.0) + _LEAST
    state = JudgeState(
        shift=np.zeros(len(judges)),
        scale=np.ones(len(judges)),
        noise=np.full(len(judges), left),
        centre=float(centre),
        between=max(float(square - centre**2), 0.0) + _LEAST,
        shifts=left / 4,
        scales=_SCALES,
    )
    return fixed, state


def sweep_numbers(
    name: str,  # of the loop in a checkpoint
    sweeps: Sweeps,
    numbers: Numbers,
    fixed: Fixed,
    state: JudgeState,
    loop: Loop,
    pooled: float,  # judgments that the noise of all weighs as
    tolerance: float,
) -> tuple[JudgeState, int, bool]:
    """Where sweeps from a state lead to, after how many, and whether it had come to rest."""

    def step(now: State, _: int) -> tuple[State, float]:
        before = _to_state(now)
        after = _sweep_once(sweeps, numbers, fixed, before, pooled)
        return asdict(after), _moved(before, after)

    def settled(trace: Sequence[float]) -> bool:
        return len(trace) > 0 and trace[-1] < tolerance

    found, trace, converged = loop.run(name, asdict(state), step, settled)
    return _to_state(found), len(trace), converged


def _to_state(kept: State) -> JudgeState:
    """The judges as an iteration left them."""
    plain: dict[str, Any] = {
        name: value if np.ndim(value) else float(value) for name, value in kept.items()
    }
    return JudgeState(**plain)


def value_items(
    sweeps: Sweeps, numbers: Numbers, state: JudgeState
) -> tuple[_Floats, _Floats, _Floats]:  # (item,)
    """The value of each item and its variance, as they were measured, and what its judges share.

    The last is by how much their squared residuals rise and fall together, over all pairs.
    """
    rows = sweeps.write_rows(WriteValues(_biases(numbers, state)), 3)
    return numbers.back(rows[:, 0]), rows[:, 1] * numbers.width**2, rows[:, 2]


def _sweep_once(
    sweeps: Sweeps, numbers: Numbers, fixed: Fixed, state: JudgeState, pooled: float
) -> JudgeState:
    """The state after one sweep: values given the judges, then judges given the values."""
    biases = _biases(numbers, state, int(fixed.count.max()))
    judges, items = sweeps.run(ExpectValues(biases))
    of_value, of_square = biases.unit[2], biases.unit[3]
    centre = float(int(items[0]) / of_value / numbers.items)
    square = float(int(items[1]) / of_square / numbers.items)
    between = max(square - centre**2, 0.0) + _LEAST
    value, squares, product = (
        judges[:, 0] / of_value,
        judges[:, 1] / of_square,
        judges[:, 2] / of_square,
    )
    shifts = state.shifts if numbers.bias != "scale" else _NONE
    scales = state.scales if numbers.bias != "shift" else _NONE
    sure = 1.0 / state.noise
    one, two = fixed.count * sure + 1.0 / shifts, squares * sure + 1.0 / scales
    cross, first, second = value * sure, fixed.first * sure, product * sure + 1.0 / scales
    determinant = one * two - cross**2
    shift, scale = (
        (two * first - cross * second) / determinant,
        (one * second - cross * first) / determinant,
    )
    of_shift, of_scale = two / determinant, one / determinant
    shifts = mean_of(shift**2 + of_shift) + _NONE
    scales = mean_of((scale - 1.0) ** 2 + of_scale) + _NONE
    shift = shift - mean_of(shift)  # what all share is the values'
    mean = mean_of(scale)
    scale = scale / mean if mean > 0 else scale  # the unit is that of the judges together
    rest = fixed.second - 2.0 * (scale * product + shift * fixed.first)
    rest = rest + scale**2 * squares + 2.0 * scale * shift * value
    rest = np.maximum(rest + fixed.count * shift**2, 0.0) + fixed.count * of_shift
    weight = np.maximum(fixed.count + pooled, 1.0)
    noise = (rest + pooled * state.pool) / weight + _LEAST
    return JudgeState(shift, scale, noise, centre, between, shifts, scales)


def _biases(numbers: Numbers, state: JudgeState, many: int = 1) -> Biases:
    """The judges as a sweep reads them; ``many`` is how many judgments one gave at most."""
    top = float(np.abs(numbers.number).max()) or 1.0
    known = float(np.abs(numbers.gold).max(initial=0.0))
    limit = max(_BEYOND * top, known)
    pull = state.scale / state.noise
    precision = state.scale * pull
    far = (top + float(np.abs(state.shift).max())) * float(np.abs(pull).max())
    count = max(many, numbers.items)
    square = limit * limit + state.between
    unit = [_unit(far, numbers.most), _unit(float(precision.max()), numbers.most)]
    unit += [_unit(limit, count), _unit(square, count), _unit(FURTHEST**2, numbers.most)]
    return Biases(
        number=numbers.number,
        gold=numbers.gold,
        prior=np.array([state.centre / state.between, 1.0 / state.between, limit]),
        shift=state.shift,
        scale=state.scale,
        noise=state.noise,
        pull=pull,
        weight=np.rint(precision * unit[1]).astype(np.int64),
        unit=np.array(unit),
    )


def _moved(before: JudgeState, after: JudgeState) -> float:
    """How far a sweep moved any judge, or the values together, in deviations of the judgments."""
    size = math.sqrt(after.between + after.centre**2)
    steps = (
        np.abs(after.shift - before.shift).max(),
        np.abs(after.scale - before.scale).max() * size,
        np.abs(np.sqrt(after.noise) - np.sqrt(before.noise)).max(),
        abs(after.centre - before.centre),
        abs(math.sqrt(after.between) - math.sqrt(before.between)),
    )
    return float(max(steps))


def _unit(most: float, count: int) -> float:
    """The power of two in which that many numbers, none of them larger, can be added up."""
    _, bits = math.frexp(max(most, 1e-30) * max(count, 1))
    return math.ldexp(1.0, _FREE - bits)


def mean_of(values: _Floats) -> float:
    """The mean, whatever the order of the values."""
    unit = _unit(float(np.abs(values).max()), len(values))
    return int(np.rint(values * unit).astype(np.int64).sum()) / unit / len(values)


def numbers_of(scale: Scale) -> _Floats:  # (label,)
    """The number of each label; a label that is none is an error."""
    found = [as_number(label) for label in scale.labels]
    for label, number in zip(scale.labels, found, strict=True):
        if number is None:
            raise BadData(f"label: expected a number, got {label!r}", value=label)
    return np.array(found, dtype=np.float64)


def errors_of(
    numbers: Numbers,
    value: _Floats,  # (item,)
    spread: _Floats,  # (item,)
    beyond: tuple[float, float, float],
) -> _Floats:  # (item,)
    """Standard errors; a value that is known has none.

    ``beyond`` the judges' own noise: what they get wrong together, their mean scale, and how many
    times gold makes all of it.
    """
    common, stretch, widened = beyond
    far = stretch * (value - numbers.centre)
    return np.sqrt(np.where(spread > 0, spread + common**2 + far**2, 0.0)) * widened


def most_of(judgments: Judgments) -> int:
    """The largest number of judgments of one item."""
    offsets = judgments.offsets
    cuts = range(0, judgments.item_count, _BLOCK)
    return max((int(np.diff(offsets[cut : cut + _BLOCK + 1]).max()) for cut in cuts), default=0)


def judges_of(
    state: JudgeState, earlier: Judgments, judgments: Judgments
) -> tuple[JudgeState, int]:
    """What is known of the judges of other judgments, and how many of them are new."""
    at = look_up(judgments.judges, earlier.judges)  # (judge of the others,)
    return _taken(state, at), int(np.count_nonzero(at < 0))


def _taken(state: JudgeState, at: NDArray[np.signedinteger]) -> JudgeState:
    new, old = at < 0, np.maximum(at, 0)
    unknown = state.pool + state.shifts + state.scales * state.between
    return replace(
        state,
        shift=np.where(new, 0.0, state.shift[old]),
        scale=np.where(new, 1.0, state.scale[old]),
        noise=np.where(new, unknown, state.noise[old]),
    )


LEVEL = 1.959964  # of a 95% interval
_BARS = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContinuousConsensus(Result, Saved):
    """What was found: the value of each item, and the bias and noise of each judge."""

    holds: ClassVar[str] = "fit of numbers"

    judgments: Judgments
    settings: dict[str, object]
    value: _Floats  # (item,)
    error: _Floats  # (item,) standard error
    numbers: Numbers = field(repr=False)
    state: JudgeState = field(repr=False)
    iterations: int
    converged: bool
    widened: float = 1.0  # how many times gold made the standard errors larger
    common: float = 0.0  # standard deviation of what judges get wrong together
    stretch: float = 0.0  # and of their mean scale
    notes: tuple[str, ...] = ()

    @property
    def facts(self) -> str:
        """How many values there are, and how sure they are."""
        error = float(self.error.mean())
        return f"{count_of(len(self.value), 'item')}, standard error {error:.3g} on average"

    def to_table(self) -> Any:
        """Return ``labels``."""
        return self.labels

    @property
    def shift(self) -> _Floats:  # (judge,)
        """How far above the others each judge is, in the middle of the numbers."""
        return self.state.shift * self.numbers.width

    @property
    def scale(self) -> _Floats:  # (judge,)
        """How far apart each judge puts what is 1 apart."""
        return self.state.scale

    @property
    def noise(self) -> _Floats:  # (judge,)
        """The standard deviation of what is left."""
        return np.sqrt(self.state.noise) * self.numbers.width

    @property
    def labels(self) -> pa.Table:
        """One row per item: its value with a 95% interval, and how many judged it."""
        given = self.judgments
        columns = given.own_columns
        columns["label"] = pa.array(np.round(self.value, 6))
        columns["low"] = pa.array(np.round(self.value - LEVEL * self.error, 6))
        columns["high"] = pa.array(np.round(self.value + LEVEL * self.error, 6))
        columns["error"] = pa.array(np.round(self.error, 6))
        columns["judgments"] = pa.array(given.counts_per_item)
        return pa.table(columns)

    @property
    def judges(self) -> Judges:
        """One row per judge: how many judgments they gave, their bias and their noise."""
        columns = {
            "judge": restore(self.judgments.judges, self.judgments.types.get("judge")),
            "judgments": pa.array(self.judgments.counts_per_judge),
            "shift": pa.array(np.round(self.shift, 6)),
            "scale": pa.array(np.round(self.scale, 6)),
            "noise": pa.array(np.round(self.noise, 6)),
        }
        return Judges(pa.table(columns))

    def __repr__(self) -> str:
        given = self.judgments
        return (
            f"ContinuousConsensus({count_of(len(given), 'judgment')}, "
            f"{count_of(given.item_count, 'item')}, {count_of(given.judge_count, 'judge')}, "
            f"numbers from {given.scale.labels[0]} to "
            f"{given.scale.labels[-1]})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: how many items, how values are spread, the first of them."""
        from adjudge.data.html import show

        items = len(self.value)
        count, edges = np.histogram(self.value, bins=_BARS)
        names = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges)]
        bars = list(zip(names, (count / items).tolist(), strict=True))
        return show("Numbers", self.facts, bars, self.labels, items, self.notes)

    @takes_tables
    def predict(
        self, judgments: JudgmentsLike, *, engine: Engine | None = None
    ) -> ContinuousConsensus:
        """The values of other judgments, by the judges as they are known.

        A judge who is new is taken to be like the others, with a bias that is unknown.
        """
        number = numbers_of(judgments.scale)
        state, new = judges_of(self.state, self.judgments, judgments)
        own = replace(
            self.numbers,
            number=(number - self.numbers.centre) / self.numbers.width,
            gold=np.empty(0),
            judgments=len(judgments),
            items=judgments.item_count,
            most=most_of(judgments),
        )
        place = engine if engine is not None else ThreadsEngine()
        sweeps = place.load(judgments, shared=True)
        value, spread, _ = value_items(sweeps, own, state)
        notes = self.notes
        if new:
            notes = (
                *notes,
                f"{new} of {count_of(judgments.judge_count, 'judge')} "
                f"{'is' if new == 1 else 'are'} new: "
                "like the others",
            )
        return replace(
            self,
            judgments=judgments,
            value=value,
            error=errors_of(own, value, spread, (self.common, self.stretch, self.widened)),
            numbers=own,
            state=state,
            notes=notes,
        )
