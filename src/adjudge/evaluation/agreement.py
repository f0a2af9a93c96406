"""How far judges agree: percent, Cohen, Fleiss, Krippendorff, with missing judgments and intervals.

All but Cohen's kappa need only how often each item got each label. Items with the same counts are
one *pattern*: a million judgments make some hundreds of patterns, and both the measures and the
bootstrap over items run on those. Cohen's kappa needs to know who judged: see ``judge_pairs``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from adjudge.data.judgments import Judgments, JudgmentsLike, takes_tables
from adjudge.data.names import look_up
from adjudge.errors import BadSetting, UnknownName
from adjudge.evaluation._judge_pairs import (
    LEAST_COMMON,
    kappa_of_cells,
    mean_cohen_kappa,
    without_repeats,
)
from adjudge.evaluation._resampling import (
    check_resampling,
    pattern_weights,
    percentile_interval,
)
from adjudge.evaluation.measures import Floats, Value, ratio
from adjudge.evaluation.scores import Score, score_table


@takes_tables
def cohen_kappa(
    judgments: JudgmentsLike,
    first: str,
    second: str,
    *,
    resamples: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Score:
    """Cohen's kappa of two judges on the items both judged; of repeats the first counts.

    (observed - chance) / (1 - chance), chance from each judge's own shares of labels. Cohen (1960),
    doi:10.1177/001316446002000104.
    """
    check_resampling(resamples, level)
    labels = len(judgments.scale.labels)
    item = judgments.item
    sides = []
    for name in (first, second):
        code = int(look_up([name], judgments.judges)[0])
        if code < 0:
            raise BadSetting("judge", name, f"one of the {judgments.judge_count:,} judges")
        own = np.flatnonzero(judgments.judge == code)
        seen, at = np.unique(item[own], return_index=True)
        sides.append((seen, judgments.label[own[at]].astype(np.int64)))
    _, left, right = np.intersect1d(sides[0][0], sides[1][0], return_indices=True)
    if not len(left):
        return Score.undefined("cohen_kappa", "the two judges have no item in common")
    # The cell of each item in the table of one judge's label against the other's.
    cell, times = np.unique(sides[0][1][left] * labels + sides[1][1][right], return_counts=True)
    value = float(kappa_of_cells(cell, labels, times.astype(np.float64)[None, :])[0])
    if np.isnan(value):
        return Score.undefined("cohen_kappa", "both judges gave one label, the same, throughout")
    drawn = [
        kappa_of_cells(cell, labels, weight)
        for weight in pattern_weights(times.astype(np.int64), resamples, seed)
    ]
    return _with_interval("cohen_kappa", value, drawn, level)


def _with_interval(name: str, value: float, drawn: list[Any], level: float) -> Score:
    """The score with the interval of its resamples, if there are any."""
    low, high = percentile_interval(np.concatenate(drawn), level) if drawn else (None, None)
    return Score(name=name, value=value, low=low, high=high)


_Metric = Literal["nominal", "ordinal", "interval"]
_Repeats = Literal["count", "first"]
_FEW_LABELS = 64  # up to which items are grouped by their counts
_NO_PAIRS = "no item has two judgments"
_ONE_LABEL = "every judgment gives one label: they agree by chance as well"
_NO_GRADES = "the scale is nominal: its labels are no grades"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Patterns:
    """The label counts of items with two judgments or more, each pattern of counts once."""

    counts: Any  # sparse (pattern, label)
    times: NDArray[np.int64]  # (pattern,) items that have it
    total: Floats  # (pattern,) judgments of an item
    squares: Floats  # (pattern,) sum over labels of count²
    left_out: int  # items with fewer than two judgments

    @classmethod
    def of(cls, judgments: Judgments) -> _Patterns:
        """The patterns of judgments; the judgments, grouped by item, are a sparse matrix as is."""
        shape = (judgments.item_count, len(judgments.scale.labels))
        ones, label = np.ones(len(judgments)), judgments.label.astype(np.int32)
        # Summing works in place: the judgments keep their offsets, the matrix gets a copy.
        counts = csr_array((ones, label, judgments.offsets.copy()), shape=shape)
        counts.sum_duplicates()
        kept = judgments.counts_per_item >= 2
        counts = counts[np.flatnonzero(kept)]
        first, times = _distinct(counts)
        counts = counts[first]
        return cls(
            counts=counts,
            times=times,
            total=np.asarray(counts.sum(axis=1), dtype=np.float64),
            squares=np.asarray(counts.power(2).sum(axis=1), dtype=np.float64),
            left_out=int((~kept).sum()),
        )

    @property
    def weight(self) -> Floats:  # (1, pattern)
        """The items as they are, as one resample."""
        return self.times.astype(np.float64)[None, :]


def _distinct(counts: Any) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The first row of each distinct row of counts, and how many rows are like it.

    Rows are told apart label by label: each refines the groups that the labels before it made.
    """
    rows, labels = counts.shape
    if labels > _FEW_LABELS or not rows:
        return np.arange(rows), np.ones(rows, dtype=np.int64)
    columns = counts.tocsc()
    group = np.zeros(rows, dtype=np.int64)
    for label in range(labels):
        column = np.zeros(rows, dtype=np.int64)
        here = slice(columns.indptr[label], columns.indptr[label + 1])
        column[columns.indices[here]] = columns.data[here].astype(np.int64)
        group = group * (column.max() + 1) + column
        group = np.unique(group, return_inverse=True)[1]
    _, first, times = np.unique(group, return_index=True, return_counts=True)
    return first, times.astype(np.int64)


