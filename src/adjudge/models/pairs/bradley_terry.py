"""BradleyTerry: every item has a strength, and the stronger of two is the better more often.

    P(i over k) = p_i / (p_i + p_k);    score_i = log p_i

R. Bradley and M. Terry (1952), doi:10.2307/2334029. With ``ties="davidson"`` ties have a weight
nu of their own, R. Davidson (1970), doi:10.1080/01621459.1970.10481082:

    P(tie) = nu sqrt(p_i p_k) / (p_i + p_k + nu sqrt(p_i p_k))

else each is half a win for both, which shrinks the differences between scores the more ties there
are. Scores with ``ties="half"`` are kept as they are, and their uncertainty is that of Davidson's
model: intervals include both its interval and that of the score. ``position`` adds log odds for the
item that is shown first. Strengths come by the iteration of M. Newman (2023,
jmlr.org/papers/v24/22-1086) or by that of D. Hunter (2004, doi:10.1214/aos/1079120141), both with a
prior: ``regularisation`` wins and as many losses of every item against one of strength 1, so that
an item that never lost has a finite score with a wide interval. With 0 it is maximum likelihood,
and the scores are those of evalica. Intervals are those of the normal approximation;
``method="gibbs"`` draws from the posterior itself, with Davidson's ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from adjudge.data.comparisons import Comparisons
from adjudge.data.preferences import Preferences
from adjudge.models.model import Progress
from adjudge.models.pairs._fitting import check_pair_settings, fit_pairs
from adjudge.models.pairs._strengths import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class BradleyTerry:
    """Strengths of items, judges all alike."""

    name: ClassVar[str] = "bradley-terry"

    ties: Literal["half", "davidson"] = "half"
    position: bool = False
    regularisation: float = 1.0
    method: Literal["newman", "mm", "gibbs"] = "newman"
    copies: bool = True
    iterations: int = 10_000
    tolerance: float = 1e-9
    chains: int = 4
    warmup: int = 500
    draws: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_pair_settings(self, ("newman", "mm", "gibbs"))

    def fit(self, comparisons: Comparisons, *, progress: Progress | None = None) -> Preferences:
        """Items by log strength, with intervals."""
        rules = Rules(
            davidson=self.ties == "davidson",
            position=self.position,
            prior=self.regularisation,
            minorise=self.method == "mm",
            iterations=self.iterations,
            tolerance=self.tolerance,
        )
        return fit_pairs(self, comparisons, rules, judges=False, progress=progress)
