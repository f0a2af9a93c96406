"""Planning: how many judgments, golds and how much money an accuracy takes.

Judges like those of a pilot are drawn and judge simulated items as often as is needed; the labels
of the model are compared with the simulated truth. A drawn judge is one of the pilot's,
in proportion to their judgments, with a confusion from their posterior

    theta_j[k, :] ~ Dirichlet(n_j[k, :] + alpha_k)

where n_j are the expected counts and alpha_k is fitted to all judges (Dirichlet-multinomial, by the
fixed point of T. Minka, "Estimating a Dirichlet distribution", 2000). So the plan knows how unsure
the pilot is of its judges.

Simulated judges err independently, real ones together. So the accuracy of v judgments by real
judges is read at n_eff(v) simulated ones, by straight lines between numbers, with the pilot's
correlation of judges' errors (``adjudge.models.dependence``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.stats import binom

from adjudge.data.consensus import Consensus
from adjudge.errors import BadSetting
from adjudge.models.dependence import count_effective
from adjudge.models.hierarchical_confusion import learn_pseudo_counts
from adjudge.models.model import Model, Progress, Step
from adjudge.simulation._crowd import Crowd
from adjudge.simulation._judges import Given
from adjudge.simulation._population import Population

_ITEMS = 2_000  # simulated per run: enough to measure accuracy to a hundredth
_ROUNDS = 500
_MOST_GOLDS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgmentPlan:
    """What an accuracy takes; ``per_item`` is None if no number up to the largest reaches it."""

    accuracy: float  # the one to reach
    per_item: int | None
    table: Any  # Arrow: per_item, n_eff, accuracy, low, high, judgments, cost
    golds_a_judge: int | None  # to separate a typical judge from one who guesses; None: too many
    pass_mark: float | None  # share correct that separates them
    typical: float  # accuracy of the judge in the middle
    guessing: float  # accuracy on gold of who always gives the commonest label
    notes: tuple[str, ...] = ()


def _population_of(
    counts: NDArray[np.float64],  # (judge, truth, label)
) -> NDArray[np.float64]:  # (truth, label)
    """The Dirichlet of each row of confusion that judges' expected counts come from."""
    start = counts.sum(axis=0) + 1.0
    start *= 5.0 / start.sum(axis=1, keepdims=True)
    rows = zip(counts.transpose(1, 0, 2), start, strict=True)
    return np.stack([learn_pseudo_counts(own, alpha, _ROUNDS) for own, alpha in rows])


def _drawn_judges(
    consensus: Consensus, judges: int, rng: np.random.Generator
) -> NDArray[np.float64]:  # (judge, truth, label)
    """So many judges like those of a fitted pilot."""
    counts = consensus.counts
    alpha = _population_of(counts)
    weight = counts.sum(axis=(1, 2))
    chosen = rng.choice(len(weight), size=judges, p=weight / weight.sum())
    gamma = rng.standard_gamma(counts[chosen] + alpha[None])
    gamma = np.maximum(gamma, 1e-12)
    return np.asarray(gamma / gamma.sum(axis=2, keepdims=True))


