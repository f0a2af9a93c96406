"""Agreement of judges: percent, Cohen, Fleiss and Krippendorff, with missing judgments.

All but Cohen's kappa need only how often each item got each label. Items with the same counts are
one *pattern*: a million judgments make some hundreds of patterns, and both the measures and the
bootstrap over items run on those. Cohen's kappa is of two judges, or the mean over pairs of judges.
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
from adjudge.data.results import Result
from adjudge.data.source import count_of
from adjudge.errors import BadSetting, UnknownName
from adjudge.evaluation._resampling import (
    centred_interval,
    check_resampling,
    item_weights,
    pattern_weights,
    percentile_interval,
)
from adjudge.evaluation.measures import Floats, ratio
from adjudge.evaluation.scores import Score, score_table

_LEAST_COMMON = 5  # items that two judges must share; on one item kappa is 0 or undefined
_MOST_PAIRS = 20_000_000  # of judgments that are compared: about 1 GB
_BLOCK = 4_000_000  # numbers of one block of resamples
_Metric = Literal["nominal", "ordinal", "interval"]
_Repeats = Literal["count", "first"]


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
        """Find the patterns of judgments; the judgments, grouped by item, are a sparse matrix."""
        shape = (judgments.item_count, len(judgments.scale.labels))
        ones, label = np.ones(len(judgments), dtype=np.int64), judgments.label.astype(np.int32)
        # Summing works in place: the judgments keep their offsets, the matrix gets a copy.
        counts = csr_array((ones, label, judgments.offsets.copy()), shape=shape)
        counts.sum_duplicates()
        kept = judgments.counts_per_item >= 2
        counts = counts[np.flatnonzero(kept)]
        # Random sums of counts tell patterns apart: 10^6 of them collide with probability 10^-7.
        hashed = counts @ np.random.default_rng(0).integers(2**63, size=shape[1], dtype=np.int64)
        _, first, times = np.unique(hashed, return_index=True, return_counts=True)
        counts = counts[first].astype(np.float64)
        return cls(
            counts=counts,
            times=times.astype(np.int64),
            total=np.asarray(counts.sum(axis=1)),
            squares=np.asarray(counts.power(2).sum(axis=1)),
            left_out=int((~kept).sum()),
        )


def _percent_agreement(patterns: _Patterns, weight: Floats) -> Floats:
    """Measure the share of all pairs of judgments of one item that agree."""
    alike = weight @ (patterns.squares - patterns.total)
    return np.asarray(ratio(alike, weight @ (patterns.total * (patterns.total - 1))))


def _fleiss_kappa(patterns: _Patterns, weight: Floats) -> Floats:  # (resample, pattern)
    """Fleiss' kappa, where items may differ in their number of judgments.

    Observed: the mean over items of the share of pairs that agree. By chance: the sum of squared
    shares of the labels among all judgments of these items. Fleiss (1971), doi:10.1037/h0031619;
    with equal numbers it is his.
    """
    pairs = patterns.total * (patterns.total - 1)
    observed = ratio(weight @ ((patterns.squares - patterns.total) / pairs), weight.sum(axis=1))
    used = np.asarray(weight @ patterns.counts)  # (resample, label)
    share = np.asarray(ratio(used, used.sum(axis=1, keepdims=True)))
    chance = np.einsum("rl,rl->r", share, share)
    # One label only: an ulp of chance must not look like disagreement.
    certain = (used > 0).sum(axis=1) < 2
    kappa = ratio(np.asarray(observed) - chance, np.where(certain, 0.0, 1 - chance))
    return np.asarray(kappa)


def _krippendorff_alpha(
    patterns: _Patterns,
    weight: Floats,
    *,
    metric: _Metric = "nominal",
    values: Floats | None = None,  # (label,)
) -> Floats:
    """Krippendorff's alpha: 1 - observed by expected disagreement; items may lack judgments.

    Labels are as far apart as they differ (nominal), as the judgments between them (ordinal) or as
    the square of the difference of their ``values`` (interval; places where none are given). The
    ordinal distance is the interval distance of the labels' middle ranks, which change with every
    resample.
    """
    used = np.asarray(weight @ patterns.counts)  # (resample, label)
    number = used.sum(axis=1)
    if metric == "nominal":
        apart = (patterns.total**2 - patterns.squares) / (patterns.total - 1)
        observed = weight @ apart
        expected = number**2 - np.einsum("rl,rl->r", used, used)
    else:
        place = _places(used, metric, values)
        observed = _spread(patterns, weight, place)
        mean = np.einsum("rl,rl->r", used, place)
        expected = 2 * (number * np.einsum("rl,rl->r", used, place**2) - mean**2)
    expected = np.where((used > 0).sum(axis=1) < 2, 0.0, expected)
    return np.asarray(1 - ratio((number - 1) * observed, expected))


def _places(used: Floats, metric: _Metric, values: Floats | None) -> Floats:  # (resample, label)
    """The place of each label on a line, so that distances are differences; about their middle."""
    if metric == "ordinal":
        total = np.maximum(used.sum(axis=1, keepdims=True), 1.0)
        return np.asarray((np.cumsum(used, axis=1) - used / 2) / total - 0.5)
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


def without_repeats(judgments: Judgments) -> Judgments:
    """Return the judgments with only the first of each judge on each item; items stay."""
    key = judgments.item.astype(np.int64) * judgments.judge_count + judgments.judge
    first = np.unique(key, return_index=True)[1]
    if len(first) == len(judgments):
        return judgments
    kept = np.zeros(len(judgments), dtype=np.bool_)
    kept[first] = True
    return judgments.select(judgments=kept, keep_empty=True)


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
    """Measure Cohen's kappa of two judges on the items both judged; of repeats the first counts.

    (observed - chance) / (1 - chance), chance from each judge's own shares of labels. Cohen (1960),
    doi:10.1177/001316446002000104.
    """
    check_resampling(resamples, level)
    codes = look_up([first, second], judgments.judges)
    for name, code in zip((first, second), codes.tolist(), strict=True):
        if code < 0:
            raise BadSetting("judge", name, f"one of the {judgments.judge_count:,} judges")
    both = judgments.select(judgments=np.isin(judgments.judge, codes), keep_empty=True)
    found = mean_cohen_kappa(both, least_common=1, resamples=resamples, level=level, seed=seed)
    if found.score.defined:
        return found.score
    reason = "both judges gave one label, the same, throughout"
    if not found.left_out:
        reason = "the two judges have no item in common"
    return Score.undefined("cohen_kappa", reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairsOfJudges:
    """The mean of Cohen's kappa over pairs of judges, and how many pairs that is."""

    score: Score
    pairs: int
    left_out: int  # pairs of judges with too few items in common, or one label only


