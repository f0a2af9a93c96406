"""Memory: labels for other judgments, from what a fit learnt of judges and prevalence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus, Families
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.engines.engine import Engine, Parameters
from adjudge.errors import BadData
from adjudge.kernels.fixed import SHARE
from adjudge.models.model import conclude, prepare


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """A fitted model's memory, called with other judgments (Liu and Wang 2012, section 4).

    A judge who is not in the fit gets ``population``, the confusion of all judges together; a topic
    that is not gets the prevalence of all items together. Families of judges are those of the fit.
    The memory of a vote is ``votes``, and a judge who is not in the fit gets the mean weight.
    ``like_fit`` says whether probabilities are made as in the fit: only then can a calibration
    learnt from the fit be applied to them.
    """

    model: Any
    fitted: Consensus
    engine: Engine
    population: NDArray[np.float64] | None = None  # (truth, label)
    votes: tuple[NDArray[Any], ...] | None = None  # (judge,) weights, plain weights, flips
    like_fit: bool = True

    def __call__(self, judgments: Judgments) -> Consensus:
        """The consensus of other judgments under what was learnt."""
        fitted = self.fitted
        if judgments.scale.labels != fitted.scale.labels:
            judgments = judgments.with_scale(fitted.scale)
        confusion = fitted.confusion
        code = look_up(judgments.judges, fitted.judgments.judges)
        unseen = 0
        if len(confusion) == fitted.judgments.judge_count and not self._shared:
            every = np.concatenate([confusion, self._population[None]])
            unseen = int((code < 0).sum())
            confusion = every[code]  # -1 is the last: the population
        prevalence, by_topic = self._prevalence(judgments)
        prepared = prepare(
            judgments,
            None,
            self.engine,
            by_topic=by_topic,
            shared=self._shared,
            families=families_among(fitted.families, code),
        )
        parameters = Parameters(prevalence=prevalence, confusion=confusion)
        posterior = counts = None
        given = "the population's confusion"
        if self.votes is not None:
            weight, plain, flipped = self.votes
            mean = round(float(plain.mean())) if len(plain) else 1
            units = (np.append(weight, mean), np.append(plain, mean), np.append(flipped, False))
            posterior, _, shares = prepared.sweeps.weigh(*(unit[code] for unit in units))
            counts, given = shares / SHARE, "the mean weight"
        notes = (f"{unseen:,} of {len(code):,} judges are new: {given}",) if unseen else ()
        labels = conclude(
            self.model, prepared, parameters, posterior=posterior, counts=counts, notes=notes
        )
        return replace(labels, predictor=self)

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


def families_among(
    families: Families | None,
    code: NDArray[np.int32],  # (judge,) of the fit, -1 for a new one
) -> Families:
    """The families of a fit among other judges; new judges have none."""
    none = Families.none(len(code))
    if families is None:
        return none
    seen = np.flatnonzero(code >= 0)
    family, share, declared = none.family.copy(), none.share.copy(), none.declared.copy()
    _, first, group = np.unique(families.family[code[seen]], return_index=True, return_inverse=True)
    family[seen] = seen[first][group]
    share[seen], declared[seen] = families.share[code[seen]], families.declared[code[seen]]
    return replace(none, family=family, share=share, declared=declared)
