"""Targets that are sums over items, or ratios of two: shares, mean grade, agreement, error rates.

- ``mean-grade``: the mean of the true grades.
- ``share:LABEL,...``: the share of items whose truth is one of these; ``share`` alone: relevant.
- ``agreement:JUDGE``: the share of a judge's items to which the judge gives the truth;
  ``agreement`` alone is that of the consensus without gold.
- ``error:JUDGE:TRUTH``: the share of the judge's items of that truth with another label;
  ``error:JUDGE:TRUTH:LABEL``: with that label; ``error:JUDGE``: errors on all items.

Measures of rankings are in ``_rankings``.

Around the beliefs about items, a target is a value plus what each item's truth adds to it: an
``Expansion``. For a mean or a share this is exact. For a ratio, or a measure of a ranking, the sum
is the first part (its Hajek projection), and what single items cannot explain is kept as a
variance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.names import look_up
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting, Remedy, UnknownName

_Floats = NDArray[np.float64]
RANGE = 0.4  # part of an item's range that counts next to its spread
PLAIN = ("mean-grade", "share", "agreement", "error")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Expansion:
    """A target around beliefs: its value, what each truth of an item adds, and the rest."""

    value: float
    adds: _Floats  # (item, truth)
    rest: float = 0.0  # variance
    around: _Floats | None = None  # (item, truth) beliefs, if not those that were given
    of_topic: _Floats | None = None  # (topic,) the parts of the value
    share: _Floats | None = None  # (topic,) what part of the target each topic is

    def expected(self, belief: _Floats) -> _Floats:  # (item,)
        """Return what each item is expected to add."""
        return np.asarray(np.einsum("ik,ik->i", belief, self.adds))

    def spread(self, belief: _Floats) -> _Floats:  # (item,)
        """Return the variance of what each item adds, if beliefs are right."""
        second = np.einsum("ik,ik->i", belief, self.adds**2)
        return np.asarray(np.maximum(second - self.expected(belief) ** 2, 0.0))

    def doubt(self, belief: _Floats, part: float = RANGE) -> _Floats:  # (item,)
        """Return the same plus a part of each item's range, since beliefs may be wrong."""
        reach = self.adds.max(axis=1) - self.adds.min(axis=1)
        return np.asarray(self.spread(belief) + (part * reach) ** 2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target(ABC):
    """What is estimated, about the items of a population."""

    name: str
    bounds: tuple[float, float]  # of its value
    item: NDArray[np.int64]  # (member,)
    topics: NDArray[np.int64] | None  # (member,)
    judged: dict[str, float] = field(default_factory=dict)  # share of each run's top places
    notes: tuple[str, ...] = ()
    is_sum: bool = False  # whether the expansion is exact around any beliefs
    is_ratio: bool = False  # whether the expansion is around its own value
    is_normalised: bool = False  # divided by a sum over items that is believed, not known

    def strata(self) -> NDArray[np.int64] | None:  # (member,)
        """Return kinds of members that add very different amounts; None if all are alike."""
        return None

    @abstractmethod
    def expand(self, belief: _Floats, at: float | None, levels: Any = None) -> Expansion:
        """Expand around beliefs, a ratio around its value ``at``.

        ``levels`` are how far entire topics may be from the beliefs, for measures of rankings.
        """


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mean(Target):
    """The mean over items of what their truth is worth, or a ratio of two such means."""

    worth: _Floats  # (member, truth)
    of: _Floats | None = None  # (member, truth) what a ratio is divided by

    def expand(
        self,
        belief: _Floats,
        at: float | None,
        levels: Any = None,  # noqa: ARG002 - sums do not need them
    ) -> Expansion:
        """Expand around beliefs: a mean as it is, a ratio around its value ``at``."""
        start, share = 0.0, 1.0
        adds = self.worth / max(len(self.item), 1)
        if self.of is not None:
            over, under = float((belief * self.worth).sum()), float((belief * self.of).sum())
            if not under > 0:
                problem = f"{self.name}: no item is expected to be of this kind"
                raise BadData(problem, expected="such items")
            start, share = over / under if at is None else at, 0.0
            adds = (self.worth - start * self.of) / under
        each = np.einsum("ik,ik->i", belief, adds)
        parts: dict[str, Any] = {}
        if self.topics is not None:
            items = np.bincount(self.topics)
            parts["of_topic"] = np.bincount(self.topics, weights=each).astype(np.float64)
            parts["share"] = share * items / items.sum()
        return Expansion(value=start + float(each.sum()), adds=adds, **parts)


def plain_target(name: str, consensus: Consensus, judged: NDArray[np.bool_]) -> Mean | None:
    """Return the target of that name; None for a measure of rankings."""
    kind, _, rest = name.partition(":")
    if kind not in PLAIN:
        return None
    scale, items = consensus.scale, np.flatnonzero(judged)
    if kind in ("agreement", "error"):
        return _target_judge(name, kind, rest, consensus, items)
    bounds = 0.0, 1.0
    if kind == "mean-grade":
        values = _grades(scale, rest, name)
        bounds = float(values.min()), float(values.max())
    else:
        values = _chosen(scale, rest)
        chosen = [truth for truth, counts in zip(scale.truths, values, strict=True) if counts]
        name = name if rest else f"share:{','.join(chosen)}"
    worth = np.broadcast_to(values, (len(items), len(values)))
    topics = _topics(consensus, items)
    return Mean(name=name, bounds=bounds, item=items, topics=topics, worth=worth, is_sum=True)


def _topics(consensus: Consensus, items: NDArray[np.int64]) -> NDArray[np.int64] | None:
    topic = consensus.judgments.topic
    if topic is None:
        return None
    return np.unique(topic[items], return_inverse=True)[1].astype(np.int64)


def _grades(scale: Scale, rest: str, name: str) -> _Floats:  # (truth,)
    if rest:
        raise BadSetting("target", name, "mean-grade alone; a share of labels is share:LABEL,...")
    if not scale.ordinal:
        raise BadData(
            f"a mean grade needs grades, and the labels {scale} have no order; a share of labels, "
            f"such as share:{scale.labels[0]}, needs none",
            expected="an ordered scale",
            code="no-grades",
            remedies=(Remedy("labels", "<".join(scale.labels[:3])),),
        )
    return scale.truth_values


def _chosen(scale: Scale, rest: str) -> _Floats:  # (truth,)
    """Return 1 for each truth that a share counts."""
    if not rest:
        relevant = scale.truth_relevant
        if relevant is None:
            raise BadData(
                f"the scale {scale} does not say which labels are relevant; name them, such as "
                f"share:{scale.labels[-1]}",
                expected="labels of the scale",
            )
        return relevant.astype(np.float64)
    chosen = np.zeros(len(scale.truths))
    chosen[[_truth(scale, label.strip()) for label in rest.split(",")]] = 1.0
    if chosen.all():
        raise BadSetting("target", f"share:{rest}", "fewer than all labels, whose share is 1")
    return chosen


def _truth(scale: Scale, label: str) -> int:
    code = scale.truth_code(label)
    if code < 0:
        raise UnknownName("label", label, scale.truths)
    return code


def _target_judge(
    name: str, kind: str, rest: str, consensus: Consensus, items: NDArray[np.int64]
) -> Mean:
    """Return agreement with the truth, or an error rate, of a judge or of the consensus."""
    scale = consensus.scale
    judge, conditions = _judge_named(rest.split(":") if rest else [], consensus)
    if kind == "agreement" and conditions:
        raise BadSetting("target", name, "agreement, or agreement:JUDGE")
    if len(conditions) > 2:
        expected = "error:JUDGE, error:JUDGE:TRUTH or error:JUDGE:TRUTH:LABEL"
        raise BadSetting("target", name, expected)
    if judge is None:
        given = scale.stands.argmax(axis=1)[consensus.choice[items]]  # a label for each truth
    else:
        judgments = consensus.judgments
        rows = np.flatnonzero(judgments.judge == judge)
        items, first = np.unique(judgments.item[rows].astype(np.int64), return_index=True)
        given = judgments.label[rows[first]].astype(np.int64)  # the first label of each item
    same = scale.stands.T[given]
    topics = _topics(consensus, items)
    shared: dict[str, Any] = {"name": name, "bounds": (0.0, 1.0), "item": items, "topics": topics}
    if not conditions:
        right = same.astype(np.float64)
        return Mean(worth=right if kind == "agreement" else 1.0 - right, is_sum=True, **shared)
    under = np.zeros((len(items), len(scale.truths)))
    truth = _truth(scale, conditions[0])
    under[:, truth] = 1.0
    hit = ~same[:, truth]
    if len(conditions) == 2:
        code = scale.label_code(conditions[1])
        if code < 0:
            raise UnknownName("label", conditions[1], scale.labels)
        hit = given == code
    return Mean(worth=under * hit[:, None], of=under, is_ratio=True, **shared)


def _judge_named(parts: list[str], consensus: Consensus) -> tuple[int | None, list[str]]:
    """Return the judge that the first parts name, and the rest; names may have colons."""
    if not parts:
        return None, []
    judges = consensus.judgments.judges
    for end in range(len(parts), 0, -1):
        code = int(look_up([":".join(parts[:end])], judges)[0])
        if code >= 0:
            return code, parts[end:]
    raise UnknownName("judge", parts[0], judges.to_pylist())
