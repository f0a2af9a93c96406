"""SingleConfusion: one confusion matrix that all judges share, fitted by EM.

    z_i ~ Categorical(pi);    y_ij ~ Categorical(theta[z_i, :])

C. Liu and Y.-M. Wang (2012), "TrueLabel + Confusions: a spectrum of probabilistic models in
analyzing multiple ratings", ICML, Algorithm 2. It cannot tell a good judge from a bad one; its use
is as the other end of the spectrum from Dawid-Skene, and where judges have very few judgments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.engines.engine import Engine
from adjudge.models.expectation import check_limits, fit_points
from adjudge.models.model import Progress, Ties, check_ties


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleConfusion:
    """One confusion matrix for all judges, free, by maximum likelihood.

    ``diagonal`` shapes only the start, as in ``DawidSkene``. The table of judges still speaks of
    each judge: her counts are against the truth that the shared matrix gives.
    """

    name: ClassVar[str] = "single-confusion"
    shared: ClassVar[bool] = True

    iterations: int = 500
    tolerance: float = 1e-6
    diagonal: float = 3.0
    weigh_copies: bool = True
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_limits(self.iterations, self.tolerance, self.diagonal)
        check_ties(self.ties)

    def fit(
        self,
        judgments: Judgments,
        gold: Gold | None = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> Consensus:
        """The consensus of judgments, with gold where it is known."""
        return fit_points(self, judgments, gold, engine, progress)
