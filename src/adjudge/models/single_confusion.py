"""SingleConfusion: one confusion matrix that all judges share, fitted by EM.

    z_i ~ Categorical(pi);    y_ij ~ Categorical(theta[z_i, :])

C. Liu and Y.-M. Wang (2012), "TrueLabel + Confusions: a spectrum of probabilistic models in
analyzing multiple ratings", ICML, Algorithm 2. It cannot tell a good judge from a bad one; its use
is as the other end of the spectrum from Dawid-Skene, and where judges have very few judgments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adjudge.models.dawid_skene import DawidSkene


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleConfusion(DawidSkene):
    """One confusion matrix for all judges, free, by maximum likelihood.

    Fitted as ``DawidSkene``, with its settings. The table of judges still speaks of each judge:
    their counts are against the truth that the shared matrix gives.
    """

    name: ClassVar[str] = "single-confusion"
    shared: ClassVar[bool] = True