def mean_cohen_kappa(
    judgments: Judgments,
    *,
    least_common: int = _LEAST_COMMON,
    resamples: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> _PairsOfJudges:
    """Average Cohen's kappa over pairs of judges, weighted by the items they have in common.

    Only pairs with ``least_common`` items or more count. A pair that gave one label, the same,
    throughout has no kappa and is left out. Kappa on few items is biased, more so on a resample
    of them, so the interval is centred on the value.
    """

    def undefined(reason: str, left_out: int) -> _PairsOfJudges:
        score = Score.undefined("cohen_kappa", reason)
        return _PairsOfJudges(score=score, pairs=0, left_out=left_out)

    size = judgments.counts_per_item
    many = int((size * (size - 1) // 2).sum())
    if many > _MOST_PAIRS:
        reason = f"{many:,} pairs of judgments are more than the {_MOST_PAIRS:,} that are compared"
        return undefined(reason, 0)
    tables, items, few = _pair_tables(without_repeats(judgments), least_common)
    if tables is None:
        return undefined(f"no two judges have {least_common:,} items in common", few)
    kappa, common = _kappas(tables, np.ones((items, 1)))
    defined = int((~np.isnan(kappa)).sum())
    left_out = few + len(kappa) - defined
    if not defined:
        reason = "no two judges used more than one label on the items they have in common"
        return undefined(reason, left_out)
    value = float(_mean(kappa, common)[0])
    block = max(1, _BLOCK // tables[0].shape[0])
    drawn = [
        _mean(*_kappas(tables, np.ascontiguousarray(part.T)))
        for weight in item_weights(items, resamples, seed)
        for part in np.array_split(weight, range(block, len(weight), block))
    ]
    low, high = None, None
    if drawn:
        low, high = centred_interval(value, np.concatenate(drawn), level, least=-1.0)
    score = Score(name="cohen_kappa", value=value, low=low, high=high)
    return _PairsOfJudges(score=score, pairs=defined, left_out=left_out)


_Tables = tuple[Any, Any, Any]  # sparse: (pair x label, item) of each judge, (pair, item) alike


def _pair_tables(judgments: Judgments, least_common: int) -> tuple[_Tables | None, int, int]:
    """Return what kappa needs of each pair of judges, the items behind it, and pairs left out."""
    left, right = pairs_of_judgments(judgments.counts_per_item, judgments.offsets)
    judge = judgments.judge.astype(np.int64)
    swap = judge[left] > judge[right]
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    key = judge[left] * judgments.judge_count + judge[right]
    _, pair, common = np.unique(key, return_inverse=True, return_counts=True)
    enough = common >= least_common
    few, pairs = int((~enough).sum()), int(enough.sum())
    if not pairs:
        return None, 0, few
    kept = enough[pair]
    pair = (np.cumsum(enough) - 1)[pair[kept]]
    left, right = left[kept], right[kept]
    seen, item = np.unique(judgments.item[left], return_inverse=True)
    labels, items = len(judgments.scale.labels), len(seen)
    a, b = judgments.label[left].astype(np.int64), judgments.label[right].astype(np.int64)

    def sums(row: NDArray[np.int64], of: NDArray[np.int64], rows: int) -> Any:
        return csr_array((np.ones(len(row)), (row, of)), shape=(rows, items))

    first, second = (sums(pair * labels + side, item, pairs * labels) for side in (a, b))
    return (first, second, sums(pair[a == b], item[a == b], pairs)), items, few


def _kappas(tables: _Tables, weight: Floats) -> tuple[Floats, Floats]:  # (item, resample)
    """Return kappa and items in common, of each pair of judges: (pair, resample) each."""
    pairs = tables[2].shape[0]
    first, second = (
        np.asarray(side @ weight).reshape(pairs, -1, weight.shape[1]) for side in tables[:2]
    )
    common = first.sum(axis=1)
    chance = np.einsum("plr,plr->pr", first, second)
    alike = np.asarray(tables[2] @ weight)
    return np.asarray(ratio(common * alike - chance, common * common - chance)), common


def _mean(kappa: Floats, common: Floats) -> Floats:  # (resample,)
    known = ~np.isnan(kappa)
    total = np.where(known, kappa, 0.0) * common
    return np.asarray(ratio(total.sum(axis=0), (common * known).sum(axis=0)))


def pairs_of_judgments(
    size: NDArray[np.int64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (item,), (item + 1,) -> (pair,), (pair,)
    """Every two judgments of one item, as their places: earlier and later."""
    last = np.repeat(offsets[1:], size)  # (judgment,)
    here = np.arange(len(last), dtype=np.int64)
    after = last - here - 1  # judgments of the item that follow
    left = np.repeat(here, after)
    begin = np.repeat(np.cumsum(after) - after, after)
    return left, left + 1 + np.arange(len(left)) - begin


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Agreement(Result):
    """Every measure of agreement, and the numbers of judgments it rests on."""

    scores: Mapping[str, Score]
    items: int  # with two judgments or more
    left_out: int  # items with fewer
    judgments: int  # of the items that count
    pairs: int  # of judgments of one item
    repeats: int  # judgments of a judge who had judged the item before
    judge_pairs: int  # behind Cohen's kappa
    level: float

    @property
    def facts(self) -> str:
        """What the measures rest on."""
        return f"{count_of(self.judgments, 'judgment')} of {count_of(self.items, 'item')}"

    def __getitem__(self, name: str) -> Score:
        if name not in self.scores:
            raise UnknownName("score", name, self.scores)
        return self.scores[name]

    def to_table(self) -> Any:
        """One row per measure: score, value, low, high, reason."""
        return score_table(self.scores.values())


@takes_tables
def measure_agreement(
    judgments: JudgmentsLike,
    *,
    repeats: _Repeats = "count",
    least_common: int = _LEAST_COMMON,
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
        name: _measure_one(name, patterns, judgments, resamples, level, seed) for name in _MEASURES
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
        level=level,
    )


_MEASURES: dict[str, tuple[Callable[..., Floats], _Metric | None]] = {
    "percent_agreement": (_percent_agreement, None),
    "fleiss_kappa": (_fleiss_kappa, None),
    "alpha_nominal": (_krippendorff_alpha, "nominal"),
    "alpha_ordinal": (_krippendorff_alpha, "ordinal"),
    "alpha_interval": (_krippendorff_alpha, "interval"),
}


def _measure_one(
    name: str, patterns: _Patterns, judgments: Judgments, resamples: int, level: float, seed: int
) -> Score:
    """One measure with its interval, or the reason why it has no value."""
    measure, metric = _MEASURES[name]
    settings: dict[str, Any] = {}
    if metric is not None:
        if metric != "nominal" and not judgments.scale.ordinal:
            return Score.undefined(name, "the scale is nominal: its labels are no grades")
        settings = {"metric": metric, "values": judgments.scale.values}
    if not len(patterns.times):
        return Score.undefined(name, "no item has two judgments")
    items = patterns.times.astype(np.float64)[None, :]  # as they are, as one resample
    value = float(measure(patterns, items, **settings)[0])
    if np.isnan(value):
        return Score.undefined(name, "every judgment gives one label: they agree by chance as well")
    drawn = [
        measure(patterns, weight, **settings)
        for weight in pattern_weights(patterns.times, resamples, seed)
    ]
    low, high = percentile_interval(np.concatenate(drawn), level) if drawn else (None, None)
    return Score(name=name, value=value, low=low, high=high)
