"""Chains of a sampler: traces, and the ranks of draws, which are flat where the chains agree.

Rank plots after A. Vehtari et al. (2021), "Rank-normalization, folding, and localization",
doi:10.1214/20-BA1221.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.draws import Draws
from adjudge.report.plots import drawing
from adjudge.report.plots._layout import add_title, spread_places
from adjudge.report.theme import LIGHT

_PARAMETERS = 6
_POINTS = 200  # of a chain's trace
_BINS = 20


def parameters_of(draws: Draws, most: int = _PARAMETERS) -> dict[str, NDArray[np.float64]]:
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
    """The chart: draws of each parameter in order, a line a chain."""
    panels = []
    for name, values in parameters_of(draws).items():
        kept = spread_places(values.shape[1], _POINTS)
        chains = len(values)
        data = drawing.table(
            chain=np.repeat(np.arange(1, chains + 1), len(kept)),
            draw=np.tile(kept, chains),
            value=values[:, kept].reshape(-1),
        )
        panels.append(
            alt.Chart(data)
            .mark_line(strokeWidth=0.8, opacity=0.8, aria=False)
            .encode(
                x=alt.X("draw:Q", title=None, axis=alt.Axis(tickCount=3)),
                y=alt.Y(
                    "value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4)
                ),
                color=alt.Color("chain:N", title="chain"),
            )
            .properties(width=135, height=90)
            .properties(title=alt.TitleParams(name, fontSize=11, fontWeight="normal"))
        )
    return add_title(
        alt.concat(*panels, columns=3),
        "Traces",
        "chains that agree lie on one another and wander nowhere",
    )


def rank_plot(draws: Draws) -> Any:
    """The chart: for each chain, how its draws rank among all; flat where chains agree."""
    panels = []
    for name, values in parameters_of(draws).items():
        counts = _ranks_by_chain(values)
        chains, even = len(values), values.shape[1] / _BINS
        data = drawing.table(
            chain=np.repeat(np.arange(1, chains + 1), _BINS),
            bin=np.tile(np.arange(_BINS), chains),
            excess=(counts / even).reshape(-1),
        )
        base = alt.Chart(data)
        bars = base.mark_bar(aria=False, width=alt.RelativeBandSize(1)).encode(
            x=alt.X("bin:O", title=None, axis=alt.Axis(labels=False, ticks=False, domain=False)),
            y=alt.Y(
                "excess:Q", title=None, axis=alt.Axis(tickCount=2), scale=alt.Scale(domainMin=0)
            ),
            color=alt.Color("chain:N", title="chain"),
            row=alt.Row("chain:N", title=None, header=alt.Header(labels=False), spacing=2),
        )
        panels.append(
            bars.properties(width=135, height=32).properties(
                title=alt.TitleParams(name, fontSize=11, fontWeight="normal")
            )
        )
    return add_title(
        alt.concat(*panels, columns=3),
        "Ranks of draws",
        "1 is an even share; bars of equal height mean that the chains agree",
    )


def _ranks_by_chain(values: NDArray[np.float64], bins: int = _BINS) -> NDArray[np.int64]:
    """How many draws of each chain fall in each bin of the ranks among all: (chain, bin)."""
    rank = np.empty(values.size, dtype=np.int64)
    rank[np.argsort(values.reshape(-1), kind="stable")] = np.arange(values.size)
    place = (rank * bins // values.size).reshape(values.shape)
    return np.stack([np.bincount(row, minlength=bins) for row in place])


def likelihood_trace(trace: tuple[float, ...]) -> Any:
    """The chart of a model fitted by steps: what it maximises, after each of them."""
    data = drawing.table(step=np.arange(1, len(trace) + 1), value=np.array(trace))
    return add_title(
        alt.Chart(data)
        .mark_line(color=LIGHT.blue, point=True, aria=False)
        .encode(
            x=alt.X("step:Q", title="iteration", axis=alt.Axis(format="d", tickMinStep=1)),
            y=alt.Y("value:Q", title="log-likelihood or bound", scale=alt.Scale(zero=False)),
        )
        .properties(width=400, height=220),
        "Convergence",
        "what the fit maximises, after each iteration; it flattens where it is done",
    )
