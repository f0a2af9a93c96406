"""The consensus: a label with its probability for every item, and how good every judge is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.draws import Draws
from adjudge.data.families import Families
from adjudge.data.judges import judge_table, judge_table_from_draws
from adjudge.data.judgments import Judgments
from adjudge.data.saved import Saved
from adjudge.data.scale import Scale
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting

_BLOCK = 100_000  # items looked through at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Consensus(Saved):
    """What a model makes of judgments: the truth of each item, with doubt, and each judge's rates.

    ``labels`` and ``judges`` are the two tables people want; the arrays behind them are here too.
    ``counts`` are expected: a judgment of an item that is 0.7 relevant counts 0.7 in one row of its
    judge's table and 0.3 in the other. ``predict`` labels other judgments with what was learnt.
    """

    holds: ClassVar[str] = "consensus"

    model: str
    settings: dict[str, object]
    judgments: Judgments
    posterior: NDArray[np.float64]  # (item, truth)
    choice: NDArray[np.int16]  # (item,)
    prevalence: NDArray[np.float64]  # (topic, truth), or one row where topics share it
    confusion: NDArray[np.float64]  # (judge, truth, label), or one matrix where judges share it
    counts: NDArray[np.float64]  # (judge, truth, label)
    known: NDArray[np.int16] | None = None  # (item,) gold, -1 where there is none
    fallback: NDArray[np.bool_] | None = None  # (item,)
    trace: tuple[float, ...] = ()  # log-likelihood after each iteration
    converged: bool | None = None
    draws: Draws | None = None  # of a sampled model
    families: Families | None = None  # judges who are one voice, found or declared
    correlation: float | None = None  # agreement of judges beyond what the model explains
    effective: NDArray[np.float64] | None = None  # (item,) judgments, as independent ones
    about_judges: Any = None  # Arrow table, a row a judge: what a model adds to the table of judges
    notes: tuple[str, ...] = ()
    predictor: Callable[[Judgments], Consensus] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"Consensus({self.model} of {self.judgments!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows: how many items, shares of truths, the first labels."""
        from adjudge.data.html import show

        items, sure = len(self.choice), float(self.probability.mean()) if len(self.choice) else 0.0
        facts = f"{self.model}: {count_of(items, 'item')}, {sure:.0%} sure on average"
        bars = list(zip(self.scale.truths, self.overall_prevalence.tolist(), strict=True))
        return show("Consensus", facts, bars, self.labels, items)

    def to_arviz(self, *, truths: int = 0, seed: int = 0) -> Any:
        """The draws of a sampled model as ArviZ takes them, on request with truths of items.

        ``truths`` is how many draws a chain has of them, evenly over those whose prevalence and
        confusion were kept: the group ``posterior_truths`` has ``truth``, by its place on the
        scale, for every chain, draw and item.
        """
        if self.draws is None:
            raise BadSetting("draws", None, "a model that draws, such as hierarchical-relevance")
        if not truths:
            return self.draws.to_arviz()
        from adjudge.data.truth_draws import draw_truths
        from adjudge.lazy import load

        have = self.draws.prevalence.shape[1]
        if not 0 < truths <= have:
            raise BadSetting("truths", truths, f"a number from 1 to {have:,}, the draws kept")
        kept = np.arange(truths) * have // truths
        drawn = draw_truths(self, self.draws, kept, seed)
        data = load("xarray").Dataset(
            {"truth": (("chain", "draw", "item"), drawn)},
            coords={
                "chain": np.arange(len(drawn)),
                "draw": kept * self.draws.stride,
                "item": self.judgments.items.to_pylist(),
            },
            attrs={"truths": list(self.scale.truths)},
        )
        return self.draws.to_arviz({"posterior_truths": data})

    @property
    def scale(self) -> Scale:
        """The scale of the labels."""
        return self.judgments.scale

    @property
    def probability(self) -> NDArray[np.float64]:  # (item,)
        """The probability of the chosen label of each item."""
        return self.posterior[np.arange(len(self.choice)), self.choice]

    @property
    def entropy(self) -> NDArray[np.float64]:  # (item,)
        """The doubt that is left about each item, in bits."""
        p = self.posterior
        logs = np.zeros_like(p)
        np.log2(p, out=logs, where=p > 0)
        return np.asarray(np.abs(np.einsum("ik,ik->i", p, logs)))

    @property
    def score(self) -> NDArray[np.float64]:  # (item,)
        """What items are ranked by: probability of relevance, else the expected grade."""
        relevant = self.scale.truth_relevant
        if relevant is not None and len(self.scale.truths) == 2:
            return self.posterior @ relevant.astype(np.float64)
        return self.posterior @ self.scale.truth_values

    @property
    def rank(self) -> NDArray[np.int64]:  # (item,)
        """The place of each item in its topic, best first; items with one score share a place."""
        topic = self.judgments.topic
        group = np.zeros(len(self.choice), dtype=np.int32) if topic is None else topic
        return places(self.score, group)

    @property
    def labels(self) -> Any:
        """One row an item: label, probability of every truth, judgments, entropy, rank."""
        judgments, truths = self.judgments, self.scale.truths
        columns: dict[str, Any] = {"item": judgments.items}
        if judgments.topics is not None and judgments.topic is not None:
            columns["topic"] = judgments.topics.take(pa.array(judgments.topic))
        if judgments.documents is not None:
            columns["document"] = judgments.documents
        columns["label"] = pa.array(truths, pa.large_string()).take(pa.array(self.choice))
        columns["probability"] = pa.array(self.probability)
        for code, truth in enumerate(truths):
            columns[f"p_{truth}"] = pa.array(np.ascontiguousarray(self.posterior[:, code]))
        columns["judgments"] = pa.array(judgments.counts_per_item)
        if self.effective is not None:
            columns["n_eff"] = pa.array(self.effective)
        columns["entropy"] = pa.array(self.entropy)
        columns["rank"] = pa.array(self.rank)
        fallback = self.fallback
        if fallback is None:
            fallback = np.zeros(len(self.choice), dtype=np.bool_)
        columns["fallback"] = pa.array(fallback)
        return pa.table(columns)

    @property
    def evidence(self) -> NDArray[np.float64]:  # (judge, truth, label)
        """``counts`` of as many judgments as tell how good their judge is.

        These are judgments of items that another voice judged too, and of gold: where nobody else
        says anything, a judge is believed to be like the others, however much they judged.
        """
        return self.counts * self._told()[:, None, None]

    def _told(self) -> NDArray[np.float64]:  # (judge,)
        """The share of each judge's judgments that something can be held against."""
        judgments = self.judgments
        source = np.arange(judgments.judge_count) if self.families is None else self.families.family
        told = np.zeros(judgments.judge_count)
        for begin in range(0, judgments.item_count, _BLOCK):
            offsets = judgments.offsets[begin : begin + _BLOCK + 1]
            judge = judgments.judge[offsets[0] : offsets[-1]]
            count = np.diff(offsets)
            several = np.zeros(len(count), dtype=np.bool_)
            if len(judge):
                first, some = offsets[:-1][count > 0] - offsets[0], source[judge]
                several[count > 0] = np.minimum.reduceat(some, first) != np.maximum.reduceat(
                    some, first
                )
            if self.known is not None:
                several |= self.known[begin : begin + _BLOCK] >= 0
            told += np.bincount(judge[np.repeat(several, count)], minlength=len(told))
        return told / np.maximum(judgments.counts_per_judge, 1)

    @property
    def judges(self) -> Any:
        """One row a judge: how many judgments, accuracy, bits a judgment, rates, with intervals."""
        table = self._judges()
        if self.about_judges is not None:
            for name in self.about_judges.column_names:
                table = table.append_column(name, self.about_judges[name])
        return table

    def _judges(self) -> Any:
        if self.draws is not None:
            confusion = self.draws.confusion
            return judge_table_from_draws(
                names=self.judgments.judges,
                scale=self.scale,
                counts=self.counts,
                prevalence=self.overall_prevalence,
                confusion=confusion.reshape(-1, *confusion.shape[2:]),
            )
        return judge_table(
            names=self.judgments.judges,
            scale=self.scale,
            counts=self.counts,
            prevalence=self.overall_prevalence,
            told=self._told(),
        )

    @property
    def topics(self) -> Any:
        """One row a topic: items, and the prevalence of each truth, with 90% intervals if drawn.

        Where topics share one prevalence, or there are none, the one row is called "all".
        """
        judgments, prevalence = self.judgments, self.prevalence
        shared = judgments.topics is None or judgments.topic is None or len(prevalence) == 1
        names = pa.array(["all"], pa.large_string()) if shared else judgments.topics
        items = [judgments.item_count]
        if not shared and judgments.topic is not None:
            items = np.bincount(judgments.topic, minlength=judgments.topic_count).tolist()
        columns: dict[str, Any] = {"topic": names, "items": pa.array(items)}
        for code, truth in enumerate(self.scale.truths):
            columns[f"p_{truth}"] = pa.array(np.ascontiguousarray(prevalence[:, code]))
            if self.draws is not None:
                low, high = self.draws.prevalence_interval(code)
                columns[f"p_{truth}_low"], columns[f"p_{truth}_high"] = (
                    pa.array(low),
                    pa.array(high),
                )
        return pa.table(columns)

    @property
    def overall_prevalence(self) -> NDArray[np.float64]:  # (truth,)
        """The share of each truth among all items."""
        if not len(self.posterior):
            return np.asarray(self.prevalence.mean(axis=0))
        return np.asarray(self.posterior.mean(axis=0))

    def predict(self, judgments: Judgments | Any) -> Consensus:
        """Label other judgments with the prevalence and confusion learnt here, and nothing else.

        A judge who was not in the fit gets the population's confusion, a topic that was not gets
        the overall prevalence.
        """
        if self.predictor is None:
            raise BadData(f"{self.model} keeps nothing to predict with", wanted="a fitted model")
        from adjudge.data.given import judgments_given

        return self.predictor(judgments_given(judgments))


def places(score: NDArray[np.float64], group: NDArray[np.int32]) -> NDArray[np.int64]:
    """The place of each score in its group, highest first; equal scores share a place."""
    order = np.lexsort((-score, group))
    place = np.arange(1, len(order) + 1)
    starts = np.ones(len(order), dtype=np.bool_)
    starts[1:] = group[order][1:] != group[order][:-1]
    fresh = starts.copy()
    fresh[1:] |= score[order][1:] != score[order][:-1]
    begin = np.maximum.accumulate(np.where(starts, place, 0))
    shared = np.maximum.accumulate(np.where(fresh, place, 0))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = shared - begin + 1
    return rank
