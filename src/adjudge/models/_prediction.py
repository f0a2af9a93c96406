"""Memory: labels for other judgments, from the prevalence and confusion that a fit learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.engines.engine import Engine, Parameters
from adjudge.errors import BadData
from adjudge.models.model import conclude, prepare


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """A fitted model's memory, called with other judgments (Liu and Wang 2012, section 4).

    A judge who was not in the fit gets ``population``, the confusion of all judges together; a
    topic that was not gets the prevalence of all items together.
    """

    model: Any
    fitted: Consensus
    engine: Engine
    population: NDArray[np.float64] | None = None  # (truth, label)

    def __call__(self, judgments: Judgments) -> Consensus:
        """The consensus of other judgments under what was learnt."""
        fitted = self.fitted
        if judgments.scale.labels != fitted.scale.labels:
            judgments = judgments.with_scale(fitted.scale)
        confusion = fitted.confusion
        unseen = 0
        if len(confusion) == fitted.judgments.judge_count and not self._shared:
            every = np.concatenate([confusion, self._population[None]])
            code = look_up(judgments.judges, fitted.judgments.judges)
            unseen = int((code < 0).sum())
            confusion = every[code]  # -1 is the last: the population
        prevalence, by_topic = self._prevalence(judgments)
        prepared = prepare(
            judgments,
            None,
            self.engine,
            by_topic=by_topic,
            shared=self._shared,
            copies=bool(getattr(self.model, "weigh_copies", False)),
        )
        parameters = Parameters(prevalence=prevalence, confusion=confusion)
        notes = (
            (f"{unseen:,} of {judgments.judge_count:,} judges are new: the population's confusion",)
            if unseen
            else ()
        )
        return conclude(self.model, prepared, parameters, population=self._population, notes=notes)

    @property
    def _shared(self) -> bool:
        return bool(getattr(self.model, "shared", False))

    @property
    def _population(self) -> NDArray[np.float64]:  # (truth, label)
        if self.population is not None:
            return self.population
        return np.asarray(self.fitted.confusion.mean(axis=0))

    def _prevalence(self, judgments: Judgments) -> tuple[NDArray[np.float64], bool]:
        """The prevalence of each topic of the other judgments, as far as it is known."""
        fitted = self.fitted
        known = fitted.judgments.topics
        if not getattr(self.model, "by_topic", False) or judgments.topics is None or known is None:
            if len(fitted.prevalence) == 1:
                return fitted.prevalence, False
            return fitted.overall_prevalence[None], False
        if len(fitted.prevalence) != len(known):
            raise BadData("the fit has no prevalence by topic to predict with")
        every = np.concatenate([fitted.prevalence, fitted.overall_prevalence[None]])
        return every[look_up(judgments.topics, known)], True
