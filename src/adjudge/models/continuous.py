"""Continuous: judgments that are numbers, each judge with a bias and a noise of their own.

    y_ij = c + shift_j + scale_j (mu_i - c) + e_ij,   e_ij ~ N(0, noise_j^2)
    mu_i ~ N(m, t^2),  shift_j ~ N(0, b^2),  scale_j ~ N(1, a^2),  noise_j^2 shrunken to their pool

Everything above is estimated from the judgments by expectation and maximisation, what holds for all
judges (b, a, the pool of noises) too, so that a judge of few judgments is taken to be like the
others. c is the mean of the judgments: a shift is a judge's bias in the middle of the numbers. The
model is that of Welinder and Perona (2010) for numbers, with scales added.

What all judges get wrong together is in the values, and no judge shows it. Gold does: with 20 items
of it the intervals are widened until they would have held 95% of it, had the fit not seen it (split
conformal; Vovk and others, 2005). Without, they are widened where some items are hard for all
judges, which is where judges err together, and by what is not known of the mean bias of that many
judges: b^2 / J, and a^2 / J times the squared distance from c.

Where zero is the commonest answer, as with feelings that are mostly absent, a bias is taken to be
proportional: judges who see nothing say zero, so there are scales and no shifts, and c is 0.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, takes_tables
from adjudge.data.names import look_up
from adjudge.data.scale import as_number
from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Engine
from adjudge.engines.threads import ThreadsEngine
from adjudge.errors import BadData, BadSetting
from adjudge.models._notes import describe_unconverged
from adjudge.models.loop import Loop
from adjudge.models.model import Progress
from adjudge.models.number_consensus import (
    LEVEL,
    ContinuousConsensus,
    Fixed,
    JudgeState,
    Numbers,
    begin,
    errors_of,
    judges_of,
    mean_of,
    most_of,
    numbers_of,
    read_numbers,
    sweep_numbers,
    value_items,
)
from adjudge.models.settings import FitPredict, check_settings

_SURE = 3.0  # standard errors

_HALF = 0.02  # of D, beyond those: half of a judge's noise is taken to be common


def _common_variance(
    together: _Floats,  # (item,) over its pairs of judges
    pairs: _Floats,  # (item,) twice how many it has
    noise: _Floats,  # (judge,) variance
    count: _Floats,  # (judge,) judgments
) -> float:
    """The variance of what the judges of an item get wrong together, in units of ``noise``.

        D = mean over pairs of judges of one item of (z_j^2 - E z_j^2) (z_k^2 - E z_k^2)

    z are residuals in noises of their judges. D is about 0 where every judge errs alone, with the
    same noise on every item, and more where some items are hard for all. There judges err together
    too: on real judgments that have a truth, as far as each errs alone or further. An error that
    all judges of an item share is in its value and shows nowhere else. So where D is more than
    three times its standard error, values have that variance besides:

        share x mean noise^2,   share = d / (d + 0.02),   d = D - 3 se(D), or 0
    """
    all_pairs = math.fsum(pairs)
    if not all_pairs:
        return 0.0
    excess = mean_of(together) * len(together) / all_pairs
    apart = (together - excess * pairs) ** 2
    doubt = math.sqrt(mean_of(apart) * len(apart)) / all_pairs
    beyond = max(excess - _SURE * doubt, 0.0)
    share = beyond / (beyond + _HALF)
    return share * math.fsum(noise * count) / math.fsum(count)


_Floats = NDArray[np.float64]

_SHARE = 0.95

_LEAST_GOLD = 20  # items; fewer cannot hold 95%

_WORDS = {"scale": "a scale", "shift": "a shift", "both": "a shift and a scale"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuous(FitPredict):
    """Numbers judged by people who are each biased and noisy in their own way."""

    name: ClassVar[str] = "continuous"

    bias: Literal["auto", "shift", "scale", "both"] = "auto"
    pooled: float = 10.0  # judgments that the noise of all weighs as
    iterations: int = 500
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.tolerance > 0:
            raise BadSetting("tolerance", self.tolerance, "more than 0")

    @takes_tables
    def fit(
        self,
        judgments: JudgmentsLike,
        gold: GoldLike = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
        start: ContinuousConsensus | None = None,
    ) -> ContinuousConsensus:
        """The values of the items; those of gold are known. ``start``: go on from an earlier fit.

        Gold of an item that nobody judged is kept: the item joins the others.
        """
        number = numbers_of(judgments.scale)
        if not len(judgments):
            raise BadData("there are no judgments to fit")
        judgments, known, values, notes = _with_gold(judgments, gold)
        place = engine if engine is not None else ThreadsEngine()
        sweeps = place.load(judgments, known, shared=True)
        given = (judgments.item_count, most_of(judgments))
        numbers = read_numbers(sweeps, number, values, self.bias, *given)
        fixed, state = begin(sweeps, numbers)
        if start is not None:
            state = _earlier(start, judgments, numbers)
        loop = Loop(
            most=self.iterations,
            progress=progress,
            checkpoint=_open_checkpoint(place.checkpoint, self, fixed),
            note="moved {:.1e}",
        )
        rules = (loop, self.pooled, self.tolerance)
        found, done, converged = sweep_numbers("numbers", sweeps, numbers, fixed, state, *rules)
        value, spread, together = value_items(sweeps, numbers, found)
        notes.append(f"each judge has {_WORDS[numbers.bias]} and a noise of their own")
        if not converged:
            notes.append(describe_unconverged(done))
        widened, common, stretch = 1.0, 0.0, 0.0
        gold_items = _gold_items(judgments, known)
        if known is not None:
            value[known >= 0] = values[known[known >= 0]]  # to the last bit
        if known is not None and len(gold_items) >= _LEAST_GOLD:
            unseen = replace(numbers, gold=np.empty(0))
            blind, _, _ = sweep_numbers("blind", sweeps, unseen, fixed, state, *rules)
            guess, doubt, _ = value_items(sweeps, unseen, blind)
            widened = _widening(guess[gold_items], doubt[gold_items], values[known[gold_items]])
            notes.append(
                f"intervals are {widened:.2f} times as wide as the judges' noise alone would have "
                f"them, by the gold of {len(gold_items):,} items"
            )
        else:
            variance = _common_variance(
                together, _pairs(judgments, known), found.noise, fixed.count
            )
            notes.append(_describe_intervals(numbers.width * math.sqrt(variance)))
            judges = judgments.judge_count
            common = numbers.width * math.sqrt(variance + found.shifts / judges)
            stretch = math.sqrt(found.scales / judges)
        return ContinuousConsensus(
            judgments=judgments,
            settings=asdict(self) | {"bias": numbers.bias},
            value=value,
            error=errors_of(numbers, value, spread, (common, stretch, widened)),
            numbers=numbers,
            state=found,
            iterations=done,
            converged=converged,
            widened=widened,
            common=common,
            stretch=stretch,
            notes=tuple(notes),
        )


def _with_gold(
    judgments: Judgments, gold: Gold | None
) -> tuple[Judgments, NDArray[np.int32] | None, _Floats, list[str]]:
    """Judgments with the items of gold, gold's code of each item (-1 unknown), and its numbers."""
    if gold is None or not len(gold):
        return judgments, None, np.empty(0), []
    found = [as_number(text) for text in gold.values]
    for text, number in zip(gold.values, found, strict=True):
        if number is None:
            raise BadData(f"gold: expected a number, got {text!r}", value=text)
    notes = list(gold.tell_unjudged(judgments))
    if notes:
        judgments = judgments.with_items(gold.items, topics=gold.topics, documents=gold.documents)
    known = np.full(judgments.item_count, -1, dtype=np.int32)
    known[look_up(gold.items, judgments.items)] = gold.value
    return judgments, known, np.array(found, dtype=np.float64), notes


