"""Rankings of systems with error bars: what noisy judgments leave of a difference between runs.

The truth is drawn many times from the posterior of a consensus; each draw is a set of qrels, and
gives every system a value. So a measure has a distribution instead of a number, and of two systems
one is better with a probability.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
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
from adjudge.evaluation.ranking._next_items import Doubt, Influence, next_table, no_items
from adjudge.evaluation.ranking._truths import TruthDraws, is_judged
from adjudge.models.model import Progress, Step

_Over = Literal["judgments", "topics"]
MEASURED = ("nDCG@10", "AP")  # where nobody says what to measure by
_SLOW_DRAWS = 100  # of a measure that goes through ir-measures, draw by draw
_BLOCK = 1 << 22  # truths held at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """The value of each measure for each system, draw by draw, and what follows of it.

    ``systems`` and ``pairs`` are tables; ``next_items`` too, by the first measure that thousands of
    draws are no burden to. ``by_label`` has the values under the labels of the consensus, as if
    they were certain.
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
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Ranking({len(self.names)} systems by {', '.join(self.values)})"

    @property
    def systems(self) -> Any:
        """One row a measure and system, best first: value, interval, chance to be the best.

        ``judged`` is judged@k: of the places that the measure looks at, the share that is judged.
        """
        rows = []
        for measure, values in self.values.items():
            low, high = np.quantile(values, self._tails, axis=0)
            mean, sd = values.mean(axis=0), _sd(values)
            best = _best(values)
            rows += [
                {
                    "measure": measure,
                    "system": self.names[s],
                    "value": mean[s],
                    "low": low[s],
                    "high": high[s],
                    "sd": sd[s],
                    "p_best": best[s],
                    "by_label": self.by_label[measure][s],
                    "judged": self.judged[measure][s],
                }
                for s in np.argsort(-mean, kind="stable")
            ]
        return pa.Table.from_pylist(rows)

    @property
    def pairs(self) -> Any:
        """One row a measure and pair: difference, interval, chances that the first is better.

        The first of a pair is the one with the higher value; ``p_tied`` is the chance that both
        are equal.
        """
        text = ("measure", "first", "second")
        real = ("difference", "low", "high", "p_better", "p_tied", "p_worse")
        rows = []
        for measure, values in self.values.items():
            order = np.argsort(-values.mean(axis=0), kind="stable")
            for a, b in combinations(order.tolist(), 2):
                gap = _gap(values[:, a], values[:, b])
                low, high = np.quantile(gap, self._tails)
                ways = ((gap > 0).mean(), (gap == 0).mean(), (gap < 0).mean())
                row = (measure, self.names[a], self.names[b], gap.mean(), low, high, *ways)
                rows.append(dict(zip((*text, *real), row, strict=True)))
        kinds = dict.fromkeys(text, pa.large_string()) | dict.fromkeys(real, pa.float64())
        return pa.Table.from_pylist(rows, schema=pa.schema(kinds))

    def better(self, measure: str, first: str, second: str) -> float:
        """The probability that the first system is better than the second; ties count half."""
        values = self.values[measure]
        gap = _gap(values[:, self.names.index(first)], values[:, self.names.index(second)])
        return float((gap > 0).mean() + (gap == 0).mean() / 2)

    @property
    def _tails(self) -> tuple[float, float]:
        return (1 - self.level) / 2, (1 + self.level) / 2


