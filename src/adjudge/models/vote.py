"""Vote: votes weighted by what is known about the judges, cast by those whom every filter keeps.

    label(item) = argmax_c  sum_j  weight_j [y_j == c],   over the judges kept

H. J. Jung and M. Lease (2011), "Improving Consensus Accuracy via Z-score and Weighted Voting", AAAI
HCOMP: simple, single-feature and multi-feature votes, Z-score filters. And (2012), "Inferring
Missing Relevance Judgments from Crowd Workers via Probabilistic Matrix Factorization", SIGIR:
accuracy weights and filters, flipping of judges who are more often wrong than right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.source import count_of
from adjudge.engines.engine import Engine, Parameters
from adjudge.errors import BadData
from adjudge.kernels.fixed import SHARE
from adjudge.models.expectation import prior_counts, shares
from adjudge.models.model import Ties, conclude, prepare
from adjudge.models.settings import Fitted, Given, check_settings
from adjudge.models.weighting import (
    ACCURACY,
    Dropped,
    Filter,
    JudgeFeatures,
    Product,
    measure_features,
    parse_filter,
    parse_weight,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote(Fitted):
    """Votes weighted by features of the judges, after filters, as values or as text.

    ``flip`` reverses the labels of judges whose accuracy against gold is below one half (two
    labels only); their accuracy is then one minus it. ``shrink`` draws weights to the mean of the
    judges by that many pseudo-judgments (beyond the papers). ``priors`` are known shares of the
    labels, for the feature label-typicality. An item left with no kept judge falls back to the
    plain vote.
    """

    name: ClassVar[str] = "vote"

    weight: Product | str | None = None
    keep: Filter | str | None = None
    flip: bool = False
    shrink: float = 0.0
    priors: tuple[float, ...] | None = None
    weigh_copies: bool = True
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_settings(self)
        if isinstance(self.weight, str):
            object.__setattr__(self, "weight", parse_weight(self.weight))
        if isinstance(self.keep, str):
            object.__setattr__(self, "keep", parse_filter(self.keep))

    def _fit(self, given: Given) -> Consensus:
        prepared = prepare(*given[:3], by_topic=self.by_topic, copies=self.weigh_copies)
        table = prepared.judgments
        choice = self.choose(table, given.gold, prepared.engine)
        posterior, fallback, units = prepared.sweeps.weigh(*choice.units)
        counts = units / SHARE
        gamma = prior_counts(table.scale, 1.0)
        parameters = Parameters(
            prevalence=posterior.mean(axis=0, keepdims=True) if len(posterior) else gamma[:, :1].T,
            confusion=shares(counts, gamma),
        )
        if self.by_topic and table.topic is not None:
            prevalence = share_by_topic(posterior, table.topic, table.topic_count)
            parameters = replace(parameters, prevalence=prevalence)
        notes = list(choice.notes)
        if fallback.any():
            notes.append(
                f"{count_of(int(fallback.sum()), 'item')} had no kept judge: the plain vote counts"
            )
        consensus = conclude(
            self,
            prepared,
            parameters,
            posterior=posterior,
            counts=counts,
            votes=choice.units,
            notes=tuple(notes),
        )
        return replace(consensus, fallback=fallback, about_judges=choice.table())

    def choose(
        self, judgments: Judgments, gold: Gold | None, engine: Engine | None = None
    ) -> ChosenJudges:
        """Who votes, with what weight: from features that this gold gives."""
        names = list(self.weight.features) if isinstance(self.weight, Product) else []
        keep = None if isinstance(self.keep, str) else self.keep
        names += keep.features if keep is not None else ()
        if self.flip:
            names.append(ACCURACY)
        needed = tuple(dict.fromkeys(names))
        features = measure_features(
            judgments, gold, names=needed, priors=self.priors, seed=self.seed, engine=engine
        )
        return choose_judges(
            judgments,
            features,
            self.weight if isinstance(self.weight, Product) else None,
            keep,
            flip=self.flip,
            shrink=self.shrink,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ChosenJudges:
    """Who votes, and with what weight."""

    weight: NDArray[np.float64]  # (judge,) 0 for a judge who was dropped
    plain: NDArray[np.float64]  # (judge,) weights before the filter
    flipped: NDArray[np.bool_]  # (judge,)
    dropped: Dropped
    notes: tuple[str, ...]

    @property
    def units(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:  # (judge,)
        """Weights, plain weights and flips as sweeps take them: integers."""
        unit = 2.0**30 / max(float(self.plain.max(initial=0.0)), 1e-300)
        plain = np.maximum(np.rint(self.plain * unit).astype(np.int64), 1)
        return np.rint(self.weight * unit).astype(np.int64), plain, self.flipped

    def table(self) -> pa.Table:
        """Tabulate weight, kept, and the features by which a judge was dropped: a row per judge."""
        judges = len(self.weight)
        by = [
            "+".join(name for name, flags in self.dropped.by.items() if flags[j])
            for j in range(judges)
        ]
        out = np.array([bool(text) for text in by], dtype=np.bool_)
        return pa.table(
            {
                "weight": pa.array(self.plain),
                "kept": pa.array(~out),
                "dropped_by": pa.array(by, pa.large_string()),
                "flipped": pa.array(self.flipped),
            }
        )


def choose_judges(
    judgments: Judgments,
    features: JudgeFeatures,
    weight: Product | None,
    keep: Filter | None,
    *,
    flip: bool = False,
    shrink: float = 0.0,
) -> ChosenJudges:
    """Weights and kept judges from features; a filter that drops everybody is not applied."""
    judges = judgments.judge_count
    flipped = np.zeros(judges, dtype=np.bool_)
    if flip:
        features, flipped = _flip_features(judgments, features)
    plain = np.ones(judges) if weight is None else weight.weights(features, shrink)
    dropped = Dropped({}) if keep is None else keep.drop(features)
    out = np.zeros(judges, dtype=np.bool_)
    for flags in dropped.by.values():
        out |= flags
    notes = list(dropped.notes)
    if judges and out.all():
        notes.append(f"the filter {keep} drops every judge: it is not applied")
        out[:] = False
        dropped = Dropped({}, dropped.notes)
    elif keep is not None:
        notes.append(f"{int(out.sum()):,} of {count_of(judges, 'judge')} dropped by {keep}")
    notes += describe_flips(flipped)
    return ChosenJudges(np.where(out, 0.0, plain), plain, flipped, dropped, tuple(notes))


def _flip_features(
    judgments: Judgments, features: JudgeFeatures
) -> tuple[JudgeFeatures, NDArray[np.bool_]]:
    """Features with accuracies below one half reversed, and whose they are."""
    if len(judgments.scale.truths) != 2:
        raise BadData(
            f"only two labels can be flipped, and these are {judgments.scale}",
            expected="two labels",
        )
    accuracy = features[ACCURACY]
    wrong = np.nan_to_num(accuracy, nan=1.0) < 0.5
    values = dict(features.values)
    for name, found in features.values.items():
        if "accuracy-gold" in name:
            values[name] = np.where(wrong, 1.0 - found, found)
    return JudgeFeatures(values, features.counts), wrong


def describe_flips(flipped: NDArray[np.bool_]) -> list[str]:
    """Report how many judges are reversed, if any."""
    if not flipped.any():
        return []
    judges = count_of(int(flipped.sum()), "judge", "is", "are")
    return [f"{judges} more often wrong than right: turned round"]


def share_by_topic(
    posterior: NDArray[np.float64], topic: NDArray[np.int32], topics: int
) -> NDArray[np.float64]:  # (topic, truth)
    """The mean posterior of each topic."""
    sums = np.zeros((topics, posterior.shape[1]))
    np.add.at(sums, topic, posterior)
    return shares(sums, np.ones(posterior.shape[1]))