def _percent_agreement(patterns: _Patterns, weight: Floats | None = None) -> Value:
    """Of all pairs of judgments of one item, the share that agree."""
    drawn = patterns.weight if weight is None else weight  # (resample, pattern)
    alike = drawn @ (patterns.squares - patterns.total)
    return _plain(ratio(alike, drawn @ (patterns.total * (patterns.total - 1))), weight)


def _fleiss_kappa(patterns: _Patterns, weight: Floats | None = None) -> Value:
    """Fleiss' kappa, where items may differ in their number of judgments.

    Observed: the mean over items of the share of pairs that agree. By chance: the sum of squared
    shares of the labels among all judgments of these items. Fleiss (1971), doi:10.1037/h0031619;
    with equal numbers it is his.
    """
    drawn = patterns.weight if weight is None else weight
    pairs = patterns.total * (patterns.total - 1)
    observed = ratio(drawn @ ((patterns.squares - patterns.total) / pairs), drawn.sum(axis=1))
    used = np.asarray(drawn @ patterns.counts)  # (resample, label)
    share = np.asarray(ratio(used, used.sum(axis=1, keepdims=True)))
    chance = np.einsum("rl,rl->r", share, share)
    # One label only: an ulp of chance must not look like disagreement.
    certain = (used > 0).sum(axis=1) < 2
    kappa = ratio(np.asarray(observed) - chance, np.where(certain, 0.0, 1 - chance))
    return _plain(kappa, weight)


def _krippendorff_alpha(
    patterns: _Patterns,
    weight: Floats | None = None,
    *,
    metric: _Metric = "nominal",
    values: Floats | None = None,  # (label,)
) -> Value:
    """Krippendorff's alpha: 1 - observed by expected disagreement; items may lack judgments.

    Labels are as far apart as they differ (nominal), as the judgments between them (ordinal) or as
    the square of the difference of their ``values`` (interval; places where none are given). The
    ordinal distance is the interval distance of the labels' middle ranks, which change with every
    resample.
    """
    drawn = patterns.weight if weight is None else weight
    used = np.asarray(drawn @ patterns.counts)  # (resample, label)
    number = used.sum(axis=1)
    if metric == "nominal":
        apart = (patterns.total**2 - patterns.squares) / (patterns.total - 1)
        observed = drawn @ apart
        expected = number**2 - np.einsum("rl,rl->r", used, used)
    else:
        place = _places(used, metric, values)
        observed = _spread(patterns, drawn, place)
        mean = np.einsum("rl,rl->r", used, place)
        expected = 2 * (number * np.einsum("rl,rl->r", used, place**2) - mean**2)
    expected = np.where((used > 0).sum(axis=1) < 2, 0.0, expected)
    return _plain(1 - ratio((number - 1) * observed, expected), weight)


def _places(used: Floats, metric: _Metric, values: Floats | None) -> Floats:  # (resample, label)
    """Where each label stands on a line, so that distances are differences; about their middle."""
    if metric == "ordinal":
        total = np.maximum(used.sum(axis=1, keepdims=True), 1.0)
        return np.asarray((np.cumsum(used, axis=1) - used / 2) / total - 0.5)
    if metric != "interval":
        raise BadSetting("metric", metric, "nominal, ordinal or interval")
    line = np.arange(used.shape[1], dtype=np.float64) if values is None else values
    return np.broadcast_to(line - line.mean(), used.shape)


