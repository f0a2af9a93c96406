"""The hierarchical paper's tables, figures and claims, from the results of its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from adjudge.replications.charts import Drawn
from adjudge.replications.hierarchical import (
    CHAINS,
    DRAWS,
    FRACTIONAL,
    MEMORY,
    QUANTISED,
    RUNS,
    WARMUP,
)
from adjudge.replications.hierarchical.claims import claims, worst
from adjudge.replications.replication import (
    Cell,
    PaperFigure,
    ReplicationResult,
    Setup,
    Table,
    results_of,
)

_SCORES = ("accuracy", "precision", "recall", "specificity", "log loss", "RMSE", "AP", "nDCG")
_CELLS = ("TP", "FP", "FN", "TN")


def gather(setup: Setup, partials: Mapping[str, Any]) -> ReplicationResult:
    """The three runs scored, section 9.3, what the fits took, figures 1 to 4, and the claims."""
    splits = results_of("split", partials)
    runs = {run: [split["runs"][run] for split in splits] for run in RUNS}
    alone, told = partials["unsupervised"], partials["semi-supervised"]
    return ReplicationResult(
        tables=[
            Table(
                name="runs",
                title="The submitted runs, scored",
                source="Sections 2, 3 and 9; the paper has no scores of its own",
                cells=[
                    Cell.over(run, score, [found[score] for found in many])
                    for run, many in runs.items()
                    for score in _SCORES
                ],
            ),
            Table(
                name="confusion",
                title="Confusion of 1,000 test items, fractions counted in part",
                source="Section 9.3",
                digits=1,
                cells=[
                    Cell.over(run, cell, [found[cell] for found in many])
                    for run, many in runs.items()
                    for cell in _CELLS
                ],
            ),
            Table(
                name="simulation",
                title="Uniform probabilities, rounded and as they are",
                source="Section 9.3, page 9",
                cells=_simulated(partials["simulation"]),
                cause=lambda _: "The expectation is 2/3, which the paper gives as 0.66.",
            ),
            Table(
                name="cost",
                title="What the fits took",
                source="Section 6, page 5: JAGS needed 2.5 GB and a few hours for each",
                cells=_costs({"unsupervised": alone, "semi-supervised": told}, splits),
                cause=lambda _: (
                    "The memory is that of the whole process, Python and data too; "
                    "JAGS 2.2.0 kept a node for every judgment."
                ),
            ),
        ],
        figures=_figures(alone, told, splits),
        claims=claims(alone, told, runs),
        notes=_notes(setup, len(splits)),
    )


def _notes(setup: Setup, splits: int) -> list[str]:
    part = 10 if setup.quick else 1
    return [
        "Data: TREC 2011 crowdsourcing, task 2: 89,624 binary judgments of 19,033 items by 762 "
        "judges on 100 topics, with gold for 2,275 items given and for 1,000 held out, the paper's "
        "numbers. Which 1,000 is not known: mean and sd are over "
        f"{splits} seeded splits with half of the test items relevant, each with fits of its own. "
        f"Each fit has {CHAINS} chains of {(WARMUP + DRAWS) // part:,} sweeps, the first "
        f"{WARMUP // part:,} dropped{' (a tenth of the published run)' if setup.quick else ''}.",
        "The paper does not say which model its fractional run had: the semi-supervised one is "
        "taken, and the other is shown too. Log loss holds probabilities between 1e-6 and 1 minus "
        "that, so that a run of 0/1 pays 13.8 for each mistake. AP and nDCG are means over the "
        "topics with test items of either class, ranking these items alone: items without gold "
        "would count as not relevant. An item's relevance here averages its posteriors over the "
        "sweeps, not its draws.",
    ]


def _simulated(found: Mapping[str, Sequence[Sequence[float]]]) -> list[Cell]:
    return [
        Cell.over(name, score, [values[at] for values in found[name]], published=published)
        for name, published in (("quantised", QUANTISED), ("fractional", FRACTIONAL))
        for at, score in enumerate(("precision", "recall"))
    ]


def _costs(
    fits: Mapping[str, Mapping[str, Any]], splits: Sequence[Mapping[str, Any]]
) -> list[Cell]:
    made = []
    for name, fit in fits.items():
        took = [split["seconds"][name] for split in splits]
        made += [
            Cell.over(name, "seconds", [pair[0] for pair in took], note="(a few hours)"),
            Cell.over(name, "of work on all cores", [pair[1] for pair in took]),
            _cell(name, "memory, GB", fit["memory"] / 1e9, MEMORY),
            _cell(name, "worst R-hat, as of 1992", worst(fit, "gelman_rubin"), note="(near 1)"),
            _cell(name, "by ranks", worst(fit)),
        ]
    return made


def _cell(row: str, column: str, value: float, published: float = math.nan, note: str = "") -> Cell:
    return Cell(row=row, column=column, published=published, obtained=value, sd=0.0, note=note)


def _figures(
    alone: Mapping[str, Any], told: Mapping[str, Any], splits: Sequence[Mapping[str, Any]]
) -> list[PaperFigure]:
    judges = pa.table(alone["judges"])
    hyper = alone["hyper"]
    return [
        PaperFigure(
            name="figure-1",
            title="Voted and estimated relevance",
            source="Figure 1, page 6",
            data=pa.Table.from_pylist(told["voted"]),
            chart=lambda _: Drawn(told["charts"]["voted"]),
            caption="The semi-supervised fit of the first split, items without given gold.",
        ),
        PaperFigure(
            name="figure-2",
            title="Sensitivity and specificity of judges",
            source="Figure 2, page 6",
            data=judges,
            chart=lambda _: Drawn(alone["charts"]["rates"]),
            caption="Posterior means, unsupervised.",
        ),
        PaperFigure(
            name="figure-3",
            title="Sixteen judges, by number of judgments",
            source="Figure 3, page 7",
            data=_clouds(alone["charts"]["clouds"]),
            chart=lambda _: Drawn(alone["charts"]["clouds"]),
            caption="300 draws of each, unsupervised. Which sixteen the paper showed is not known.",
        ),
        PaperFigure(
            name="figure-4",
            title="Posteriors of the hyper-parameters",
            source="Figure 4, page 8",
            data=pa.table(hyper),
            chart=lambda _: Drawn(alone["charts"]["hyper"]),
            caption="200 draws of each, unsupervised.",
        ),
        _topics(splits),
    ]


def _clouds(specification: Mapping[str, Any]) -> Any:
    """The draws that the panels of a chart show, as a table."""
    rows = []
    for panel in specification["concat"]:
        points = panel["layer"][0]["data"]
        values = points.get("values") or specification["datasets"][points["name"]]
        title = panel["title"]
        name = title if isinstance(title, str) else title["text"]
        rows += [{"judge": name, **value} for value in values]
    return pa.Table.from_pylist(rows)


def _topics(splits: Sequence[Mapping[str, Any]]) -> PaperFigure:
    """AP and nDCG of each topic, mean over the splits."""
    names = ("vote", "unsupervised", "semi-supervised")
    topics = sorted({topic for split in splits for topic in split["topics"]["vote"]})
    rows = []
    for topic in topics:
        row: dict[str, Any] = {"topic": topic}
        for measure in ("AP", "nDCG"):
            for name in names:
                found = [split["topics"][name].get(topic) for split in splits]
                values = [values[measure] for values in found if values is not None]
                row[f"{measure} {name}"] = float(np.mean(values))
        rows.append(row)
    return PaperFigure(
        name="topics",
        title="Ranking within topics: the model against the vote",
        source="Section 2, the second subtask; the paper has no scores",
        data=pa.Table.from_pylist(rows),
        chart=_topic_chart,
        caption="A point a topic, mean over splits; above the line the semi-supervised model ranks "
        "better than the vote.",
    )


def _topic_chart(table: Any) -> Any:
    import altair as alt

    from adjudge.report.plots import drawing
    from adjudge.report.theme import LIGHT

    panels = []
    for measure in ("AP", "nDCG"):
        data = drawing.table(
            topic=table["topic"],
            vote=table[f"{measure} vote"],
            model=table[f"{measure} semi-supervised"],
        )
        domain = alt.Scale(domain=[0, 1], nice=False)
        points = (
            alt.Chart(data)
            .mark_circle(color=LIGHT.blue, size=40, opacity=0.6)
            .encode(
                x=alt.X("vote:Q", title="majority vote", scale=domain),
                y=alt.Y("model:Q", title="semi-supervised model", scale=domain),
            )
        )
        ends = drawing.table(vote=[0, 1], model=[0, 1])
        line = alt.Chart(ends).mark_line(color=LIGHT.ink, strokeDash=[5, 4])
        same = line.encode(x=alt.X("vote:Q", scale=domain), y=alt.Y("model:Q", scale=domain))
        panels.append((points + same).properties(width=270, height=270, title=measure))
    return alt.hconcat(*panels)
