"""Posteriors of the hyper-priors: how good judges are, and how much they differ.

Figure 4 of B. Carpenter (2011), "A Hierarchical Bayesian Model of Crowdsourced Relevance Coding".
Phi is the mean of a rate over judges or topics, kappa how alike they are: the larger, the more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.draws import Draws
from adjudge.report.plots import drawing
from adjudge.report.plots._layout import add_title, spread_places, tooltip, unit
from adjudge.report.theme import LIGHT

_SAMPLES = 200
_MOST = 6  # panels
_TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _PriorDraws:
    """One learnt prior: draws of its mean and of its precision."""

    name: str
    phi: NDArray[np.float64]  # (sample,)
    kappa: NDArray[np.float64]  # (sample,)


def learnt_priors(draws: Draws, samples: int = _SAMPLES) -> list[_PriorDraws]:
    """The priors that a model learnt, of judges first and then of topics; none where none were."""
    hyper, scale = draws.hyper, draws.scale
    found: list[tuple[str, NDArray[Any], NDArray[Any]]] = []
    if "phi_0" in hyper:
        found = [
            ("specificity of judges", hyper["phi_0"], hyper["kappa_0"]),
            ("sensitivity of judges", hyper["phi_1"], hyper["kappa_1"]),
            ("prevalence in topics", hyper["phi_pi"], hyper["kappa_pi"]),
        ]
    elif "phi" in hyper and "kappa" in hyper:
        stands = np.array(scale.truth_of)
        for code, truth in enumerate(scale.truths):
            right = hyper["phi"][:, :, code, stands == code].sum(axis=2)
            found.append((f"right on {truth}", right, hyper["kappa"][:, :, code]))
        several = draws.prevalence.shape[2] > 1  # one topic alone does not vary
        if several and "kappa_prevalence" in hyper and hyper["phi_prevalence"].ndim == 3:
            last = hyper["phi_prevalence"][:, :, -1]
            found.append((f"prevalence of {scale.truths[-1]}", last, hyper["kappa_prevalence"]))
    return [
        _PriorDraws(
            name=name,
            phi=phi.reshape(-1)[spread_places(phi.size, samples)].astype(np.float64),
            kappa=kappa.reshape(-1)[spread_places(kappa.size, samples)].astype(np.float64),
        )
        for name, phi, kappa in found
        if phi.std() > 0 and kappa.std() > 0
    ]


def hyper_priors(draws: Draws) -> Any:
    """The chart: a panel a prior, each point one draw of its mean and its precision."""
    priors = learnt_priors(draws)[:_MOST]
    low = min(float(prior.kappa.min()) for prior in priors)
    high = max(float(prior.kappa.max()) for prior in priors)
    panels = [
        _panel(prior, low * 0.95, high * 1.05, "κ: how alike" if place % 3 == 0 else None)
        for place, prior in enumerate(priors)
    ]
    return add_title(
        alt.concat(*panels, columns=3),
        "Learnt priors",
        f"{_SAMPLES} draws of each; a larger κ means judges (or topics) are more alike",
    )


def _panel(prior: _PriorDraws, low: float, high: float, up: str | None) -> Any:
    return (
        alt.Chart(drawing.table(phi=prior.phi, kappa=prior.kappa))
        .mark_circle(color=LIGHT.blue, size=14, opacity=0.5, aria=False)
        .encode(
            x=alt.X(**unit("phi", "φ: mean")),
            y=alt.Y(
                "kappa:Q",
                title=up,
                scale=alt.Scale(type="log", domain=[low, high], nice=False),
                axis=alt.Axis(values=_TICKS, labels=up is not None, format="~g"),
            ),
            tooltip=tooltip({"phi": "φ", "kappa": "κ"}, {"phi": ".3f", "kappa": ".2f"}),
        )
        .properties(width=150, height=170)
        .properties(title=alt.TitleParams(prior.name, fontSize=11, fontWeight="normal"))
    )
