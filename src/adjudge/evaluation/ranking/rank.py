"""Rankings of search systems by noisy judgments, with intervals for the judges' noise.

The value of a measure is what the labels of the consensus give, as trec_eval computes it. Its
interval comes from draws of the true labels: each draw is a set of qrels and gives every system a
value. A draw does not know that systems rank relevant documents high, so drawn values are too low
on average. Therefore intervals are those of the draws centered on the value, as far from it as they
were on average. The probability that a system is better is its share of the draws, evened out where
that contradicts the order of the values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.results import Result
from adjudge.data.runs import Run, distinct_names
from adjudge.data.source import count_of
from adjudge.errors import BadSetting
from adjudge.evaluation._pool import Pool, Unjudged, build_pool, check_unjudged, judged_at
from adjudge.evaluation._retrieval import (
    RetrievalMeasure,
    SlowMeasures,
    assign_grades,
    parse_measures,
)
from adjudge.evaluation.ranking._draws import (
    Doubt,
    Influence,
    TruthDraws,
    choose_labels,
    has_one_source,
    is_judged,
    next_table,
    no_items,
)
from adjudge.models.model import Progress, Step

_Over = Literal["judgments", "topics"]
MEASURED = ("nDCG@10", "AP")  # by default
_SLOW_DRAWS = 100  # of a measure that goes through ir-measures, draw by draw
_BLOCK = 1 << 22  # truths held at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking(Result):
    """The value of each measure for each system, and the values under draws of the true labels.

    ``by_label`` has the values under the labels, ``values`` those under each draw. ``covers``
    lists what the draws vary: "judgments", "topics", "unjudged". It is empty where each document
    has one judgment and nothing else varies: then there is one draw and no interval.
    ``next_items`` is a table by the first measure that a kernel computes.
    """

    names: tuple[str, ...]  # (system,)
    values: Mapping[str, NDArray[np.float64]]  # measure: (draw, system)
    by_label: Mapping[str, NDArray[np.float64]]  # measure: (system,)
    judged: Mapping[str, NDArray[np.float64]]  # measure: (system,) judged@k, k its cutoff
    next_items: Any  # Arrow table
    topics: int
    level: float
    unjudged: Unjudged
    over: _Over
    covers: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()  # those of the notes that are reasons to trust it less

    @property
    def facts(self) -> str:
        """How many systems were ranked, and by what."""
        return f"{count_of(len(self.names), 'system')} by {', '.join(self.values)}"

    def to_table(self) -> Any:
        """Return ``systems``."""
        return self.systems

    def __repr__(self) -> str:
        return f"Ranking({len(self.names)} systems by {', '.join(self.values)})"

    @property
    def systems(self) -> Any:
        """One row per measure and system, best first: value, interval, probability to be best.

        ``judged`` is judged@k: the share of the ranks that the measure looks at that is judged.
        Interval and probability are null where ``covers`` is empty.
        """
        rows = []
        for measure, values in self.values.items():
            value = self.by_label[measure]
            order = np.argsort(-value, kind="stable")
            around = _center(values, value)
            low, high = np.quantile(around, self._tails, axis=0)
            if values.min() >= 0 and values.max() <= 1:
                low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
            best = np.empty_like(value)
            best[order] = _sort_shares(_best(values)[order])
            spread = (low, high, around.std(axis=0), best)
            for s in order:
                names, real = (measure, self.names[s]), [part[s] for part in spread]
                row = (*names, value[s], *self._known(real), self.judged[measure][s])
                rows.append(dict(zip(_SYSTEM, row, strict=True)))
        return pa.Table.from_pylist(rows, schema=_schema(_SYSTEM, texts=2))

    @property
    def pairs(self) -> Any:
        """One row per measure and pair: difference, interval, probability that the first is better.

        The first of a pair is the one with the higher value; ``p_tied`` is the probability that
        both are equal. Interval and probabilities are null where ``covers`` is empty.
        """
        rows = []
        for measure, value in self.by_label.items():
            for a, b in combinations(np.argsort(-value, kind="stable").tolist(), 2):
                gap, point = self._gap(measure, a, b)
                low, high = np.quantile(_center(gap, point), self._tails)
                better, worse = _split(gap, point)
                real = (low, high, better, (gap == 0).mean(), worse)
                row = (measure, self.names[a], self.names[b], point, *self._known(real))
                rows.append(dict(zip(_PAIR, row, strict=True)))
        return pa.Table.from_pylist(rows, schema=_schema(_PAIR, texts=3))

    def better(self, measure: str, first: str, second: str) -> float:
        """The probability that the first system is better; ties count half; NaN if unknown."""
        if not self.covers:
            return float("nan")
        gap, point = self._gap(measure, self.names.index(first), self.names.index(second))
        return float(_split(gap, point)[0] + (gap == 0).mean() / 2)

    def _gap(self, measure: str, first: int, second: int) -> tuple[NDArray[np.float64], float]:
        """First minus second: under each draw, and under the labels.

        Differences that only rounding makes are 0.
        """
        every = np.vstack([self.values[measure], self.by_label[measure]])
        gap = every[:, first] - every[:, second]
        gap[np.abs(gap) < 1e-12] = 0.0
        return gap[:-1], float(gap[-1])

    def _known(self, real: Sequence[float]) -> Sequence[float | None]:
        return real if self.covers else [None] * len(real)

    @property
    def _tails(self) -> tuple[float, float]:
        return (1 - self.level) / 2, (1 + self.level) / 2


_SYSTEM = ("measure", "system", "value", "low", "high", "sd", "p_best", "judged")
_PAIR = ("measure", "first", "second", "difference", "low", "high", "p_better", "p_tied", "p_worse")


def _schema(names: Sequence[str], texts: int) -> Any:
    kinds = [pa.large_string()] * texts + [pa.float64()] * (len(names) - texts)
    return pa.schema(list(zip(names, kinds, strict=True)))


def _center(draws: NDArray[np.float64], value: Any) -> NDArray[np.float64]:
    """Draws with the value as their median, as far from it on average (root mean square)."""
    apart = draws - np.median(draws, axis=0)
    spread = np.sqrt((apart**2).mean(axis=0))
    wider = np.sqrt(((draws - value) ** 2).mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(value + apart * wider)


def _split(gap: NDArray[np.float64], point: float) -> NDArray[np.float64]:  # (2,)
    """The probabilities of a difference above 0 and below; even where they contradict the point."""
    shares = np.array([(gap > 0).mean(), (gap < 0).mean()])
    order = slice(None, None, -1) if point < 0 else slice(None)
    return shares if point == 0 else _sort_shares(shares[order])[order]


def _sort_shares(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares that do not grow along the order of the values; those that would are averaged."""
    return np.asarray(isotonic_regression(shares, increasing=False).x)