def _gap(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """First minus second; what only rounding tells apart is equal."""
    gap = first - second
    gap[np.abs(gap) < 1e-12] = 0.0
    return gap


def _sd(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(values) < 2:
        return np.full(values.shape[1], np.nan)
    return np.asarray(values.std(axis=0, ddof=1))


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
    """Systems ranked under the doubt that a consensus leaves about its labels.

    ``over`` says what the intervals are about: "judgments", other judges' noise on these topics;
    "topics", other topics too, by a bootstrap of them inside every draw.
    """
    check_ranking(over, draws, level, unjudged)
    runs = distinct_names(runs)
    scale = consensus.scale
    chosen = parse_measures(measures, scale)
    judged = is_judged(consensus.judgments, consensus.known)
    pool = build_pool(consensus.judgments, judged, runs, unjudged)
    truths = TruthDraws(consensus, pool, draws=draws, seed=seed)
    sums = _MeasureSums(pool, chosen, runs, truths, over, next_items > 0)
    labels = truths.labels(int(assign_grades(scale).argmin()))
    by_label = sums.by_label(labels)
    sums.run(progress)
    table, said = no_items(), None
    if sums.influence is not None and sums.first is not None:
        doubt = Doubt.of(sums.values[sums.first.name])
        table = next_table(consensus, sums.influence, doubt, next_items)
        said = _said(sums.first.name, doubt, len(pool.systems), table)
    return Ranking(
        names=pool.systems,
        values=sums.values,
        by_label=by_label,
        judged={
            measure.name: judged_at(consensus.judgments, judged, runs, measure.cutoff)
            for measure in chosen
        },
        next_items=table,
        topics=len(pool.topics),
        level=level,
        unjudged=unjudged,
        over=over,
        notes=(
            *pool.notes,
            *_about(consensus, pool, chosen, over, draws),
            *([said] if said else ()),
        ),
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


class _MeasureSums:
    """The values of measures, added up over topics, block by block of draws."""

    def __init__(
        self,
        pool: Pool,
        measures: Sequence[RetrievalMeasure],
        runs: Sequence[Run],
        truths: TruthDraws,
        over: _Over,
        suggest: bool,
    ) -> None:
        self.pool, self.truths = pool, truths
        self.quick = [measure for measure in measures if measure.quick]
        slow = [measure for measure in measures if not measure.quick]
        scale = truths.consensus.scale
        self.slow = SlowMeasures(slow, pool, runs, scale) if slow else None
        self.slow_draws = min(_SLOW_DRAWS, truths.count) if slow else 0
        systems = len(pool.systems)
        self.values = {
            measure.name: np.empty((truths.count if measure.quick else self.slow_draws, systems))
            for measure in measures
        }
        self.first = self.quick[0] if self.quick else None
        self.influence = None
        if suggest and self.first is not None and systems > 1:
            self.influence = Influence(pool, len(scale.truths))
        self.weight: Callable[[int], NDArray[np.float64]] = self._evenly
        if over == "topics":
            self.weight = self._resampled

    def by_label(self, labels: NDArray[np.int16]) -> dict[str, NDArray[np.float64]]:
        """The mean of every measure for every system, under one labelling."""
        found = {m.name: m.values(self.pool, labels)[0].mean(axis=1) for m in self.quick}
        if self.slow is not None:
            values = self.slow.values(labels[0]).mean(axis=2)
            found |= {m.name: values[at] for at, m in enumerate(self.slow.measures)}
        return found

    def run(self, progress: Progress | None) -> None:
        """Go through all draws."""
        count = self.truths.count
        block = max(1, min(64, _BLOCK // max(len(self.pool.item), 1)))
        for first in range(0, count, block):
            last = min(first + block, count)
            truths = self.truths.block(first, last)
            weight = np.stack([self.weight(draw) for draw in range(first, last)])
            for measure in self.quick:
                values = measure.values(self.pool, truths)
                self.values[measure.name][first:last] = np.einsum("dst,dt->ds", values, weight)
                if measure is self.first and self.influence is not None:
                    self.influence.add(truths, values)
            self._slowly(first, truths, weight, progress)
            if progress is not None:
                progress(Step("drawing", last, count))

    def _slowly(
        self,
        first: int,
        truths: NDArray[np.int16],
        weight: NDArray[np.float64],
        progress: Progress | None,
    ) -> None:
        """The measures that ir-measures computes, for the first of the draws."""
        if self.slow is None:
            return
        for row in range(max(0, min(len(truths), self.slow_draws - first))):
            values = self.slow.values(truths[row]) @ weight[row]  # (measure, system)
            for measure, of_systems in zip(self.slow.measures, values, strict=True):
                self.values[measure.name][first + row] = of_systems
            if progress is not None:
                progress(Step("drawing", first + row + 1, self.truths.count, "by ir-measures"))

    def _evenly(self, _draw: int) -> NDArray[np.float64]:  # (topic,)
        topics = len(self.pool.topics)
        return np.full(topics, 1 / topics)

    def _resampled(self, draw: int) -> NDArray[np.float64]:  # (topic,)
        topics = len(self.pool.topics)
        rng = np.random.default_rng([self.truths.seed, draw, 3])
        return rng.multinomial(topics, np.full(topics, 1 / topics)) / topics


def _about(
    consensus: Consensus,
    pool: Pool,
    measures: Sequence[RetrievalMeasure],
    over: _Over,
    draws: int,
) -> list[str]:
    """What to know about the intervals."""
    topics = len(pool.topics)
    many = count_of(topics, "topic")
    these = "this topic" if topics == 1 else f"these {many}"
    if over == "topics":
        notes = [f"intervals are about the judges' noise and about other topics than {these}"]
    else:
        notes = [f"intervals are about the judges' noise on {these}; other topics would add to it"]
    notes.append(
        "values are for comparing systems: judgments alone do not know that systems rank relevant "
        "documents high, so true values are higher ('adjudge estimate' with gold finds them)"
    )
    if consensus.effective is not None:
        judged = consensus.judgments.counts_per_item > 0
        notes.append(
            f"a judged document has {consensus.judgments.counts_per_item[judged].mean():.1f} "
            "judgments, which carry the information of about "
            f"{consensus.effective[judged].mean():.1f} independent ones (n_eff)"
        )
    elif consensus.draws is None:
        notes.append(
            f"{consensus.model} takes what it found of its judges for certain, so intervals are "
            "too narrow; a sampled model knows better"
        )
    slow = [measure.name for measure in measures if not measure.quick]
    if slow and draws > _SLOW_DRAWS:
        notes.append(f"{', '.join(slow)}: {_SLOW_DRAWS} draws, since ir-measures takes them singly")
    return notes


def _said(measure: str, doubt: Doubt, systems: int, table: Any) -> str:
    """A sentence on how much doubt there is, and what a judgment would take away."""
    pairs = systems * (systems - 1) // 2
    text = f"doubt about the ranking by {measure}: {doubt.bits:.2f} bits over "
    text += count_of(pairs, "pair")
    if len(table):
        text += (
            f"; one more judgment of the best document takes away {table['gain'][0].as_py():.4f}"
        )
    return text
