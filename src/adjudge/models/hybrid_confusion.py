"""HybridConfusion: a confusion matrix for each judge, drawn towards the diagonal by a prior.

    pi ~ Dirichlet(alpha);   theta_j[k, :] ~ Dirichlet(gamma_k)
    z_i ~ Categorical(pi);   y_ij ~ Categorical(theta_j[z_i, :])

with alpha = 1 and gamma = ``diagonal`` where a label means the truth, 1 elsewhere. C. Liu and
Y.-M. Wang (2012), "TrueLabel + Confusions: a spectrum of probabilistic models in analyzing multiple
ratings", ICML. Their run had 3 chains, 1,000 sweeps of warm-up and 100 draws, one every 10 sweeps,
in BUGS; labels are here the averaged posteriors of all sweeps, not the mode of the draws.

``method = "em"`` finds the most probable rates instead, by expectation-maximisation with gamma and
alpha as pseudo-counts in every M step: the same shrinkage, in milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.scale import Scale
from adjudge.errors import BadSetting
from adjudge.models._gibbs import Prior
from adjudge.models._posterior import sample_model
from adjudge.models.expectation import Smoothing, fit_points, prior_counts
from adjudge.models.model import Ties
from adjudge.models.settings import Fitted, Given, Shares, check_settings

_Method = Literal["gibbs", "em"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridConfusion(Fitted):
    """A confusion matrix for each judge under a fixed prior, by Gibbs sampling or by EM.

    ``decay`` below 1 makes the prior fall with the distance from the diagonal, for ordinal scales:
    gamma[k, l] = diagonal * decay ** |k - l|. ``gamma`` gives the pseudo-counts outright, one row
    per truth, where confusions are known beforehand. ``concentration`` is the pseudo-count of every
    class, or one per class. ``prevalence`` are known shares of the classes, which are then not
    estimated: by label, or in the order of the labels.
    """

    name: ClassVar[str] = "hybrid-confusion"
    continues: ClassVar[bool] = True

    method: _Method = "gibbs"
    diagonal: float = 3.0
    decay: float | None = None
    gamma: tuple[tuple[float, ...], ...] | None = None
    concentration: float | tuple[float, ...] = 1.0
    prevalence: Shares | None = None
    chains: int = 3
    warmup: int = 1000
    draws: int = 100
    thin: int = 10
    iterations: int = 500
    tolerance: float = 1e-6
    weigh_copies: bool = True
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_settings(self)
        if self.decay is not None and not 0 < self.decay <= 1:
            raise BadSetting("decay", self.decay, "a number above 0, at most 1")
        if not np.all(np.array(self.concentration) > 0):
            raise BadSetting("concentration", self.concentration, "more than 0")
        if self.gamma is not None and not all(value > 0 for row in self.gamma for value in row):
            raise BadSetting("gamma", self.gamma, "pseudo-counts above 0")

    def prior(self, scale: Scale) -> NDArray[np.float64]:  # (truth, label)
        """The pseudo-counts gamma on a scale."""
        truths, labels = len(scale.truths), len(scale.labels)
        if self.gamma is not None:
            if len(self.gamma) != truths or any(len(row) != labels for row in self.gamma):
                raise BadSetting(
                    "gamma", self.gamma, f"{truths} rows of {labels}: a row a truth, in order"
                )
            return np.array(self.gamma, dtype=np.float64)
        if self.decay is None:
            return prior_counts(scale, self.diagonal)
        if not scale.ordinal:
            raise BadSetting("decay", self.decay, f"an ordinal scale; {scale} is nominal")
        place = np.arange(labels, dtype=np.float64)
        truth_of = np.array(scale.truth_of)
        gamma = np.ones((truths, labels))
        for truth in range(truths):
            near = place[truth_of == truth]
            if near.size:
                distance = np.abs(place[:, None] - near[None, :]).min(axis=1)
                gamma[truth] = self.diagonal * self.decay**distance
        return gamma

    def _fit(self, given: Given) -> Consensus:
        gamma, truths = self.prior(given.judgments.scale), given.judgments.scale.truths
        if np.size(self.concentration) not in (1, len(truths)):
            expected = f"one number, or one per label: {', '.join(truths)}"
            raise BadSetting("concentration", self.concentration, expected)
        alpha = np.ones(len(truths)) * self.concentration
        if self.method == "em":
            smoothing = Smoothing(gamma, alpha)
            return fit_points(self, given, smoothing)
        if given.start is not None:
            raise BadSetting("start", "a Consensus", "method='em', which continues a fit")
        prior = Prior(confusion=gamma, prevalence=alpha)
        return sample_model(self, given, prior)
