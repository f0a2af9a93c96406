"""What a model of comparisons is, and all by name: read by the command line, tests and docs."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

from adjudge.data.comparisons import Comparisons
from adjudge.data.preferences import Preferences
from adjudge.models.model import Progress
from adjudge.models.pairs.baselines import Elo, WinRate
from adjudge.models.pairs.bradley_terry import BradleyTerry
from adjudge.models.pairs.crowd_bradley_terry import CrowdBradleyTerry
from adjudge.models.pairs.graded_bradley_terry import GradedBradleyTerry


@runtime_checkable
class PairModel(Protocol):
    """Settings, checked when made, and one method that turns comparisons into preferences."""

    name: ClassVar[str]

    def fit(self, comparisons: Comparisons, *, progress: Progress | None = None) -> Preferences:
        """Items by score, and judges by skill where the model knows them."""


PAIR_MODELS: dict[str, type[Any]] = {
    entry.name: entry
    for entry in (CrowdBradleyTerry, BradleyTerry, GradedBradleyTerry, WinRate, Elo)
}
