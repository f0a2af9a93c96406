"""The consensus: a label with its probability for every item, and how good every judge is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.draws import Draws
from adjudge.data.judges import Judges, share_held_against, tabulate_judges, tabulate_topics
from adjudge.data.judgments import Judgments, take_judgments
from adjudge.data.names import as_names, look_up, restore
from adjudge.data.results import ItemResult, Result
from adjudge.data.saved import Saved
from adjudge.data.scale import Scale
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, UnknownName

_NEAR = 10_000  # items among which a misspelt id is searched


@dataclass(frozen=True, slots=True)
class LookAlikes:
    """Judges who agree more than the other judges explain: they may be one source."""

    judges: tuple[int, ...]
    excess: float  # mean over pairs; 0: as independent judges agree, 1: always
    common: int  # items that two of them judged, on average


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Families:
    """Which judges count as one, and how far.

    A judgment weighs 1 / (1 + (c - 1) share), where c is the number of judgments of its family on
    the item: with a share of 1, a family has one vote.
    """

    family: NDArray[np.int32]  # (judge,) the family's first judge; the judge where there is none
    share: NDArray[np.float64]  # (judge,) 1 if declared, the mean excess if found
    declared: NDArray[np.bool_]  # (judge,) of a family that the user declared
    suspected: tuple[LookAlikes, ...] = ()  # alike, but not certainly one source

    @classmethod
    def none(cls, judges: int) -> Families:
        """No families: every judge counts as one."""
        return cls(
            family=np.arange(judges, dtype=np.int32),
            share=np.ones(judges),
            declared=np.zeros(judges, dtype=np.bool_),
        )

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The judges of each family that has more than one."""
        return list_groups(self.family)

    @property
    def any(self) -> bool:
        """Whether there is a family of more than one judge."""
        return bool((self.family != np.arange(len(self.family))).any())

    def effective_judges(self) -> float:
        """The effective number of judges if every family judged an item together."""
        sizes = np.bincount(self.family, minlength=len(self.family))[self.family]
        return float((1.0 / (1.0 + (sizes - 1) * self.share)).sum())


