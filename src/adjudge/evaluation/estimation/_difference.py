"""The difference estimator: what is believed of all items, corrected by residuals on gold items.

    theta = value(beliefs, gold) + sum over gold of (w_i - 1) (x_i - f_i)

where x is what an item's gold adds to the target and f what it was believed to add. It is unbiased
for sums whatever the beliefs are, as long as an item's own gold had no part in its f; good beliefs
make it narrow. This is prediction-powered inference (Angelopoulos and others 2023,
doi:10.1126/science.adi6000) for a finite population, known to survey statistics as the difference
estimator (Sarndal, Swensson and Wretman 1992). Power tuning (Angelopoulos, Duchi and Zrnic 2023,
arXiv:2311.01453) uses only a part lambda of what beliefs add to b, which gold alone says of every
item alike: f_lambda = b + lambda (f - b), with the lambda of least variance. With lambda 0 it is
the classical estimate from gold alone.

``over_topics`` clusters by topic, for intervals about other topics than these. Each topic's part of
the estimate, corrected by its gold, less its share of the estimate, is one draw of what a topic
does. T of them give the variance T / (T - 1) sum of squares, with T - 1 degrees of freedom, which
covers what gold leaves open about each topic. For what is no sum over items (nDCG, AP, bpref,
rates) topics are drawn again with replacement, and the interval is from the distribution of the
ratio of error to standard error (the bootstrap t, Efron 1982, doi:10.1137/1.9781611970319). It need
not be symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from adjudge.errors import BadData
from adjudge.evaluation.estimation._sampling import Sample
from adjudge.evaluation.estimation._targets import Expansion

_Floats = NDArray[np.float64]
_FEWEST = 5  # topics
_DRAWN_FROM = 10  # topics from which resampling them says more than a formula
_DRAWS = 4000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Interval:
    """An estimate with its variance, and the parts that other variances are made of."""

    value: float
    variance: float
    freedom: float
    moved: _Floats  # (member,) what gold and tuning change of the expansion's value
    power: float = 0.0  # lambda
    errors: _Floats | None = None  # (draw,) in standard errors, instead of a t distribution

    def bounds(self, level: float, within: tuple[float, float]) -> tuple[float, float]:
        """Return the interval, within the bounds of the target."""
        over = under = float(student.ppf(0.5 + level / 2, self.freedom))
        if self.errors is not None:
            ends = np.quantile(self.errors, [0.5 - level / 2, 0.5 + level / 2])
            over, under = -float(ends[0]), float(ends[1])
        error = np.sqrt(self.variance)
        ends = np.clip([self.value - under * error, self.value + over * error], *within)
        return float(ends[0]), float(ends[1])


def correct(
    expansion: Expansion,
    sample: Sample,
    belief: _Floats,  # (member, truth); of gold items, made without their own gold
    plain: _Floats,  # (truth,) what gold alone says of every item
    *,
    tune: bool,
    few: bool = False,
) -> Interval:
    """Estimate from beliefs and gold; without ``tune`` beliefs count in full.

    ``few``: so few gold items may count that their spread is not seen; the believed one is used.
    """
    f = expansion.expected(belief)
    base = expansion.adds @ plain
    ahead = expansion.adds[sample.item, sample.truth] - base[sample.item]
    beyond = (f - base)[sample.item]
    shares = sample.shares(expansion.doubt(belief)[sample.item])
    power = _best_power(sample, ahead, beyond, shares) if tune else 1.0
    residual = ahead - power * beyond
    believed = expansion.spread(belief)[sample.item] if few else None
    variance, freedom = sample.variance(residual, shares, believed)
    # One number more was learnt from the same gold. At its bounds it was not; then beliefs count in
    # full, and for a sum it represents what they learnt.
    if tune and (0 < power < 1 or not few):
        freedom = max(freedom - 1.0, 1.0)
        variance *= (freedom + 1.0) / freedom
    around = f if expansion.around is None else expansion.expected(expansion.around)
    moved = base + power * (f - base) - around
    moved[sample.item] = (sample.weights(shares) - 1.0) * residual
    return Interval(
        value=expansion.value + float(moved.sum()),
        variance=variance + expansion.rest,
        freedom=freedom,
        moved=moved,
        power=power,
    )


def _best_power(sample: Sample, ahead: _Floats, beyond: _Floats, shares: _Floats) -> float:
    """Return the part of the beliefs with least variance, from 0 to 1."""
    part = shares[sample.round] ** 2
    total = float((sample.spread(beyond, beyond) * part).sum())
    if not total > 0:
        return 0.0
    return float(np.clip((sample.spread(ahead, beyond) * part).sum() / total, 0.0, 1.0))


def over_topics(
    interval: Interval,
    expansion: Expansion,
    topics: NDArray[np.int64] | None,  # (member,)
    *,
    is_sum: bool,
    seed: int,
) -> Interval:
    """Return the interval about a population of topics, of which these were drawn at random."""
    if topics is None or expansion.of_topic is None or expansion.share is None:
        raise BadData(
            "the judgments have no topics to cluster by; expected a column topic",
            expected="topics",
        )
    count = len(expansion.of_topic)
    if count < _FEWEST:
        raise BadData(
            f"{count} topics are too few for an interval about others; expected at least "
            f"{_FEWEST}, or an interval about these only",
            expected="topics",
        )
    own = expansion.of_topic + np.bincount(topics, weights=interval.moved, minlength=count)
    apart = own - interval.value * expansion.share
    variance = count / (count - 1) * float((apart**2).sum())
    drawn = None if is_sum or count < _DRAWN_FROM else _errors(apart, seed)
    return replace(interval, variance=variance, freedom=count - 1.0, errors=drawn)


def _errors(apart: _Floats, seed: int) -> _Floats | None:  # (draw,)
    """Return errors over draws of the topics, in standard errors; None if topics do not differ."""
    count = len(apart)
    random = np.random.default_rng([seed, 17])
    drawn = apart[random.integers(count, size=(_DRAWS, count))]  # (draw, topic)
    off = drawn.sum(axis=1) - apart.sum()
    error = np.sqrt(count * drawn.var(axis=1, ddof=1))
    kept = error > 1e-9 * max(float(np.abs(apart).max()), 1e-300)
    return off[kept] / error[kept] if kept.mean() >= 0.99 else None
