"""BradleyTerry: every item has a strength, and the stronger of two is the better more often.

    P(i over k) = p_i / (p_i + p_k);    score_i = log p_i

R. Bradley and M. Terry (1952), doi:10.2307/2334029. With ``ties="davidson"`` ties have a weight
nu of their own, R. Davidson (1970), doi:10.1080/01621459.1970.10481082:

    P(tie) = nu sqrt(p_i p_k) / (p_i + p_k + nu sqrt(p_i p_k))

else each is half a win for both, which shrinks the differences between scores the more ties there
are. Scores with ``ties="half"`` are kept as they are, and their uncertainty is that of Davidson's
model: intervals include both its interval and that of the score. ``position`` adds log odds for the
item that is shown first. Strengths come by the iteration of M. Newman (2023,
jmlr.org/papers/v24/22-1086), with a prior: ``regularisation`` wins and as many losses of every item
against one of strength 1, so that
an item that never lost has a finite score with a wide interval. With 0 it is maximum likelihood,
and the scores are those of evalica. Intervals are those of the normal approximation;
``method="gibbs"`` draws from the posterior itself, with Davidson's ties.

CrowdBradleyTerry: strengths of items and the skill of judges, from one set of comparisons.

    P(judge j says i over k) = r_j P(i over k) + (1 - r_j) P(k over i)

X. Chen, P. Bennett, K. Collins-Thompson and E. Horvitz (2013), doi:10.1145/2433396.2433420, here
in batch by EM: each comparison is taken with and against the order by how likely either is, then
Newman's iteration gives strengths and the shares give r_j, under a Beta prior. A judge of r_j =
.5 gives no information, one below answers the wrong way round; both are weighted by that.
Beyond the paper: ties (Davidson), log odds of every judge for what is shown first, about a common
mean, and judges who are copies count as one. With ``by_topic`` an item may be better in one
topic than in another, by a normal step of learnt spread about its score. ``method="gibbs"`` draws
from the posterior; by EM, intervals of scores allow for the judges' skill not being known, and
take leans and the weight of ties as known.

r_j is a weight within the fit. The ``skill`` in the table of judges is measured apart from it,
against the order that the other judges give (``adjudge.models.pairs._judges``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from adjudge.data.comparisons import Comparisons
from adjudge.data.judgments import takes_tables
from adjudge.data.preferences import Preferences
from adjudge.models.model import Progress
from adjudge.models.pairs._fitting import check_pair_settings, fit_pairs
from adjudge.models.pairs._strengths import Rules
from adjudge.models.settings import FitPredict


@dataclass(frozen=True, slots=True, kw_only=True)
class BradleyTerry(FitPredict):
    """Strengths of items, judges all alike."""

    name: ClassVar[str] = "bradley-terry"

    ties: Literal["half", "davidson"] = "half"
    position: bool = False
    regularisation: float = 1.0
    method: Literal["newman", "gibbs"] = "newman"
    copies: bool = True
    iterations: int = 10_000
    tolerance: float = 1e-9
    chains: int = 4
    warmup: int = 500
    draws: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_pair_settings(self)

    @takes_tables
    def fit(self, comparisons: Comparisons, *, progress: Progress | None = None) -> Preferences:
        """Items by log strength, with intervals."""
        rules = Rules(
            davidson=self.ties == "davidson",
            position=self.position,
            prior=self.regularisation,
            iterations=self.iterations,
            tolerance=self.tolerance,
        )
        return fit_pairs(self, comparisons, rules, judges=False, progress=progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdBradleyTerry(FitPredict):
    """Strengths of items; skill and position bias of judges; ties."""

    name: ClassVar[str] = "crowd-bradley-terry"

    position: bool = True
    agree: tuple[float, float] = (8.0, 2.0)
    lean_spread: float = 0.5
    regularisation: float = 1.0
    method: Literal["em", "gibbs"] = "em"
    copies: bool = True
    iterations: int = 2_000
    tolerance: float = 1e-5
    chains: int = 4
    warmup: int = 500
    draws: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_pair_settings(self)

    @takes_tables
    def fit(self, comparisons: Comparisons, *, progress: Progress | None = None) -> Preferences:
        """Items by log strength and judges by skill, with intervals."""
        rules = Rules(
            davidson=True,
            position=self.position,
            prior=self.regularisation,
            iterations=self.iterations,
            tolerance=self.tolerance,
            agree=self.agree,
            lean_spread=self.lean_spread,
        )
        return fit_pairs(self, comparisons, rules, judges=True, progress=progress)
