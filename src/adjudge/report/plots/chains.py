"""Figures of a sampled fit: traces of chains, and learnt priors.

``hyper_priors`` is figure 4 of B. Carpenter (2011), "A Hierarchical Bayesian
Model of Crowdsourced Relevance Coding".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.draws import Draws
from adjudge.report.plots import layout
from adjudge.report.plots.layout import add_title, panel, spread_places, tooltip, unit
from adjudge.report.theme import LIGHT

_MOST = 6  # panels
_POINTS = 200  # of a chain's trace
_SAMPLES = 200
_TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]


def parameters_of(draws: Draws, most: int = _MOST) -> dict[str, NDArray[np.float64]]:
    """The parameters worth a look, each as (chain, draw): hyper-parameters, else prevalence.

    Of a matrix of them, its diagonal.
    """
    found: dict[str, NDArray[np.float64]] = {}
    for name, values in draws.hyper.items():
        if values.ndim == 2:
            found[name] = values
        elif values.ndim == 3:
            found |= {f"{name}[{at}]": values[:, :, at] for at in range(values.shape[2])}
        else:
            size = min(values.shape[2:])
            found |= {f"{name}[{at}, {at}]": values[:, :, at, at] for at in range(size)}
    if not found:
        share = draws.prevalence.mean(axis=2)  # over topics
        found = {f"share of {t}": share[:, :, at] for at, t in enumerate(draws.scale.truths)}
    moving = {name: values for name, values in found.items() if values.std() > 1e-12}
    return dict(list(moving.items())[:most])


def trace_plot(draws: Draws) -> Any:
    """The chart: draws of each parameter in order, a line per chain."""
    panels = []
    for name, values in parameters_of(draws).items():
        kept = spread_places(values.shape[1], _POINTS)
        chains = len(values)
        data = layout.table(
            chain=np.repeat(np.arange(1, chains + 1), len(kept)),
            draw=np.tile(kept, chains),
            value=values[:, kept].reshape(-1),
        )
        lines = alt.Chart(data).mark_line(strokeWidth=0.8, opacity=0.8, aria=False)
        chart = lines.encode(
            x=alt.X("draw:Q", title=None, axis=alt.Axis(tickCount=3)),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4)),
            color=alt.Color("chain:N", title="chain"),
        )
        panels.append(panel(chart, name, 135, 90))
    return add_title(
        alt.concat(*panels, columns=3),
        "Traces",
        "chains that agree lie on one another and wander nowhere",
    )


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
        truth_of = np.array(scale.truth_of)
        for code, truth in enumerate(scale.truths):
            right = hyper["phi"][:, :, code, truth_of == code].sum(axis=2)
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
    """The chart: a panel per prior, each point one draw of its mean and its precision.

    Phi is the mean of a rate over judges or topics, kappa how alike they are.
    """
    priors = learnt_priors(draws)[:_MOST]
    low = min(float(prior.kappa.min()) for prior in priors) * 0.95
    high = max(float(prior.kappa.max()) for prior in priors) * 1.05
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    panels = []
    for place, prior in enumerate(priors):
        up = "κ: how alike" if place % 3 == 0 else None
        axis = alt.Axis(values=_TICKS, labels=up is not None, format="~g")
        points = alt.Chart(layout.table(phi=prior.phi, kappa=prior.kappa)).mark_circle(
            color=LIGHT.blue, size=14, opacity=0.5, aria=False
        )
        chart = points.encode(
            x=alt.X(**unit("phi", "φ: mean")),
            y=alt.Y("kappa:Q", title=up, scale=scale, axis=axis),
            tooltip=tooltip({"phi": "φ", "kappa": "κ"}, {"phi": ".3f", "kappa": ".2f"}),
        )
        panels.append(panel(chart, prior.name, 150, 170))
    return add_title(
        alt.concat(*panels, columns=3),
        "Learnt priors",
        f"{_SAMPLES} draws of each; a larger κ means judges (or topics) are more alike",
    )