def list_groups(group: NDArray[np.int32]) -> tuple[tuple[int, ...], ...]:
    """The members of each group that has more than one, in order."""
    order = np.argsort(group, kind="stable")
    ends = np.flatnonzero(np.diff(group[order], prepend=-1, append=-1))
    groups = [tuple(order[a:b].tolist()) for a, b in pairwise(ends)]
    return tuple(members for members in groups if len(members) > 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """How strongly judges err on the same items: the mean correlation of two judges' errors.

    ``low`` to ``high`` holds it with 90% probability. See ``adjudge.models.dependence``.
    """

    correlation: float  # from 0, independent, to 1, always wrong together
    low: float
    high: float
    gold_items: int  # that it was measured on; 0 where it is estimated from agreement

    def range_of(self, effective: float) -> tuple[float, float]:
        """The range of an effective number of judges that the correlation gave."""
        r = self.correlation
        judges = effective * (1.0 - r) / (1.0 - effective * r)
        few, many = (judges / (1.0 + (judges - 1.0) * end) for end in (self.high, self.low))
        return few, many


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Consensus(Result, Saved):
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
    families: Families | None = None  # judges who count as one, found or declared
    dependence: Dependence | None = None  # how strongly judges err on the same items
    effective: NDArray[np.float64] | None = None  # (item,) effective number of judgments, n_eff
    level: NDArray[np.float64] | None = None  # (judge,) added to the logit of their accuracy
    about_judges: Any = (
        None  # Arrow table, one row per judge: what a model adds to the table of judges
    )
    notes: tuple[str, ...] = ()
    predictor: Callable[[Judgments], Consensus] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"Consensus({self.model} of {self.judgments!r})"

    def __getitem__(self, item: str) -> ItemResult:
        """Return one item by its id, with its judgments."""
        at = int(look_up(as_names([str(item)]), self.judgments.items)[0])
        if at < 0:
            some = self.judgments.items.slice(0, _NEAR).to_pylist()
            raise UnknownName("item", str(item), get_close_matches(item, some, 3) or some[:3])
        return ItemResult.of(self, at)

    @property
    def facts(self) -> str:
        """How many labels there are, and how sure they are."""
        items, sure = len(self.choice), float(self.probability.mean()) if len(self.choice) else 0.0
        return f"{self.model}: {count_of(items, 'item')}, {sure:.0%} sure on average"

    def to_table(self) -> Any:
        """Return ``labels``."""
        return self.labels

    def _repr_html_(self) -> str:
        """Return what a notebook shows: facts, the share of each label, the first labels."""
        from adjudge.data.html import show

        bars = list(zip(self.scale.truths, self.overall_prevalence.tolist(), strict=True))
        return show("Consensus", self.facts, bars, self.labels, len(self.choice))

    def to_arviz(self) -> Any:
        """The draws of a sampled model as ArviZ takes them."""
        if self.draws is None:
            raise BadSetting("draws", None, "a model that draws, such as hierarchical-relevance")
        return self.draws.to_arviz()

    @property
    def scale(self) -> Scale:
        """The scale of the labels."""
        return self.judgments.scale

    @property
    def correlation(self) -> float | None:
        """The mean correlation of two judges' errors; None where it was not estimated."""
        return None if self.dependence is None else self.dependence.correlation

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
    def labels(self) -> pa.Table:
        """One row per item: label, probability of every truth, judgments, entropy, rank.

        Items and labels have the types that they had in the table that was read.
        """
        judgments, truths = self.judgments, self.scale.truths
        columns = judgments.own_columns
        names = restore(pa.array(truths, pa.large_string()), judgments.types.get("label"))
        columns["label"] = names.take(pa.array(self.choice))
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
        """``counts`` of as many judgments as show how good their judge is.

        These are judgments of items that another judge judged too, and of gold: where nobody else
        says anything, a judge is believed to be like the others, however much they judged.
        """
        return self.counts * share_held_against(self)[:, None, None]

    @property
    def judges(self) -> Judges:
        """One row per judge: judgments, accuracy, bits per judgment, rates, with intervals."""
        return tabulate_judges(self)

    @property
    def topics(self) -> pa.Table:
        """One row per topic: items, and the prevalence of each truth, with intervals if drawn.

        Where topics share one prevalence, or there are none, the one row is called "all".
        """
        return tabulate_topics(self)

    @property
    def overall_prevalence(self) -> NDArray[np.float64]:  # (truth,)
        """The share of each truth among all items."""
        if not len(self.posterior):
            return np.asarray(self.prevalence.mean(axis=0))
        return np.asarray(self.posterior.mean(axis=0))

    def predict(self, judgments: Judgments | Any) -> Consensus:
        """Label other judgments with what was learnt here: judges, prevalence and calibration.

        An item that the fit saw with the same judgments gets the fit's answer. An item with gold in
        the fit gets its gold label. A judge who is not in the fit gets the population's confusion;
        a topic that is not gets the overall prevalence.
        """
        if self.predictor is None:
            raise BadData(f"this {self.model} consensus cannot predict")
        return _keep_fitted(self, self.predictor(take_judgments(judgments)))


def places(score: NDArray[np.float64], group: NDArray[np.int32]) -> NDArray[np.int64]:
    """The place of each score in its group, highest first; equal scores share a place."""
    order = np.lexsort((-score, group))
    grouped, scored = group[order], score[order]
    lower = (grouped[1:] != grouped[:-1]) | (scored[1:] != scored[:-1])
    fresh = np.append(True, lower)[: len(order)]
    shared = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = shared - np.searchsorted(grouped, grouped) + 1
    return rank


def _keep_fitted(fitted: Consensus, predicted: Consensus) -> Consensus:
    """Give items of the fit their gold label, or the fit's answer where judgments are the same."""
    code = look_up(predicted.judgments.items, fitted.judgments.items)
    known = np.full(len(code), -1, dtype=np.int16)
    if fitted.known is not None:
        known[code >= 0] = fitted.known[code[code >= 0]]
    kept = (known >= 0) | _have_same_judgments(predicted.judgments, fitted.judgments, code)
    if not kept.any():
        return predicted
    posterior, choice = np.array(predicted.posterior), np.array(predicted.choice)
    posterior[kept], choice[kept] = fitted.posterior[code[kept]], fitted.choice[code[kept]]
    fallback = predicted.fallback
    if fitted.fallback is not None:
        fallback = np.zeros(len(code), dtype=np.bool_) if fallback is None else np.array(fallback)
        fallback[kept] = fitted.fallback[code[kept]]
    gold = known if (known >= 0).any() else None
    return replace(predicted, posterior=posterior, choice=choice, fallback=fallback, known=gold)


def _have_same_judgments(
    judgments: Judgments,
    fitted: Judgments,
    code: NDArray[np.int32],  # (item,) of the fit, -1 for a new item
) -> NDArray[np.bool_]:  # (item,)
    """Which items have the same labels from the same judges in the fit, in any order."""
    same = (code >= 0) & (np.append(fitted.counts_per_item, -1)[code] == judgments.counts_per_item)
    chosen = np.zeros(fitted.item_count, dtype=np.bool_)
    chosen[code[same]] = True
    judge = look_up(judgments.judges, fitted.judges)
    tables = []
    for table, rows, item, judges in (
        (judgments, same[judgments.item], code[judgments.item], judge[judgments.judge]),
        (fitted, chosen[fitted.item], fitted.item, fitted.judge),
    ):
        key = judges[rows].astype(np.int64) * len(fitted.scale.labels) + table.label[rows]
        order = np.lexsort((key, item[rows]))
        tables.append((item[rows][order], key[order]))
    (_, given), (items, expected) = tables  # as many of each item in both
    chosen[items[given != expected]] = False
    return np.asarray(same & np.append(chosen, False)[code])
