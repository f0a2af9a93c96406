"""How many people and items would the test of replacing people need? By simulation.

Each person of a pilot holds, ties with or loses to the model with certain chances. A simulated
study draws people from the pilot, their chances from what the pilot leaves open (a Dirichlet
distribution), and so many contests of each; then it runs the test. The power is the share of
studies in which the model passes. Contests of different people are drawn apart, though in a real
study they share items: the chance that all fail together is somewhat larger than simulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.errors import BadSetting
from adjudge.evaluation.model_judges._contests import one_sided_p
from adjudge.evaluation.model_judges.replacement import HALF, Replacement
from adjudge.evaluation.scores import columns_of

_ITEMS = (30, 50, 100, 200, 400)
_PEOPLE = (3, 5, 10)
_WANTED = 0.8  # power that is usually asked for
_PRIOR = 0.5  # contests of each outcome that a person is taken to have had before the pilot


@dataclass(frozen=True, slots=True, kw_only=True)
class _Power:
    """The chance that a model passes in a study of so many people with so many items each."""

    model: str
    people: int
    items: int
    power: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerTable:
    """The power of every size of a study, for every model."""

    rows: tuple[_Power, ...]
    studies: int

    def smallest(self, model: str) -> _Power | None:
        """The study with fewest judgments of people in which the model passes 4 times of 5."""
        able = [row for row in self.rows if row.model == model and row.power >= _WANTED]
        return min(able, key=lambda row: (row.people * row.items, row.people), default=None)

    def to_table(self) -> Any:
        """One row a model and size: model, people, items, power."""
        return pa.table(
            columns_of(self.rows, text=("model",), whole=("people", "items"), real=("power",))
        )


def simulate_power(
    pilot: Replacement,
    *,
    people: Sequence[int] = _PEOPLE,
    items: Sequence[int] = _ITEMS,
    studies: int = 2000,
    seed: int = 0,
) -> PowerTable:
    """How often each model would pass in studies of other sizes than the pilot's."""
    if studies < 1:
        raise BadSetting("studies", studies, "at least 1 simulated study")
    for name, sizes in (("people", people), ("items", items)):
        if not sizes or min(sizes) < 2:
            raise BadSetting(name, tuple(sizes), "sizes of 2 and more")
    rows = []
    for verdict in pilot.overall:
        if not verdict.people:
            continue
        outcomes = np.array([_outcomes(p.items, p.model_holds, p.person_holds)
                             for p in verdict.people])  # fmt: skip
        for many in people:
            for each in items:
                random = np.random.default_rng((seed, many, each))
                passed = _studies(outcomes, many, each, studies, pilot, random)
                rows.append(_Power(model=verdict.model, people=many, items=each, power=passed))
    return PowerTable(rows=tuple(rows), studies=studies)


def _outcomes(items: int, model_holds: float, person_holds: float) -> tuple[float, float, float]:
    """How often the model won, the two tied, and the person won."""
    lost, won = items * (1 - model_holds), items * (1 - person_holds)
    return won, items - won - lost, lost


def _studies(
    outcomes: NDArray[np.float64],  # (person, 3)
    people: int,
    items: int,
    studies: int,
    pilot: Replacement,
    random: np.random.Generator,
) -> float:
    """The share of simulated studies in which the model passes."""
    chosen = random.integers(0, len(outcomes), size=(studies, people))
    shape = random.standard_gamma(outcomes[chosen] + _PRIOR)  # normalised, it is Dirichlet
    chances = shape / shape.sum(axis=2, keepdims=True)
    counts = random.multinomial(items, chances).astype(np.float64)  # (study, person, 3)
    total = counts[:, :, 2] - counts[:, :, 0]
    squares = counts[:, :, 2] + counts[:, :, 0]
    p = one_sided_p(np.full(total.shape, float(items)), total, squares, pilot.rule.epsilon)
    return float((_rejected(p, pilot.rule.q) >= HALF * people).mean())


def _rejected(p: NDArray[np.float64], q: float) -> NDArray[np.int64]:  # (study, person) -> (study,)
    """How many people each study rejects the hypothesis for, by Benjamini and Yekutieli."""
    many = p.shape[1]
    rank = np.arange(1, many + 1)
    under = np.sort(p, axis=1) <= rank * q / (many * (1.0 / rank).sum())
    return np.asarray(np.where(under, rank, 0).max(axis=1))