def _best(values: NDArray[np.float64]) -> NDArray[np.float64]:  # (system,)
    """The share of draws in which each system is the best; the best of a tie share it."""
    top = values >= values.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((top / top.sum(axis=1, keepdims=True)).mean(axis=0))


def rank_systems(
    consensus: Consensus,
    runs: Sequence[Run],
    measures: Sequence[str] = MEASURED,
    *,
    unjudged: Unjudged = "not-relevant",
    over: _Over = "judgments",
    draws: int = 1000,
    level: float = 0.95,
    next_items: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> Ranking:
    """Rank systems by the labels of a consensus, with intervals for what it leaves in doubt.

    ``over`` says what the intervals cover: "judgments", judge noise on these topics; "topics",
    the choice of topics too, by a bootstrap of them inside every draw. Where each document has one
    judgment, values are those of its label, and judge noise cannot be measured.
    """
    check_ranking(over, draws, level, unjudged)
    runs = distinct_names(runs)
    scale = consensus.scale
    chosen = parse_measures(measures, scale)
    judged = is_judged(consensus.judgments, consensus.known)
    pool = build_pool(consensus.judgments, judged, runs, unjudged)
    labels = choose_labels(consensus, lowest=int(assign_grades(scale).argmin()))
    holes = bool((pool.item < 0).any())
    fixed = TruthDraws(consensus, pool, draws=draws if holes else 1, seed=seed, labels=labels)
    by_label = _draw_values(fixed, chosen, runs, "judgments")
    single = has_one_source(consensus)
    varied = (("judgments", not single), ("topics", over == "topics"), ("unjudged", holes))
    covers = tuple(name for name, varies in varied if varies)
    truths = TruthDraws(
        consensus, pool, draws=draws if covers else 1, seed=seed, labels=labels if single else None
    )
    quick = next((measure for measure in chosen if measure.quick), None)
    influence = None
    if next_items and covers and quick is not None and len(runs) > 1:
        influence = Influence(pool, len(scale.truths), quick.name)
    values = _draw_values(truths, chosen, runs, over, influence, progress)
    warnings = [*pool.notes, *_list_doubts(consensus, covers)]
    notes = [*warnings, *_about(pool, chosen, covers, truths.count)]
    table = no_items()
    if influence is not None:
        doubt = Doubt.of(values[influence.measure])
        table = next_table(consensus, influence, doubt, next_items)
    return Ranking(
        names=pool.systems,
        values=values,
        by_label={name: found.mean(axis=0) for name, found in by_label.items()},
        judged={
            measure.name: judged_at(consensus.judgments, judged, runs, measure.cutoff)
            for measure in chosen
        },
        next_items=table,
        topics=len(pool.topics),
        level=level,
        unjudged=unjudged,
        over=over,
        covers=covers,
        notes=tuple(notes),
        warnings=tuple(warnings),
    )


def check_ranking(over: str, draws: int, level: float, unjudged: str) -> None:
    """Refuse settings that no ranking can have."""
    check_unjudged(unjudged)
    if over not in ("judgments", "topics"):
        raise BadSetting("over", over, "judgments or topics")
    if draws < 2:
        raise BadSetting("draws", draws, "at least 2")
    if not 0 < level < 1:
        raise BadSetting("level", level, "a number between 0 and 1, such as 0.95")


def check_runs(
    judgments: Judgments, runs: Sequence[Run], measures: Sequence[str], *, with_gold: bool
) -> None:
    """Refuse measures, and runs that the judgments say nothing about, before a model is fitted.

    With gold, what is judged is known only after the fit, and runs are checked then.
    """
    parse_measures(measures, judgments.scale)
    if not with_gold:
        build_pool(judgments, is_judged(judgments, None), runs)


def _draw_values(
    truths: TruthDraws,
    measures: Sequence[RetrievalMeasure],
    runs: Sequence[Run],
    over: _Over,
    influence: Influence | None = None,
    progress: Progress | None = None,
) -> dict[str, NDArray[np.float64]]:  # measure: (draw, system)
    """Return the value of each system in each draw, added up over topics, block by block.

    The measures that ir-measures computes take the first draws only.
    """
    pool, count = truths.pool, truths.count
    slow = [measure for measure in measures if not measure.quick]
    by_draw = SlowMeasures(slow, pool, runs, truths.consensus.scale) if slow else None
    few = min(_SLOW_DRAWS, count)
    shape = len(pool.systems)
    values = {m.name: np.empty((count if m.quick else few, shape)) for m in measures}

    def report(done: int, note: str = "") -> None:
        if progress is not None:
            progress(Step("drawing", done, count, note))

    block = max(1, min(64, _BLOCK // max(len(pool.item), 1)))
    for first in range(0, count, block):
        last = min(first + block, count)
        drawn = truths.block(first, last)
        weight = np.stack([_weigh_topics(truths, draw, over) for draw in range(first, last)])
        for measure in measures:
            if not measure.quick:
                continue
            found = measure.values(pool, drawn)
            values[measure.name][first:last] = np.einsum("dst,dt->ds", found, weight)
            if influence is not None and measure.name == influence.measure:
                influence.add(drawn, found)
        for draw in range(first, min(last, few) if by_draw is not None else first):
            of_draw = by_draw.values(drawn[draw - first]) @ weight[draw - first]  # type: ignore[union-attr]
            for measure, of_systems in zip(slow, of_draw, strict=True):
                values[measure.name][draw] = of_systems
            report(draw + 1, "by ir-measures")
        report(last)
    return values


def _weigh_topics(truths: TruthDraws, draw: int, over: _Over) -> NDArray[np.float64]:  # (topic,)
    """Return the weight of each topic: even, or as often as it is drawn with replacement."""
    topics = len(truths.pool.topics)
    even = np.full(topics, 1 / topics)
    if over == "judgments":
        return even
    rng = np.random.default_rng([truths.seed, draw, 3])
    return rng.multinomial(topics, even) / topics


def _about(
    pool: Pool,
    measures: Sequence[RetrievalMeasure],
    covers: tuple[str, ...],
    draws: int,
) -> list[str]:
    """What to know about the intervals."""
    causes = {
        "judgments": "judge noise",
        "topics": "the choice of topics",
        "unjudged": "the unknown labels of unjudged documents",
    }
    topics = len(pool.topics)
    these = "this topic" if topics == 1 else f"these {count_of(topics, 'topic')}"
    notes = []
    if covers:
        causes_named = " and ".join(causes[name] for name in covers)
        notes.append(
            f"intervals cover {causes_named}"
            + ("" if "topics" in covers else f" on {these}; other topics would add to it")
        )
    if "judgments" in covers:
        notes.append(
            "use the values to compare systems: errors in the labels make them too low on average; "
            "an estimate from gold labels gives the level"
        )
    slow = [measure.name for measure in measures if not measure.quick]
    if slow and draws > _SLOW_DRAWS:
        notes.append(f"{', '.join(slow)}: {_SLOW_DRAWS} draws, since ir-measures takes them singly")
    return notes


def _list_doubts(consensus: Consensus, covers: tuple[str, ...]) -> list[str]:
    """Reasons to trust the intervals less than they say."""
    if "judgments" not in covers:
        return [
            "each document has one judgment, so values are those of its label and judge noise "
            "cannot be measured; a second judge or gold labels would make it visible"
        ]
    if consensus.effective is None and consensus.draws is None:
        return [
            f"{consensus.model} treats its estimates of the judges as certain, so intervals are "
            "too narrow; a sampled model's are wider"
        ]
    return []