def _spread(patterns: _Patterns, drawn: Floats, place: Floats) -> Floats:  # (resample,)
    """The observed disagreement: squared distances between judgments of one item.

    Over all ordered pairs of an item they come to 2 (m sum n v² - (sum n v)²).
    """
    counts = patterns.counts
    mean = counts @ place.T  # (pattern, resample)
    square = counts @ (place**2).T
    apart = 2 * (patterns.total[:, None] * square - mean**2) / (patterns.total[:, None] - 1)
    return np.asarray(np.einsum("rp,pr->r", drawn, apart))


def _plain(values: Value, weight: Floats | None) -> Value:
    return np.float64(np.asarray(values)[0]) if weight is None else values


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Agreement:
    """How far judges agree, by every measure, and on what it rests."""

    scores: Mapping[str, Score]
    items: int  # with two judgments or more
    left_out: int  # items with fewer
    judgments: int  # of the items that count
    pairs: int  # of judgments of one item
    repeats: int  # judgments of a judge who had judged the item before
    judge_pairs: int  # behind Cohen's kappa
    judge_pairs_left_out: int  # with too few items in common, or one label only
    level: float
    resamples: int
    seed: int

    def __getitem__(self, name: str) -> Score:
        if name not in self.scores:
            raise UnknownName("score", name, self.scores)
        return self.scores[name]

    def to_table(self) -> Any:
        """One row a measure: score, value, low, high, reason."""
        return score_table(self.scores.values())


@takes_tables
def measure_agreement(
    judgments: JudgmentsLike,
    *,
    repeats: _Repeats = "count",
    least_common: int = LEAST_COMMON,
    resamples: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """Every measure of agreement, with bootstrap intervals over items if ``resamples`` are asked.

    A repeated judgment counts as one more judgment of the item, or, with ``repeats="first"``, not
    at all. Cohen's kappa always takes a judge's first judgment of an item.
    """
    check_resampling(resamples, level)
    if repeats not in ("count", "first"):
        raise BadSetting("repeats", repeats, "count or first")
    if least_common < 1:
        raise BadSetting("least_common", least_common, "at least 1 item in common")
    single = without_repeats(judgments)
    patterns = _Patterns.of(judgments if repeats == "count" else single)
    cohen = mean_cohen_kappa(
        single, least_common=least_common, resamples=resamples, level=level, seed=seed
    )
    found = {
        name: _measured(name, patterns, judgments, resamples, level, seed) for name in _MEASURES
    }
    found["cohen_kappa"] = cohen.score
    total = patterns.total * patterns.times
    return Agreement(
        scores=found,
        items=int(patterns.times.sum()),
        left_out=patterns.left_out,
        judgments=int(total.sum()),
        pairs=int((total * (patterns.total - 1)).sum()) // 2,
        repeats=len(judgments) - len(single),
        judge_pairs=cohen.pairs,
        judge_pairs_left_out=cohen.left_out,
        level=level,
        resamples=resamples,
        seed=seed,
    )


_MEASURES: dict[str, tuple[Callable[..., Value], _Metric | None]] = {
    "percent_agreement": (_percent_agreement, None),
    "fleiss_kappa": (_fleiss_kappa, None),
    "alpha_nominal": (_krippendorff_alpha, "nominal"),
    "alpha_ordinal": (_krippendorff_alpha, "ordinal"),
    "alpha_interval": (_krippendorff_alpha, "interval"),
}


def _measured(
    name: str, patterns: _Patterns, judgments: Judgments, resamples: int, level: float, seed: int
) -> Score:
    """One measure with its interval, or the reason why it has no value."""
    measure, metric = _MEASURES[name]
    settings: dict[str, Any] = {}
    if metric is not None:
        if metric != "nominal" and not judgments.scale.ordinal:
            return Score.undefined(name, _NO_GRADES)
        settings = {"metric": metric, "values": judgments.scale.values}
    if not len(patterns.times):
        return Score.undefined(name, _NO_PAIRS)
    value = float(measure(patterns, **settings))
    if np.isnan(value):
        return Score.undefined(name, _ONE_LABEL)
    drawn = [
        measure(patterns, weight, **settings)
        for weight in pattern_weights(patterns.times, resamples, seed)
    ]
    return _with_interval(name, value, drawn, level)
