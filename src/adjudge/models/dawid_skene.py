"""Dawid-Skene: every judge has a confusion matrix of their own, fitted by EM.

    z_i ~ Categorical(pi);    y_ij ~ Categorical(theta_j[z_i, :])

A. P. Dawid and A. M. Skene (1979), "Maximum likelihood estimation of observer error-rates using the
EM algorithm", Applied Statistics 28(1), 20-28, doi:10.2307/2346806; as Algorithm 1 of C. Liu and
Y.-M. Wang (2012), "TrueLabel + Confusions", ICML. Beyond them: gold fixes the truth of some items,
each topic may have its own prevalence, and truths may be fewer than labels.

SingleConfusion: one confusion matrix that all judges share, fitted by EM.

    z_i ~ Categorical(pi);    y_ij ~ Categorical(theta[z_i, :])

C. Liu and Y.-M. Wang (2012), "TrueLabel + Confusions: a spectrum of probabilistic models in
analyzing multiple ratings", ICML, Algorithm 2. It cannot separate good judges from bad ones; it is
useful as the other end of the spectrum from Dawid-Skene, and where judges have very few judgments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adjudge.data.consensus import Consensus
from adjudge.models.expectation import fit_points
from adjudge.models.model import Ties
from adjudge.models.settings import Fitted, Given, Shares


@dataclass(frozen=True, slots=True, kw_only=True)
class DawidSkene(Fitted):
    """A confusion matrix for each judge, free, by maximum likelihood.

    ``diagonal`` shapes only the start: vote counts plus this many pseudo-counts on the diagonal
    and 1 elsewhere. ``by_topic`` gives each topic its own prevalence. ``prevalence`` are known
    shares of the classes, which are then not estimated: by label, or in the order of the labels.
    """

    name: ClassVar[str] = "dawid-skene"
    continues: ClassVar[bool] = True

    iterations: int = 500
    tolerance: float = 1e-6
    diagonal: float = 3.0
    prevalence: Shares | None = None
    weigh_copies: bool = True
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def _fit(self, given: Given) -> Consensus:
        return fit_points(self, given)


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleConfusion(DawidSkene):
    """One confusion matrix for all judges, free, by maximum likelihood.

    Fitted as ``DawidSkene``, with its settings. The table of judges still speaks of each judge:
    their counts are against the truth that the shared matrix gives.
    """

    name: ClassVar[str] = "single-confusion"
    shared: ClassVar[bool] = True
