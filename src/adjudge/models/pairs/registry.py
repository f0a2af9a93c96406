"""The models of comparisons by their names: read by the command line, the tests and the docs."""

from __future__ import annotations

from typing import Any

from adjudge.models.pairs.baselines import Elo, WinRate
from adjudge.models.pairs.bradley_terry import BradleyTerry
from adjudge.models.pairs.crowd_bradley_terry import CrowdBradleyTerry
from adjudge.models.pairs.graded_bradley_terry import GradedBradleyTerry

PAIR_MODELS: dict[str, type[Any]] = {
    entry.name: entry
    for entry in (CrowdBradleyTerry, BradleyTerry, GradedBradleyTerry, WinRate, Elo)
}
