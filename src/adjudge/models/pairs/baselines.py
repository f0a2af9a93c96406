"""Baselines: the rate of wins, and Elo's ratings; intervals by resampling the comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adjudge.data.comparisons import CANNOT_SAY, Comparisons
from adjudge.data.judgments import takes_tables
from adjudge.data.preferences import Preferences
from adjudge.kernels import pairs as kernels
from adjudge.models.model import Progress, Step, settings_of
from adjudge.models.pairs._fitting import check_answers
from adjudge.models.pairs._judges import pair_judge_table
from adjudge.models.pairs.cells import count_cells
from adjudge.models.settings import FitPredict, check_settings

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate(FitPredict):
    """How often an item wins against another, averaged over those it was compared with."""

    name: ClassVar[str] = "win-rate"

    resamples: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        check_settings(self)

    @takes_tables
    def fit(self, comparisons: Comparisons, *, progress: Progress | None = None) -> Preferences:
        """Items by their average rate of wins, a tie being half of one."""
        return _resample(self, comparisons, _win_rates, "win rate", progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class Elo(FitPredict):
    """Elo's ratings, comparison by comparison in the order of the data."""

    name: ClassVar[str] = "elo"

    initial: float = 1000.0
    scale: float = 400.0
    step: float = 4.0
    resamples: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        check_settings(self)

    @takes_tables
    def fit(self, comparisons: Comparisons, *, progress: Progress | None = None) -> Preferences:
        """Items by rating; a judge's word is as good as another's."""

        def rate(given: Comparisons) -> _Floats:
            score, order = np.empty(given.item_count), np.arange(len(given))
            sides = (given.left, given.right, given.outcome)
            kernels.elo(*sides, order, self.initial, self.scale, self.step, score)
            return score

        return _resample(self, comparisons, rate, "Elo points", progress)


def _win_rates(comparisons: Comparisons) -> _Floats:  # (item,)
    cells = count_cells(comparisons)
    share = (cells.wins[:, 0] + 0.5 * cells.wins[:, 2]) / cells.many
    total = np.bincount(cells.a, share, cells.items) + np.bincount(cells.b, 1 - share, cells.items)
    met = np.bincount(np.concatenate([cells.a, cells.b]), minlength=cells.items)
    return np.asarray(np.where(met > 0, total / np.maximum(met, 1), 0.5))


def _resample(
    model: Any,
    comparisons: Comparisons,
    rate: Callable[[Comparisons], _Floats],
    unit: str,
    progress: Progress | None,
) -> Preferences:
    check_answers(comparisons)
    score = rate(comparisons)
    answered = comparisons.select(comparisons.outcome != CANNOT_SAY)
    rng = np.random.default_rng(model.seed)
    draws = np.empty((model.resamples, len(score)), dtype=np.float32)
    for number, draw in enumerate(draws):
        draw[:] = rate(answered.select(np.sort(rng.integers(len(answered), size=len(answered)))))
        if progress is not None:
            progress(Step("resampling", number, model.resamples))
    return Preferences(
        comparisons=comparisons,
        model=model.name,
        settings=settings_of(model),
        score=score,
        draws=draws,
        unit=unit,
        judges=pair_judge_table(comparisons, score),
    )
