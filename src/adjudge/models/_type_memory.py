"""What a fit of item types learnt, kept to label other judgments by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.data.consensus import Consensus, Families
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.engines.engine import Engine, Parameters
from adjudge.models._calibration import Calibration
from adjudge.models._type_judges import FittedTypes, exact_sum, normalise
from adjudge.models._type_reading import (
    Meanings,
    count_left_out,
    count_said,
    fill_empty,
    prevalence_of,
    read_items,
    say_of,
    with_voices,
)
from adjudge.models.model import conclude, prepare

if TYPE_CHECKING:
    from adjudge.models.item_types import ItemTypes


@dataclass(frozen=True, slots=True, eq=False)
class TypesMemory:
    """What a fit learnt, called with other judgments."""

    model: ItemTypes
    fitted: Consensus
    engine: Engine
    types: tuple[FittedTypes, ...]
    meanings: Meanings
    calibration: Calibration | None

    def parameters(self, judgments: Judgments) -> tuple[list[Parameters], int]:
        """The parameters of each structure for other judges, and how many of them are new."""
        code = look_up(judgments.judges, self.fitted.judgments.judges)
        found = []
        for each in self.types:
            rates = np.concatenate([each.rates, each.typical[None]])[code]  # -1: the last
            prevalence = each.overall[None]
            known = self.fitted.judgments.topics
            if self.model.by_topic and judgments.topics is not None and known is not None:
                rows = np.concatenate([each.prevalence, each.overall[None]])
                prevalence = rows[look_up(judgments.topics, known)]
            given = Parameters(prevalence=prevalence, confusion=rates, of_types=True)
            found.append(given)
        return found, int((code < 0).sum())

    def __call__(self, judgments: Judgments) -> Consensus:
        """The consensus of other judgments under what was learnt."""
        if judgments.scale.labels != self.fitted.scale.labels:
            judgments = judgments.with_scale(self.fitted.scale)
        by_topic = self.model.by_topic and judgments.topics is not None
        model = replace(self.model, by_topic=by_topic)
        prepared = prepare(
            judgments,
            None,
            self.engine,
            by_topic=by_topic,
            repeats=True,
            families=self._families(judgments),
        )
        parameters, new = self.parameters(judgments)
        posterior = read_items(prepared, parameters, self.meanings, say_of(self.types))
        overall = self.fitted.overall_prevalence
        fill_empty(judgments, posterior, overall[None])
        if self.calibration is not None:
            self.calibration.for_judges(
                look_up(judgments.judges, self.fitted.judgments.judges)
            ).apply(prepared.spoken, prepared.voices, posterior)
        types = [
            replace(
                each,
                rates=given.confusion,
                prevalence=given.prevalence,
                counts=prepared.sweeps.expect(given).confusion,
            )
            for each, given in zip(self.types, parameters, strict=True)
        ]
        left_out = count_left_out(prepared, parameters)
        said = count_said(prepared, types, left_out, self.meanings)
        confusion = normalise(said.told + normalise(exact_sum(self.fitted.counts) + 1e-3))
        notes = (
            (f"{new:,} of {judgments.judge_count:,} judges are new: the population's confusion",)
            if new
            else ()
        )
        consensus = conclude(
            model,
            prepared,
            Parameters(
                prevalence=prevalence_of(judgments, posterior, by_topic=by_topic),
                confusion=confusion,
            ),
            posterior=posterior,
            counts=said.measured,
            notes=notes,
        )
        return with_voices(consensus, prepared, self.fitted.dependence, self)

    def _families(self, judgments: Judgments) -> Families:
        """The families of the fit, among the judges of other judgments."""
        found = self.fitted.families
        none = Families.none(judgments.judge_count)
        if found is None:
            return none
        code = look_up(judgments.judges, self.fitted.judgments.judges)
        seen = np.flatnonzero(code >= 0)
        family, share = none.family.copy(), none.share.copy()
        _, first, group = np.unique(
            found.family[code[seen]], return_index=True, return_inverse=True
        )
        family[seen] = seen[first][group]
        share[seen] = found.share[code[seen]]
        return replace(none, family=family, share=share)
