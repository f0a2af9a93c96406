"""Pmf: what every judge would have said of every item, and a vote of them all.

    minimise  1/2 sum_observed (R_ij - U_i . V_j)^2 + lambda/2 |U|^2 + lambda/2 |V|^2
    label(item) = argmax_c  sum_j  weight_j [label of (mean + U_i . V_j) == c],   over all judges

H. J. Jung and M. Lease (2012), "Inferring Missing Relevance Judgments from Crowd Workers via
Probabilistic Matrix Factorization", SIGIR. The completed labels take the place of those that judges
gave, too. With gold, judges may be weighed by the accuracy of their completed labels, those of
accuracy below ``alpha`` left out, and those below one half reversed.

It departs from the paper in how a completed number becomes a label (``cut``, see
``adjudge.models.completion``), in a stronger default regularisation, and in solving by alternating
least squares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.engines.engine import Engine, Parameters
from adjudge.engines.threads import ThreadsEngine
from adjudge.errors import BadSetting
from adjudge.models._factorisation import (
    ITERATIONS,
    RANKS,
    REGULARISATIONS,
    FitPlan,
    Tried,
    check_plan,
    choose_rank,
    factorise,
)
from adjudge.models._notes import describe_unconverged
from adjudge.models._sparse import sparse_of
from adjudge.models.completion import Cut, Factors
from adjudge.models.expectation import prior_counts, shares
from adjudge.models.model import (
    Prepared,
    Progress,
    Ties,
    conclude,
    count_judgments,
    prepare,
    put_gold,
)
from adjudge.models.settings import Fitted, Given, check_settings
from adjudge.models.vote import ChosenJudges, choose_judges, share_by_topic
from adjudge.models.weighting import (
    ACCURACY,
    AccuracyFilter,
    Dropped,
    Feature,
    JudgeFeatures,
)

_RANK = 30  # published
_Auto = Literal["auto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pmf(Fitted):
    """A vote of all judges on all items, after matrix factorisation has filled in what is missing.

    ``rank`` and ``regularisation`` may be "auto": chosen by cross-validation over the judgments.
    ``rank`` None is 30, or the smaller side of the matrix where that is less. ``weights`` and
    ``alpha`` use gold: judges weigh as much as their completed labels are accurate, those below
    ``alpha`` are left out; ``flip`` then reverses, of two truths, those below one half.
    """

    name: ClassVar[str] = "pmf"

    rank: int | _Auto | None = None
    regularisation: float | _Auto = 2.0
    iterations: int = ITERATIONS
    tolerance: float = 1e-3
    cut: Cut = "spread"
    weights: bool = False
    alpha: float | None = None
    flip: bool = True
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_settings(self)
        for name in ("rank", "regularisation"):
            value = getattr(self, name)
            if isinstance(value, str) and value != "auto":
                raise BadSetting(name, value, "a number or auto")
        check_plan(self._plan(1))
        if self.alpha is not None and not 0 <= self.alpha <= 1:
            raise BadSetting("alpha", self.alpha, "an accuracy between 0 and 1")

    def _plan(self, most: int) -> FitPlan:
        """How to fit, on a matrix whose smaller side is ``most``; "auto" not yet decided."""
        rank = self.rank if isinstance(self.rank, int) else min(_RANK, most)
        ridge = 1.0 if isinstance(self.regularisation, str) else self.regularisation
        return FitPlan(
            rank=rank,
            regularisation=ridge,
            iterations=self.iterations,
            tolerance=self.tolerance,
            seed=self.seed,
        )

    def factors(
        self,
        judgments: Judgments,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> Factors:
        """The factors of judgments: they complete, vote, and recommend who should judge what."""
        threads = (engine if engine is not None else ThreadsEngine()).threads
        matrix = sparse_of(judgments)
        plan = self._plan(max(1, min(matrix.shape)))
        if "auto" in (self.rank, self.regularisation):
            plan = self.try_ranks(judgments, engine=engine, progress=progress)[0]
        fit = factorise(matrix, plan, threads=threads, progress=progress)
        return Factors.of(judgments, matrix, plan, fit, self.cut)

    def try_ranks(
        self,
        judgments: Judgments,
        *,
        ranks: tuple[int, ...] | None = None,
        regularisations: tuple[float, ...] | None = None,
        folds: int = 5,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> tuple[FitPlan, tuple[Tried, ...]]:
        """The plan with what is "auto" chosen by cross-validation, and all that was tried for it.

        Ranks and regularisations that are given are tried, whatever the settings say.
        """
        matrix = sparse_of(judgments)
        plan = self._plan(max(1, min(matrix.shape)))
        free = self.regularisation == "auto"
        return choose_rank(
            matrix,
            plan,
            ranks=ranks or (RANKS if self.rank == "auto" else (plan.rank,)),
            regularisations=regularisations
            or (REGULARISATIONS if free else (plan.regularisation,)),
            folds=folds,
            threads=(engine if engine is not None else ThreadsEngine()).threads,
            progress=progress,
        )

    def _fit(self, given: Given) -> Consensus:
        prepared = prepare(*given[:3], by_topic=self.by_topic, copies=False)
        factors = self.factors(prepared.judgments, engine=prepared.engine, progress=given.progress)
        return self.vote(prepared, factors)

    def vote(self, prepared: Prepared, factors: Factors) -> Consensus:
        """The consensus that fitted factors give, whoever fitted them."""
        table, known = prepared.judgments, prepared.known
        threads = prepared.engine.threads
        chosen, nobody = self._choose(factors, known, threads)
        posterior = factors.votes(chosen.weight, chosen.flipped, threads=threads)
        put_gold(posterior, known)
        counts, gamma = count_judgments(table, posterior), prior_counts(table.scale, 1.0)
        topic, topics = np.zeros(table.item_count, dtype=np.int32), 1
        if self.by_topic and table.topic is not None:
            topic, topics = table.topic, table.topic_count
        parameters = Parameters(
            prevalence=share_by_topic(posterior, topic, topics),
            confusion=shares(counts, gamma),
        )
        consensus = conclude(
            self,
            prepared,
            parameters,
            posterior=posterior,
            counts=counts,
            trace=tuple(-value for value in factors.objective),
            converged=factors.converged,
            population=shares(counts.sum(axis=0) + gamma, gamma),
            like_fit=False,
            notes=(_how(factors), *chosen.notes),
        )
        fallback = np.full(len(posterior), nobody)
        if known is not None:
            fallback &= known < 0
        return replace(consensus, fallback=fallback, about_judges=chosen.table())

    def _choose(
        self, factors: Factors, known: NDArray[np.int16] | None, threads: int
    ) -> tuple[ChosenJudges, bool]:
        """Who votes, with what weight, and whether the filter left nobody, so that all do."""
        judges = factors.judgments.judge_count
        every, none = np.ones(judges), np.zeros(judges, dtype=np.bool_)
        if not self.weights and self.alpha is None:
            return ChosenJudges(every, every, none, Dropped({}), ()), False
        if known is None:
            known = np.full(len(factors.items), -1, dtype=np.int16)
        accuracy, items = factors.accuracy(known, threads=threads)
        if not items:
            name = "weights" if self.weights else "alpha"
            raise BadSetting(
                name, getattr(self, name), "gold to measure accuracy by: no judged item has any"
            )
        accuracy = np.where(np.isnan(accuracy), np.nanmean(accuracy), accuracy)
        features = JudgeFeatures({ACCURACY: accuracy}, {ACCURACY: np.full(judges, float(items))})
        keep = None if self.alpha is None else AccuracyFilter(alpha=self.alpha)
        chosen = choose_judges(
            factors.judgments,
            features,
            Feature(ACCURACY) if self.weights else None,
            keep,
            flip=self.flip and len(factors.judgments.scale.truths) == 2,
        )
        return chosen, keep is not None and not chosen.dropped.by


def _how(factors: Factors) -> str:
    """A sentence on the fit."""
    plan, done = factors.plan, len(factors.objective)
    rank = f"rank {plan.rank}, regularisation {plan.regularisation:g}"
    if not factors.converged:
        return f"{rank}: {describe_unconverged(done)}"
    return f"{rank}: converged after {done} iterations (objective {factors.objective[-1]:,.1f})"