def plan(
    pilot: Consensus,
    *,
    model: Model,
    accuracy: float,
    items: int,
    price: float = 0.0,
    most: int = 15,
    judges: int | None = None,
    runs: int = 10,
    error: float = 0.05,
    beyond: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> JudgmentPlan:
    """The fewest judgments per item with which simulated crowds like the pilot reach the accuracy.

    ``price`` is for one judgment; ``most`` is the largest number per item that is tried; ``error``
    is how often gold may misjudge a judge. The accuracy has to be reached by the
    lower end of the interval of the mean (90%), so that the plan is not luck. ``beyond`` numbers
    more are tried, to see what they would add.
    """
    _check(accuracy, items, price, most, runs, error)
    if not len(pilot.judgments):
        raise BadSetting("pilot", "no judgments", "a pilot with judgments")
    people = judges or max(most, min(pilot.judgments.judge_count, 200))
    if people < most:
        raise BadSetting("judges", people, f"at least {most}, as many as may judge an item")
    rho = pilot.correlation or 0.0
    curve = _Curve(pilot, model, min(items, _ITEMS), people, runs, seed)
    rows: list[tuple[int, float, float, float]] = []
    reached: int | None = None
    for number in range(1, most + 1):
        mean, error_of_mean = curve.at(float(count_effective(np.array(number), rho)))
        rows.append((number, mean, mean - 1.645 * error_of_mean, mean + 1.645 * error_of_mean))
        if progress is not None:
            progress(Step("plan", number, most, f"{mean:.3f}"))
        if reached is None and rows[-1][2] >= accuracy:
            reached = number
        if reached is not None and number >= reached + beyond:
            break
    typical, guessing = _typical(pilot), float(np.max(pilot.overall_prevalence))
    golds, mark = _golds_to_separate(typical, guessing, error)
    return JudgmentPlan(
        accuracy=accuracy,
        per_item=reached,
        table=_table(rows, items, price, rho),
        golds_a_judge=golds,
        pass_mark=mark,
        typical=typical,
        guessing=guessing,
        notes=tuple(_notes(reached, rows, accuracy, golds, guessing, rho, pilot)),
    )


def _golds_to_separate(good: float, bad: float, error: float) -> tuple[int | None, float | None]:
    """The fewest golds that separate a good judge from a bad one, and the share to pass with.

    Both wrong decisions are made at most with chance ``error``; None where 500 golds do not do.
    """
    if good <= bad:
        return None, None
    golds = np.arange(1, _MOST_GOLDS + 1)
    least = binom.ppf(error, golds, good)  # P(fewer | good) <= error
    fails, passes = binom.cdf(least - 1, golds, good), binom.sf(least - 1, golds, bad)
    enough = np.flatnonzero((fails <= error) & (passes <= error))
    if not enough.size:
        return None, None
    return int(golds[enough[0]]), float(least[enough[0]] / golds[enough[0]])


@dataclass(frozen=True, slots=True)
class _Curve:
    """Accuracy by the number of independent judgments per item, simulated on demand."""

    pilot: Consensus
    model: Model
    items: int
    judges: int
    runs: int
    seed: int
    measured: dict[int, tuple[float, float]] = field(default_factory=dict)

    def at(self, number: float) -> tuple[float, float]:
        """The mean over simulated crowds, and its standard error; interpolated between numbers."""
        low = math.floor(number + 1e-9)
        part = number - low
        if part < 1e-9:
            return self._at(low)
        (mean, error), (above, wide) = self._at(low), self._at(low + 1)
        both = math.hypot((1 - part) * error, part * wide)
        return mean + part * (above - mean), both

    def _at(self, number: int) -> tuple[float, float]:
        if number not in self.measured:
            hits = [self._run(number, run) for run in range(self.runs)]
            wide = float(np.std(hits, ddof=1)) / math.sqrt(self.runs) if self.runs > 1 else 0.0
            self.measured[number] = float(np.mean(hits)), wide
        return self.measured[number]

    def _run(self, per_item: int, run: int) -> float:
        """The accuracy of the model on one simulated crowd."""
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, per_item, run]))
        confusion = _drawn_judges(self.pilot, self.judges, rng)
        groups = tuple((Given(tuple(map(tuple, matrix.tolist()))), 1.0) for matrix in confusion)
        prevalence = self.pilot.overall_prevalence
        crowd = Crowd(
            items=self.items,
            population=Population(groups),
            scale=self.pilot.scale,
            prevalence=tuple((prevalence / prevalence.sum()).tolist()),
            per_item=per_item,
        )
        simulated = crowd.make(seed=int(rng.integers(2**31)))
        fitted = self.model.fit(simulated.judgments)
        return float(np.mean(fitted.choice == simulated.truth.codes(self.pilot.scale)))


def _typical(pilot: Consensus) -> float:
    """The accuracy of the judge in the middle, by judgments."""
    hits = np.einsum("jkl,kl->j", pilot.counts, pilot.scale.stands)
    total = pilot.counts.sum(axis=(1, 2))
    share = hits / np.maximum(total, 1e-12)
    order = np.argsort(share)
    middle = np.searchsorted(np.cumsum(total[order]), total.sum() / 2)
    return float(share[order[min(middle, len(order) - 1)]])


def _table(
    rows: Sequence[tuple[int, float, float, float]], items: int, price: float, rho: float
) -> Any:
    numbers = np.array([row[0] for row in rows])
    return pa.table(
        {
            "per_item": numbers,
            "n_eff": count_effective(numbers, rho),
            "accuracy": [row[1] for row in rows],
            "low": [row[2] for row in rows],
            "high": [row[3] for row in rows],
            "judgments": numbers * items,
            "cost": numbers * items * price,
        }
    )


def _notes(
    reached: int | None,
    rows: Sequence[tuple[int, float, float, float]],
    accuracy: float,
    golds: int | None,
    guessing: float,
    rho: float,
    pilot: Consensus,
) -> Iterator[str]:
    """Say what cannot be reached or tested, and how far judges err together."""
    most, mean = rows[-1][:2]
    if reached is None:
        yield (
            f"With {most} judgments per item simulated crowds reach {mean:.1%}, not "
            f"{accuracy:.1%}: better judges are needed, not more of these."
        )
    if golds is None:
        yield (
            f"A judge who always gives the commonest label is right {guessing:.0%} of the time, no "
            f"worse than a typical judge: gold spread evenly over the {len(pilot.scale.truths)} "
            "labels would separate them."
        )
    if rho:
        counts = float(count_effective(np.array(most), rho))
        yield (
            f"These judges err together: {most:,} of their judgments per item carry the "
            f"information of about {counts:.1f} independent ones (n_eff)."
        )


def _check(accuracy: float, items: int, price: float, most: int, runs: int, error: float) -> None:
    for fits, setting, value, expected in (
        (0 < accuracy < 1, "accuracy", accuracy, "a share above 0 and below 1, such as 0.9"),
        (items >= 1, "items", items, "1 or more"),
        (price >= 0, "price", price, "0 or more, per judgment"),
        (most >= 1, "most", most, "1 or more"),
        (runs >= 1, "runs", runs, "1 or more"),
        (0 < error < 0.5, "error", error, "a chance above 0 and below 0.5"),
    ):
        if not fits:
            raise BadSetting(setting, value, expected)