def _gold_items(
    judgments: Judgments, known: NDArray[np.int32] | None
) -> NDArray[np.int64]:  # (item with gold and judgments,)
    """The items that have both gold and judgments."""
    if known is None:
        return np.zeros(0, dtype=np.int64)
    gold_items = np.flatnonzero(known >= 0)
    return gold_items[judgments.offsets[gold_items + 1] > judgments.offsets[gold_items]]


def _pairs(judgments: Judgments, known: NDArray[np.int32] | None) -> _Floats:  # (item,)
    """Twice the number of pairs of judgments of each item; 0 where its value is known."""
    count = judgments.counts_per_item.astype(np.float64)
    pairs: _Floats = count * (count - 1.0)
    return pairs if known is None else np.where(known >= 0, 0.0, pairs)


def _describe_intervals(common: float) -> str:
    """What intervals without gold hold, and what gold would add."""
    wider = "widen them as needed"
    about = "intervals are about the judges' noise, not about what all judges get wrong together"
    if common > 0:
        wider = "say how wide they must be"
        about = (
            "some items are hard for all judges, so that judges are taken to err together too, by "
            f"{common:.3g}, and intervals to be that much wider"
        )
    return f"{about}; gold of {_LEAST_GOLD} items or more would {wider}"


def _earlier(start: ContinuousConsensus, judgments: Judgments, numbers: Numbers) -> JudgeState:
    """The judges of an earlier fit, in the unit of this one; new ones are like the others."""
    state, _ = judges_of(start.state, start.judgments, judgments)
    old = start.numbers
    ratio = old.width / numbers.width
    apart = (old.centre - numbers.centre) / numbers.width
    return replace(
        state,
        shift=state.shift * ratio + apart * (1.0 - state.scale),
        noise=state.noise * ratio**2,
        centre=state.centre * ratio + apart,
        between=state.between * ratio**2,
        shifts=state.shifts * ratio**2,
    )


def _open_checkpoint(
    given: Checkpoint | None, model: Continuous, fixed: Fixed
) -> Checkpoint | None:
    """The checkpoint of this fit, which knows the judgments by what every judge gave."""
    if given is None:
        return None
    own = given.of(model.name, asdict(model), fixed.count.astype(np.int64))
    numbers = zlib.crc32(np.stack([fixed.first, fixed.second]).tobytes())
    return replace(own, about=own.about | {"numbers": numbers})


def _widening(value: _Floats, spread: _Floats, known: _Floats) -> float:
    """How many times wider intervals have to be to hold 95% of gold that the fit did not see."""
    away = np.sort(np.abs(known - value) / np.sqrt(spread))
    rank = min(int(np.ceil((len(away) + 1) * _SHARE)), len(away))
    return max(1.0, float(away[rank - 1]) / LEVEL)
