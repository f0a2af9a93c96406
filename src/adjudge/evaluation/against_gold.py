"""A consensus against gold: every score, how many items it rests on, and what is undefined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, takes_tables
from adjudge.data.names import Names, look_up
from adjudge.data.results import Result
from adjudge.data.scale import Scale
from adjudge.data.source import count_of
from adjudge.errors import BadSetting, UnknownName
from adjudge.evaluation import measures as scores
from adjudge.evaluation._labelled import Labelled, read_labels
from adjudge.evaluation._resampling import (
    centred_interval,
    check_resampling,
    item_weights,
    percentile_interval,
)
from adjudge.evaluation.measures import (
    MEASURES,
    Codes,
    Flags,
    Floats,
    Measure,
    ScoredItems,
    bin_of,
    ratio,
)
from adjudge.evaluation.scores import Score, reals, score_table, tabulate, wilson


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CalibrationBins:
    """How often items of a given confidence are right, bin by bin: the points of a plot.

    A bin has confidences above its lower and up to its upper edge; the first includes 0.
    """

    edges: Floats  # (bin + 1,)
    count: NDArray[np.int64]  # (bin,)
    confidence: Floats  # (bin,) mean, NaN where the bin is empty
    share: Floats  # (bin,) of items that are right, NaN where the bin is empty
    share_low: Floats  # (bin,) Wilson's interval of the share, at 95%; NaN where it is empty
    share_high: Floats
    error: float  # expected calibration error, NaN where there are no items
    corrected: float  # the same without its bias; by chance it may be below 0

    @property
    def shown(self) -> float:
        """The corrected error as shown to people: at least 0."""
        return 0.0 if self.corrected < 0 else self.corrected

    def to_table(self) -> Any:
        """Return one row per bin: low, high, items, confidence, share and its interval."""
        return pa.table(
            {
                "low": self.edges[:-1],
                "high": self.edges[1:],
                "items": self.count,
                "confidence": reals(self.confidence),
                "share": reals(self.share),
                "share_low": reals(self.share_low),
                "share_high": reals(self.share_high),
            }
        )


def _calibration(confidence: Floats, right: Flags, bins: int = 10) -> CalibrationBins:
    """Compare confidence with the share of items that are right, in bins of equal width."""
    place = bin_of(confidence, bins)
    count = np.bincount(place, minlength=bins)

    def mean(values: NDArray[Any]) -> Floats:  # (bin,)
        total = np.bincount(place, values.astype(np.float64), bins)
        return np.asarray(ratio(total.astype(np.float64), count.astype(np.float64)))

    share = mean(right)
    bounds = np.array(
        [wilson(part * items, items) for part, items in zip(share, count, strict=True)]
    )
    bounds[count == 0] = np.nan
    return CalibrationBins(
        edges=np.linspace(0.0, 1.0, bins + 1),
        count=count,
        confidence=mean(confidence),
        share=share,
        share_low=bounds[:, 0],
        share_high=bounds[:, 1],
        error=float(scores.calibration_error(confidence, right, bins=bins)),
        corrected=float(scores.corrected_calibration_error(confidence, right, bins=bins)),
    )


# --- confusion ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ConfusionMatrix:
    """Gold truth against response: how many items, or parts of items, of one got the other."""

    truths: tuple[str, ...]
    counts: Floats  # (truth, response)

    @property
    def precision(self) -> Floats:  # (response,)
        """The share of each truth's responses that is right; NaN without responses."""
        return np.asarray(ratio(np.diagonal(self.counts), self.counts.sum(axis=0)))

    @property
    def recall(self) -> Floats:  # (truth,)
        """The share of each truth's items that got it; NaN without items."""
        return np.asarray(ratio(np.diagonal(self.counts), self.counts.sum(axis=1)))

    def to_table(self) -> Any:
        """Return one row per truth: gold, and a column for each response."""
        columns: dict[str, Any] = {"gold": pa.array(self.truths, pa.large_string())}
        for code, truth in enumerate(self.truths):
            columns[f"label_{truth}"] = pa.array(np.ascontiguousarray(self.counts[:, code]))
        return pa.table(columns)


