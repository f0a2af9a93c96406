"""The arms of an experiment, for the requester."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.collect.experiments.arms import arm_warnings, read_stored_arms, set_arms
from adjudge.collect.experiments.report import report_arms
from adjudge.collect.gold.keeping import arm_gold_warnings
from adjudge.collect.services.caller import Caller
from adjudge.collect.values.arms import ArmReport
from adjudge.collect.values.project import Arm
from adjudge.data.gold import Gold

if TYPE_CHECKING:
    from adjudge.models.model import Model


@dataclass(frozen=True, slots=True)
class ArmService:
    """What a requester can do with the arms of a project."""

    caller: Caller

    def get_all(self, slug: str) -> tuple[Arm, ...]:
        """The arms of the project's experiment, in their order."""
        with self.caller.reading(slug) as request:
            return read_stored_arms(request.on, request.project.id)

    def set_all(self, slug: str, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        """Make these the arms; once a judge has come they can only be added to.

        Refused: ``arms-fixed``.
        """
        return self.caller.write(slug, lambda request: set_arms(request, arms), lock=True)

    def report(
        self,
        slug: str,
        *,
        test: Gold | None = None,
        models: Sequence[Model] = (),
        resamples: int = 1000,
        seed: int = 0,
    ) -> ArmReport:
        """Funnel, judges and aggregates by arm, with intervals and tests of difference.

        Measured against the project's gold, or against ``test``; by majority vote and ``models``.
        """
        with self.caller.reading(slug) as request:
            return report_arms(request, test=test, models=models, resamples=resamples, seed=seed)

    def get_warnings(self, slug: str) -> list[str]:
        """What is wrong with the arms: too few judgments for each, a training mix that leans."""
        with self.caller.reading(slug) as request:
            return [*arm_warnings(request.project), *arm_gold_warnings(request.project)]
