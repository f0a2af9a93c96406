"""Whether two methods differ, the rank that methods share while they do not, and many tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adjudge.data.names import look_up
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.evaluation.against_gold import Evaluation


def adjust(
    p: NDArray[np.float64], *, dependent: bool = False
) -> NDArray[np.float64]:  # (test,) -> (test,)
    """Adjust p-values of many tests so that the false discovery rate can be bounded.

    Benjamini and Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x. With ``dependent``, for
    any dependence between the tests: Benjamini and Yekutieli (2001), doi:10.1214/aos/1013699998.
    """
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, method="by" if dependent else "bh"))


_ROUNDING = 1e-12  # of the larger value: a smaller difference is 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A paired test of two methods: the mean of first minus second, and how sure that is.

    ``p`` is two-tailed, and NaN where there are too few pairs to say; ``different`` is p <= level.
    """

    mean: float
    statistic: float
    p: float
    pairs: int
    level: float

    @property
    def different(self) -> bool:
        """Whether the two differ significantly."""
        return self.p <= self.level


def paired_t_test(first: ArrayLike, second: ArrayLike, *, level: float = 0.05) -> Difference:
    """Test the mean of paired differences, two-tailed; pairs with a NaN are left out.

    Differences that are all 0 have p = 1, all the same other number p = 0. With fewer than two
    pairs p is NaN, unless the difference is 0.
    """
    from scipy.stats import ttest_1samp

    gap = _differences(first, second, level)
    count = len(gap)
    mean = float(gap.mean()) if count else math.nan
    if count and not gap.any():
        statistic, p = 0.0, 1.0
    elif count < 2:
        statistic, p = math.nan, math.nan
    elif gap.std(ddof=1) <= _ROUNDING * np.abs(gap).max():
        statistic, p = math.copysign(math.inf, mean), 0.0
    else:
        statistic, p = map(float, ttest_1samp(gap, 0.0))
    return Difference(mean=mean, statistic=statistic, p=p, pairs=count, level=level)


def sign_test(first: ArrayLike, second: ArrayLike, *, level: float = 0.05) -> Difference:
    """Test the signs of paired differences: exact and two-tailed.

    On right and wrong (1 and 0) it is McNemar's exact test. ``statistic`` is how many pairs the
    first method wins; without any difference p is 1.
    """
    from scipy.stats import binomtest

    gap = _differences(first, second, level)
    wins, decided = int((gap > 0).sum()), int(np.count_nonzero(gap))
    p = float(binomtest(wins, decided).pvalue) if decided else 1.0
    mean = float(gap.mean()) if len(gap) else math.nan
    return Difference(mean=mean, statistic=float(wins), p=p, pairs=len(gap), level=level)


def _differences(first: ArrayLike, second: ArrayLike, level: float) -> NDArray[np.float64]:
    """Return first minus second for pairs with both values; rounding errors become 0."""
    if not 0 < level < 1:
        raise BadSetting("level", level, "a number between 0 and 1, such as 0.05")
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise BadData(
            f"values of the shapes {a.shape} and {b.shape} cannot be paired",
            expected="as many values of one method as of the other",
        )
    known = ~(np.isnan(a) | np.isnan(b))
    a, b = a[known], b[known]
    gap = a - b
    gap[np.abs(gap) <= _ROUNDING * np.maximum(np.abs(a), np.abs(b))] = 0.0
    return gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A method's place: its mean, its rank, and its difference from the head of that rank.

    A method that heads a rank is compared with the head of the rank before; the first with none.
    """

    method: str
    mean: float
    rank: int
    against: str | None
    difference: Difference | None


def rank_methods(
    samples: Mapping[str, ArrayLike], *, higher_is_better: bool = True, level: float = 0.05
) -> tuple[Ranked, ...]:
    """Methods from best to worst, those that do not differ significantly sharing a rank.

    This is the rank column of Jung and Lease's table of PMF methods, made exact: sorted by
    mean (equal means by name); the best heads rank 1; each next one shares the rank of the current
    head if the paired t-test finds no difference from it, else it heads the next rank. Ranks are
    counted without gaps. Values are paired by place: by item, by fold or by split.
    """
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in samples.items()}
    means = {name: _mean(values) for name, values in arrays.items()}
    sign = -1.0 if higher_is_better else 1.0

    def worse(name: str) -> tuple[bool, float, str]:
        return math.isnan(means[name]), sign * means[name], name

    found: list[Ranked] = []
    head: str | None = None
    rank = 0
    for name in sorted(arrays, key=worse):
        difference = None
        against = head
        if head is not None:
            difference = paired_t_test(arrays[name], arrays[head], level=level)
        if difference is None or difference.different:
            head, rank = name, rank + 1
        found.append(
            Ranked(method=name, mean=means[name], rank=rank, against=against, difference=difference)
        )
    return tuple(found)


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan


def correct_by_item(
    evaluations: Mapping[str, Evaluation],
) -> dict[str, NDArray[np.float64]]:  # method -> (item,)
    """Right (1) or wrong (0) for each method, on the items that all of them have scored.

    Items are in one order for all methods, so that the values pair up.
    """
    names: Sequence[str] = list(evaluations)
    if not names:
        return {}
    common = evaluations[names[0]].items
    for name in names[1:]:
        kept = look_up(common, evaluations[name].items) >= 0
        common = common.filter(kept)
    return {
        name: evaluation.correct[look_up(common, evaluation.items)].astype(np.float64)
        for name, evaluation in evaluations.items()
    }
