"""Measures of runs as targets: the value of one run, or of A minus B, over topics.

What an item's truth adds is the mean of the measure with that truth, over draws of all other truths
from what is believed of them: the first part of its Hoeffding expansion. Of P@k it is all there is,
of nDCG nearly all, of AP most; the rest is measured over the same draws and widens the interval.
Draws are of whole topics too (``levels``), since the best that a topic could have is not what its
items have on average.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.runs import Run, distinct_names
from adjudge.errors import BadSetting, UnknownName
from adjudge.evaluation._pool import DRAWN, Pool, Unjudged, build_pool, judged_at
from adjudge.evaluation._retrieval import RetrievalMeasure, parse_measures
from adjudge.evaluation.estimation._expansion import Expansion
from adjudge.evaluation.estimation._levels import Levels
from adjudge.evaluation.estimation._targets import Mean

_Floats = NDArray[np.float64]
_MEASURES = ("AP", "Bpref", "nDCG", "P", "R", "RBP", "RR", "Rprec", "Success")
_NORMALISED = ("nDCG", "AP", "R", "Rprec", "Bpref")
_DRAWS = 32  # of the truths around which a measure is expanded


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankingTarget:
    """A measure of a run, or the difference of two, as the mean over topics."""

    name: str
    bounds: tuple[float, float]
    item: NDArray[np.int64]  # (member,)
    topics: NDArray[np.int64]  # (member,)
    measure: RetrievalMeasure
    pool: Pool
    sign: _Floats  # (system,)
    judged: dict[str, float]  # of each run's places that count, the share that is judged
    draws: int = _DRAWS
    seed: int = 0
    by_topic: bool = True

    @property
    def is_sum(self) -> bool:
        """Only as far as the expansion goes."""
        return False

    @property
    def is_normalised(self) -> bool:
        """Whether the measure knows how many relevant documents there are."""
        return self.measure.of.NAME in _NORMALISED

    def strata(self) -> NDArray[np.int64]:  # (member,)
        """1 for documents in a place that counts, 0 for others, which count little if at all."""
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
        at: float | None,  # noqa: ARG002 - as others
        levels: Levels | None = None,
    ) -> Expansion:
        """The measure over draws from the beliefs, and what each truth of a document adds."""
        truths, belief = _draw(belief, self.draws, self.seed, levels, self.topics)
        topics = len(self.pool.topics)
        adds = self.measure.flips(self.pool, truths, self.sign) / topics
        each = np.einsum("dst,s->dt", self.measure.values(self.pool, truths), self.sign) / topics
        expected = np.einsum("ik,ik->i", belief, adds)
        drawn = adds[np.arange(len(adds)), truths.astype(np.int64)] - expected  # (draw, member)
        # Draws differ from beliefs by what single items explain, which is known: taken away.
        of_topic = each - np.stack([np.bincount(self.topics, row, topics) for row in drawn])
        left = of_topic.sum(axis=1)
        rest = float(left.var(ddof=1)) * (1 + 1 / len(left))
        return Expansion(
            value=float(left.mean()),
            adds=adds,
            rest=rest,
            around=belief,
            of_topic=of_topic.mean(axis=0),
            share=np.full(topics, 1 / topics),
        )


Target = Mean | RankingTarget  # what is to be estimated, about the items of a population


def _draw(
    belief: _Floats,  # (member, truth)
    draws: int,
    seed: int,
    levels: Levels | None,
    topics: NDArray[np.int64],  # (member,)
) -> tuple[NDArray[np.int16], _Floats]:  # (draw, member), (member, truth)
    """Truths drawn from beliefs, each item's spread evenly over the draws; and what they believe.

    With levels, every draw first moves the beliefs of whole topics; what is known stays.
    """
    random = np.random.default_rng([seed, 11])
    steps = (np.arange(draws)[:, None] + random.random((draws, len(belief)))) / draws
    steps = random.permuted(steps, axis=0)
    found = np.zeros(steps.shape, dtype=np.int16)
    if levels is None:
        edges = np.cumsum(belief, axis=1)
        edges /= edges[:, -1:]
        for k in range(belief.shape[1] - 1):
            found += steps > edges[:, k]
        return found, belief
    mean = np.zeros_like(belief)
    for number, level in enumerate(levels.draw(draws, random)):
        moved = belief * np.exp(level)[topics]
        moved /= moved.sum(axis=1, keepdims=True)
        mean += moved / draws
        edges = np.cumsum(moved, axis=1)
        for k in range(belief.shape[1] - 1):
            found[number] += steps[number] > edges[:, k]
    return found, mean


def ranking_target(
    name: str,
    consensus: Consensus,
    judged: NDArray[np.bool_],  # (item,)
    runs: Sequence[Run],
    unjudged: Unjudged,
    seed: int,
) -> RankingTarget:
    """The target of that name for one run or two."""
    if not runs and re.split(r"[@(]", name)[0] not in _MEASURES:
        raise UnknownName("target", name, ("mean-grade", "share", "agreement", "error", *_MEASURES))
    if not 1 <= len(runs) <= 2:
        wanted = "one run, or two whose difference is wanted, such as --run A --run B"
        raise BadSetting("--run", None if not runs else f"{len(runs)} runs", wanted)
    if unjudged in DRAWN:
        wanted = (
            "not-relevant or condensed: what is filled in is no estimate ('adjudge rank' fills in)"
        )
        raise BadSetting("unjudged", unjudged, wanted)
    runs = distinct_names(runs)
    scale = consensus.scale
    (measure,) = parse_measures([name], scale)
    if not measure.quick:
        raise BadSetting("target", name, f"{', '.join(_MEASURES[:-1])} or {_MEASURES[-1]}")
    pool = build_pool(consensus.judgments, judged, runs, unjudged)
    sign = np.array([1.0, -1.0][: len(runs)])
    label = name if len(runs) == 1 else f"{name} of {runs[0].name} minus {runs[1].name}"
    return RankingTarget(
        name=label,
        bounds=(0.0, 1.0) if len(runs) == 1 else (-1.0, 1.0),
        item=pool.item,
        topics=pool.topic.astype(np.int64),
        measure=measure,
        pool=pool,
        sign=sign,
        judged=dict(
            zip(
                pool.systems,
                judged_at(consensus.judgments, judged, runs, measure.cutoff).tolist(),
                strict=True,
            )
        ),
        seed=seed,
    )
