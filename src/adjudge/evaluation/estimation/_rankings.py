"""Measures of runs as targets: the value of one run, or of A minus B, over topics.

What an item's truth adds is the mean of the measure with that truth, over draws of all other truths
from the beliefs: the first part of its Hoeffding expansion. For P@k it is everything, for nDCG
nearly everything, for AP most; the rest is measured over the same draws and widens the interval.
Draws are of entire topics too (``levels``), since the best that a topic could have is not what its
items have on average.

Beliefs about items are right on average, but all items of a topic may be better than believed, or
worse. That does not change a mean, but it changes the best ranking of a topic: ten items of the
highest grade are enough for it, and topics without them are not balanced by topics with many. So
each topic is given a level for each truth,

    p(i, k) ~ belief(i, k) exp(u[t(i), k]),    u[t, k] ~ N(0, tau^2),

with the tau of most evidence (Laplace's approximation), learnt from gold that had no part in its
own items' beliefs. Truths are drawn with drawn levels.

Where gold was drawn for a ranking, most of it is of documents that runs rank high. What is learnt
from these, that their truth is higher than judges say, does not hold for all the others, of which
the best ranking of a topic is made. So ``by_kind`` moves the beliefs of each kind of document h, in
a place that counts or not, by its own gold,

    p(i, k) ~ belief(i, k) exp(v[h(i), k]),    v[h, k] ~ N(0, 2^2),

for a gold item by the gold of other folds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.runs import Run, distinct_names
from adjudge.errors import BadSetting, UnknownName
from adjudge.evaluation._pool import DRAWN, Pool, Unjudged, build_pool, judged_at
from adjudge.evaluation._retrieval import RetrievalMeasure, parse_measures
from adjudge.evaluation.estimation._sampling import Sample
from adjudge.evaluation.estimation._targets import PLAIN, Expansion, Target

_Floats = NDArray[np.float64]
_MEASURES = ("AP", "Bpref", "nDCG", "P", "R", "RBP", "RR", "Rprec", "Success")
_NORMALISED = ("nDCG", "AP", "R", "Rprec", "Bpref")
_DRAWS = 32  # of the truths around which a measure is expanded
_WIDE = 2.0  # sd of a move: wide, so that a few gold items decide
_SPREADS = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5)  # tau
_STEPS = 30
_FAR = 2.0  # longest step: if all gold contradicts beliefs, the curvature is too small
_CLOSE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankingTarget(Target):
    """A measure of a run, or the difference of two, as the mean over topics."""

    topics: NDArray[np.int64]  # (member,)
    measure: RetrievalMeasure
    pool: Pool
    sign: _Floats  # (system,)
    draws: int = _DRAWS
    seed: int = 0

    def strata(self) -> NDArray[np.int64]:  # (member,)
        """Return 1 for documents in a place that counts, 0 for others, which count little."""
        counted = np.zeros(len(self.item), dtype=np.int64)
        starts = np.repeat(
            np.tile(self.pool.begins[:-1], len(self.sign)), np.diff(self.pool.starts)
        )
        high = self.pool.place <= self.measure.cutoff
        counted[(starts + self.pool.entry)[high]] = 1
        return counted

    def expand(
        self,
        belief: _Floats,
        at: float | None,  # noqa: ARG002 - as for other targets
        levels: Any = None,
    ) -> Expansion:
        """Measure over draws from the beliefs, and find what each truth of a document adds."""
        truths, belief = _draw(belief, self.draws, self.seed, levels, self.topics)
        topics = len(self.pool.topics)
        adds = self.measure.flips(self.pool, truths, self.sign) / topics
        each = np.einsum("dst,s->dt", self.measure.values(self.pool, truths), self.sign) / topics
        expected = np.einsum("ik,ik->i", belief, adds)
        drawn = adds[np.arange(len(adds)), truths.astype(np.int64)] - expected  # (draw, member)
        # Draws differ from beliefs by what single items explain, which is known: take it away.
        of_topic = each - np.stack([np.bincount(self.topics, row, topics) for row in drawn])
        left = of_topic.sum(axis=1)
        return Expansion(
            value=float(left.mean()),
            adds=adds,
            rest=float(left.var(ddof=1)) * (1 + 1 / len(left)),
            around=belief,
            of_topic=of_topic.mean(axis=0),
            share=np.full(topics, 1 / topics),
        )


def ranking_target(
    name: str,
    consensus: Consensus,
    judged: NDArray[np.bool_],  # (item,)
    runs: Sequence[Run],
    unjudged: Unjudged,
    seed: int,
) -> RankingTarget:
    """Return the target of that name for one run or two."""
    if not runs and re.split(r"[@(]", name)[0] not in _MEASURES:
        raise UnknownName("target", name, (*PLAIN, *_MEASURES))
    if not 1 <= len(runs) <= 2:
        expected = "one run, or two for their difference"
        raise BadSetting("runs", f"{len(runs)} runs" if runs else None, expected)
    if unjudged in DRAWN:
        expected = "not-relevant or condensed, since filled-in documents give no estimate"
        raise BadSetting("unjudged", unjudged, expected)
    runs = distinct_names(runs)
    (measure,) = parse_measures([name], consensus.scale)
    if not measure.quick:
        raise BadSetting("target", name, f"{', '.join(_MEASURES[:-1])} or {_MEASURES[-1]}")
    pool = build_pool(consensus.judgments, judged, runs, unjudged)
    shares = judged_at(consensus.judgments, judged, runs, measure.cutoff)
    label = name if len(runs) == 1 else f"{name} of {runs[0].name} minus {runs[1].name}"
    return RankingTarget(
        name=label,
        bounds=(0.0, 1.0) if len(runs) == 1 else (-1.0, 1.0),
        item=pool.item,
        topics=pool.topic.astype(np.int64),
        measure=measure,
        pool=pool,
        sign=np.array([1.0, -1.0][: len(runs)]),
        is_normalised=measure.of.NAME in _NORMALISED,
        notes=tuple(pool.notes),
        judged=dict(zip(pool.systems, shares.tolist(), strict=True)),
        seed=seed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """What gold says of each topic's levels: their means, and roots of their covariances."""

    mean: _Floats  # (topic, truth)
    root: _Floats  # (topic, truth, truth)

    def draw(self, draws: int, random: np.random.Generator) -> _Floats:  # (draw, topic, truth)
        """Draw levels; each second draw mirrors the one before."""
        half = random.normal(size=((draws + 1) // 2, *self.mean.shape))
        both = np.stack([half, -half], axis=1).reshape(-1, *self.mean.shape)[:draws]
        return np.asarray(self.mean + np.einsum("tkl,dtl->dtk", self.root, both))


def _draw(
    belief: _Floats,  # (member, truth)
    draws: int,
    seed: int,
    levels: Levels | None,
    topics: NDArray[np.int64],  # (member,)
) -> tuple[NDArray[np.int16], _Floats]:  # (draw, member), (member, truth)
    """Draw truths from beliefs, each item's spread evenly over the draws; return mean beliefs too.

    With levels, every draw first moves the beliefs of entire topics; gold stays.
    """
    random = np.random.default_rng([seed, 11])
    steps = (np.arange(draws)[:, None] + random.random((draws, len(belief)))) / draws
    steps = random.permuted(steps, axis=0)
    found = np.zeros(steps.shape, dtype=np.int16)
    mean = belief if levels is None else np.zeros_like(belief)
    moves = [None] * draws if levels is None else levels.draw(draws, random)
    for number, level in enumerate(moves):
        moved = _shares(belief if level is None else belief * np.exp(level)[topics])
        if level is not None:
            mean += moved / draws
        edges = np.cumsum(moved, axis=1)
        found[number] = (steps[number][:, None] > edges[:, :-1]).sum(axis=1)
    return found, mean


def by_kind(
    belief: _Floats,  # (member, truth) of gold items, made without their own gold
    kind: NDArray[np.int64],  # (member,)
    sample: Sample,
    *,
    folds: int,
    seed: int,
) -> _Floats:  # (member, truth)
    """Move the beliefs of each kind by what its gold says."""
    own = _shares(np.maximum(belief, _CLOSE))
    known = np.eye(belief.shape[1])[sample.truth]
    fold = np.random.default_rng([seed, 13]).permutation(len(sample)) % folds
    found = own.copy()
    for part in range(-1, folds):  # all members by all gold, then gold items by other folds' gold
        members = np.arange(len(own)) if part < 0 else sample.item[fold == part]
        by = fold != part
        at = sample.item[by]
        _, levels = _fitted(own[at], known[by], kind[at], int(kind.max()) + 1, _WIDE)
        found[members] = _shares(own[members] * np.exp(levels.mean)[kind[members]])
    return found


def _shares(weights: _Floats) -> _Floats:  # (member, truth)
    """Return rows that sum to 1."""
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def levels_of(
    belief: _Floats,  # (gold, truth) made without the item's own gold
    topic: NDArray[np.int64],  # (gold,)
    truth: NDArray[np.int16],  # (gold,)
    topics: int,
) -> Levels | None:
    """Return the levels that gold suggests; None where topics differ no more than believed."""
    own = _shares(np.maximum(belief, _CLOSE))
    known = np.eye(belief.shape[1])[truth]
    best, found = float(np.log((own * known).sum(axis=1)).sum()), None
    for tau in _SPREADS:
        evidence, levels = _fitted(own, known, topic, topics, tau)
        if evidence > best:
            best, found = evidence, levels
    return found


# Not scipy.optimize: topics are independent, and one step solves all of them at once.
def _fitted(
    own: _Floats, known: _Floats, topic: NDArray[np.int64], topics: int, tau: float
) -> tuple[float, Levels]:
    """Return the log evidence of a spread, and its levels, by Newton's method."""
    truths = own.shape[1]
    prior = np.eye(truths) / tau**2
    level = np.zeros((topics, truths))
    bend = np.broadcast_to(prior, (topics, truths, truths))
    for _ in range(_STEPS):
        p = _shares(own * np.exp(level[topic]))
        slope = -level / tau**2
        np.add.at(slope, topic, known - p)
        each = np.einsum("ik,kl->ikl", p, np.eye(truths)) - np.einsum("ik,il->ikl", p, p)
        bend = np.zeros((topics, truths, truths))
        np.add.at(bend, topic, each)
        bend += prior
        step = np.clip(np.linalg.solve(bend, slope[:, :, None])[:, :, 0], -_FAR, _FAR)
        level = level + step
        if np.abs(step).max() < _CLOSE:
            break
    p = own * np.exp(level[topic])
    evidence = float(np.log((p * known).sum(axis=1) / p.sum(axis=1)).sum())
    evidence -= 0.5 * float((level**2).sum()) / tau**2
    evidence -= topics * truths * float(np.log(tau))
    evidence -= 0.5 * float(np.linalg.slogdet(bend)[1].sum())
    return evidence, Levels(level, np.linalg.cholesky(np.linalg.inv(bend)))