def _confusion(truth: Codes, shares: Floats, truths: Sequence[str]) -> _ConfusionMatrix:
    """Return the confusion matrix, each item divided among the responses."""
    size = len(truths)
    counts = [np.bincount(truth, column, size) for column in shares.T]
    return _ConfusionMatrix(truths=tuple(truths), counts=np.stack(counts, axis=1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation(Result):
    """The scores of labels against gold.

    Scores are over the ``scored`` items: gold items that have a label. The items are kept, in order
    of their names, so that two methods can be compared item by item.
    """

    scale: Scale
    scores: Mapping[str, Score]
    gold: int  # gold items
    scored: int  # of these, how many have a label
    unjudged: int | None  # scored without any judgment; None where it is not known
    in_fit: int | None  # scored, although the model was given their gold
    fallback: int | None  # scored, but no judge was left by the filter
    confusion: _ConfusionMatrix
    fractional_confusion: _ConfusionMatrix | None  # None without probabilities
    calibration: CalibrationBins | None  # of the probability of the label
    relevance_calibration: CalibrationBins | None  # of the probability of relevance
    clip: float  # of the log loss
    clipped: int | None  # items whose truth was given less than that
    level: float  # of the intervals
    items: Names  # (scored,)
    truth: NDArray[np.int16]  # (scored,)
    choice: NDArray[np.int16]  # (scored,)
    posterior: NDArray[np.float64] | None  # (scored, truth)
    uneven: bool = False  # whether gold was drawn with inclusion probabilities that differ

    @property
    def facts(self) -> str:
        """How many items were scored."""
        return f"{count_of(self.scored, 'gold item')} scored"

    def __getitem__(self, name: str) -> Score:
        if name not in self.scores:
            raise UnknownName("score", name, self.scores)
        return self.scores[name]

    @property
    def unlabelled(self) -> int:
        """How many gold items have no label."""
        return self.gold - self.scored

    @property
    def coverage(self) -> float:
        """The share of gold items that have a label; NaN without gold."""
        return self.scored / self.gold if self.gold else float("nan")

    @property
    def correct(self) -> NDArray[np.bool_]:  # (scored,)
        """Which of the scored items have their truth as label."""
        return np.asarray(self.truth == self.choice)

    @property
    def undefined(self) -> dict[str, str]:
        """The scores that have no value, and why."""
        return {name: score.reason or "" for name, score in self.scores.items() if score.reason}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons why the scores may not be those of labels for other items."""
        found = [self._coverage] if self.scored < self.gold else []
        if self.in_fit:
            found.append(f"the model was given the gold of {self.in_fit:,} of the scored items")
        if self.unjudged:
            found.append(f"nobody judged {self.unjudged:,} of the scored items")
        if self.uneven:
            found.append(
                "gold was drawn with unequal probabilities and each item counts once here; the "
                "estimate of the target agreement is the accuracy over all items"
            )
        return tuple(found)

    @property
    def _coverage(self) -> str:
        return (
            f"{self.scored:,} of {count_of(self.gold, 'gold item')} "
            f"{'has a label and is' if self.scored == 1 else 'have a label and are'} scored"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the scores should know about the items under them."""
        found = [*dict.fromkeys((self._coverage, *self.warnings))]
        if self.fallback:
            few = count_of(self.fallback, "scored item")
            found.append(f"no judge was left for {few}: the plain vote counts")
        if self.clipped:
            few = count_of(self.clipped, "scored item")
            found.append(
                f"the gold of {few} has a probability below {self.clip:g}, which the log loss "
                "uses instead"
            )
        return tuple(found)

    def to_table(self) -> Any:
        """Return one row per score: score, value, low, high, reason."""
        return score_table(self.scores.values())


@takes_tables
def evaluate(
    labels: Consensus | Any,
    gold: GoldLike,
    scale: Scale | None = None,
    *,
    resamples: int = 0,
    level: float = 0.95,
    seed: int = 0,
    clip: float = scores.CLIP,
    bins: int = 10,
    source: str = "labels",
) -> Evaluation:
    """Score a consensus, or a table of one, against gold.

    A table has ``item`` and ``label``, and ``p_<label>`` columns if probabilities are known; pandas
    and Polars tables are accepted. Shares of items have a Wilson interval; with ``resamples`` the
    other scores have a bootstrap interval over items. Nothing depends on the order of rows.
    """
    given = read_labels(labels, scale, gold, source=source)
    check_resampling(resamples, level)
    if not 0 < clip < 0.5:
        raise BadSetting("clip", clip, "a number above 0 and below 0.5, such as 1e-6")
    if bins < 1:
        raise BadSetting("bins", bins, "at least one bin")
    kept, where = _align_labels(given, gold)
    posterior = None if given.posterior is None else given.posterior[where]
    truth, choice = gold.codes(given.scale)[kept], given.choice[where]
    sample = ScoredItems(given.scale, truth, choice, posterior, clip, bins)

    def count(flags: NDArray[np.bool_] | None) -> int | None:
        return None if flags is None else int(flags[where].sum())

    return Evaluation(
        scale=given.scale,
        scores=_scores(sample, resamples, level, seed),
        gold=len(gold),
        scored=len(sample),
        unjudged=count(None if given.judged is None else ~given.judged),
        in_fit=count(given.in_fit),
        fallback=count(given.fallback),
        level=level,
        items=gold.items.take(pa.array(kept)),
        truth=truth,
        choice=choice,
        posterior=posterior,
        clip=clip,
        uneven=gold.sampling is not None and len(np.unique(gold.sampling[kept])) > 1,
        **_pictures(sample),
    )


def _align_labels(
    labels: Labelled, gold: Gold
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:  # (scored,), (scored,)
    """Return the gold items with a label, in order of their names, and the rows of their labels.

    The order makes resamples independent of the order of rows.
    """
    place = look_up(gold.items, labels.items)
    order = np.asarray(pc.sort_indices(gold.items), dtype=np.int64)
    kept = order[np.append(labels.choice, -1)[place[order]] >= 0]
    return kept, place[kept]


def _pictures(sample: ScoredItems) -> dict[str, Any]:
    """Return confusion matrices and calibration."""
    truth, choice, truths = sample.truth, sample.choice, sample.scale.truths
    bins = sample.bins
    found: dict[str, Any] = dict.fromkeys(
        ("fractional_confusion", "calibration", "relevance_calibration", "clipped")
    )
    found["confusion"] = _confusion(truth, np.eye(len(truths))[choice], truths)
    if sample.posterior is not None:
        found["fractional_confusion"] = _confusion(truth, sample.posterior, truths)
        found["calibration"] = _calibration(sample.confidence, truth == choice, bins)
        given = sample.posterior[np.arange(len(truth)), truth]
        found["clipped"] = int((given < sample.clip).sum())
        if sample.scale.truth_relevant is not None:
            found["relevance_calibration"] = _calibration(
                sample.chance, sample.relevant, sample.bins
            )
    return found


def _scores(sample: ScoredItems, resamples: int, level: float, seed: int) -> dict[str, Score]:
    """Return every score with its interval, or the reason why it has no value."""
    found: dict[str, Score] = {}
    drawn: dict[Measure, list[Any]] = {}
    for measure in MEASURES:
        reason = measure.lacks(sample)
        value = float("nan") if reason is not None else float(measure.of(sample, None))
        if np.isnan(value):
            found[measure.name] = Score.undefined(measure.name, reason or measure.empty)
        elif measure.share:
            low, high = wilson(value * len(sample), len(sample), level)
            found[measure.name] = Score(name=measure.name, value=value, low=low, high=high)
        else:
            found[measure.name] = Score(name=measure.name, value=value)
            drawn[measure] = []
    if not resamples:
        return found
    ranked = sample.by_chance()
    for weight in item_weights(len(sample), resamples if drawn else 0, seed):
        for measure, values in drawn.items():
            values.append(measure.of(ranked, weight))
    for measure, values in drawn.items():
        score = found[measure.name]
        bounds = (
            centred_interval(
                score.value, np.concatenate(values), level, least=min(score.value, 0.0)
            )
            if measure.biased
            else percentile_interval(np.concatenate(values), level)
        )
        found[measure.name] = replace(score, low=bounds[0], high=bounds[1])
    return found


_SMOOTHING = 0.5  # judgments added to each truth: Krichevsky and Trofimov (1981)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteComparison:
    """The log loss of a model and of the smoothed vote share, on the same items."""

    items: int
    model: float
    vote: float

    @property
    def worse(self) -> bool:
        """Whether the vote's probabilities are better."""
        return self.model > self.vote

    @property
    def warning(self) -> str | None:
        """A sentence if the model's probabilities are worse; else None."""
        if not self.worse:
            return None
        items = count_of(self.items, "gold item")
        return (
            f"Its probabilities are worse than the plain vote's: log loss {self.model:.3f} on "
            f"{items}, where the vote share (half a judgment added to each label) has "
            f"{self.vote:.3f}."
        )


def _smoothed_vote_share(judgments: Judgments) -> NDArray[np.float64]:  # (item, truth)
    """Return the share of each truth among an item's judgments, half a judgment added to each.

    A label that means no truth is not counted.
    """
    scale = judgments.scale
    truth = np.array(scale.truth_of)[judgments.label]
    known, shape = truth >= 0, (judgments.item_count, len(scale.truths))
    counts = tabulate(shape, judgments.item[known], truth[known]) + _SMOOTHING
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


@takes_tables
def compare_with_vote(found: Evaluation, judgments: JudgmentsLike) -> VoteComparison | None:
    """Compare a model's log loss with the vote's; None where there is no fair comparison.

    That is without probabilities, without scored items, or if the model was given gold.
    """
    if found.posterior is None or not found.scored or found.in_fit:
        return None
    if found.scale.truths != judgments.scale.truths:
        return None
    place = look_up(found.items, judgments.items)
    even = np.full((1, len(found.scale.truths)), 1 / len(found.scale.truths))
    shares = np.concatenate([_smoothed_vote_share(judgments), even])[place]  # -1: not judged
    return VoteComparison(
        items=found.scored,
        model=float(scores.log_loss(found.truth, found.posterior, clip=found.clip)),
        vote=float(scores.log_loss(found.truth, shares, clip=found.clip)),
    )


_ENOUGH = 50  # gold labels from which no more are suggested, and how many are suggested below
_FEWEST = 10  # gold labels below which there is no estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreGold:
    """The expected interval of accuracy with more gold labels.

    It is Wilson's, as ``evaluate`` reports it, if labels are right as often as their probabilities
    say. Margins are half of its width.
    """

    have: int  # gold labels on judged items
    labels: int  # more of them
    accuracy: float  # expected: the mean probability of the labels without gold
    margin_now: float | None  # None without gold
    margin: float  # with all of them
    level: float

    @classmethod
    def of(
        cls, consensus: Consensus, gold: Gold | None = None, *, level: float = 0.95
    ) -> MoreGold | None:
        """Return what 50 more gold labels would show; None with 50, or with few items left.

        ``gold`` is all known gold, whether the fit used it or not.
        """
        judged = consensus.judgments.counts_per_item > 0
        known = np.zeros(len(judged), dtype=np.bool_)
        if gold is not None:
            known = judged & (gold.align(consensus.judgments) >= 0)
        have, left = int(known.sum()), judged & ~known
        labels = min(_ENOUGH, int(left.sum()))
        if have >= _ENOUGH or labels < _FEWEST:
            return None
        accuracy = float(consensus.probability[left].mean())

        def margin(count: int) -> float:
            low, high = wilson(accuracy * count, count, level)
            return (high - low) / 2

        return cls(
            have=have,
            labels=labels,
            accuracy=accuracy,
            margin_now=margin(have) if have else None,
            margin=margin(have + labels),
            level=level,
        )
