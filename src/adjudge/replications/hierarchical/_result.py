"""The hierarchical paper's tables, figures and claims, from the results of its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from adjudge.replications._charts import Drawn
from adjudge.replications._claims import write_values
from adjudge.replications._data import results_of
from adjudge.replications.hierarchical import (
    CHAINS,
    DRAWS,
    FRACTIONAL,
    MEMORY,
    QUANTISED,
    RUNS,
    WARMUP,
)
from adjudge.replications.replication import (
    Cell,
    Claim,
    PaperFigure,
    ReplicationResult,
    Setup,
    Table,
)

_NEAR = 1.05  # R-hat "near 1"

_MANY = 30  # items that a vote must have for its mean to count


def _worst(fit: Mapping[str, Any], statistic: str = "r_hat") -> float:
    """The largest R-hat of a fit."""
    return float(max(fit[statistic].values()))


def _claims(
    alone: Mapping[str, Any], told: Mapping[str, Any], runs: Mapping[str, Sequence[Any]]
) -> list[Claim]:
    """What the paper says of its posterior and of scores, and what it could not say."""
    return [
        *_posterior_claims(alone, told),
        *_judge_claims(alone),
        _squared_error(runs),
        *_of_scores(runs),
    ]


def _posterior_claims(alone: Mapping[str, Any], told: Mapping[str, Any]) -> list[Claim]:
    rising = [row for row in told["voted"] if row["items"] >= _MANY]
    steps = [b["estimated"] - a["estimated"] for a, b in pairwise(rising)]
    hyper = {name: np.array(values) for name, values in alone["hyper"].items()}
    kappa = {name: hyper[f"kappa_{name}"] for name in ("0", "1", "pi")}
    phi = {name: hyper[f"phi_{name}"] for name in ("0", "1", "pi")}
    shown = ", ".join(
        f"κ_{name} {kappa[name].mean():.1f} ± {kappa[name].std():.1f}" for name in kappa
    )
    return [
        Claim(
            text="Chains mix well: R-hat of all parameters is near 1.",
            holds=max(_worst(fit, "gelman_rubin") for fit in (alone, told)) < _NEAR,
            evidence="Worst of all hyper-parameters, topics and judges: "
            f"{_worst(alone, 'gelman_rubin'):.3f} unsupervised, {_worst(told, 'gelman_rubin'):.3f} "
            "semi-supervised.",
            criterion=f"if it is below {_NEAR}; 1.1 was the custom of its day.",
            reading="by the statistic of its day, Gelman and Rubin's of 1992. By today's, of ranks "
            f"in split chains, {_worst(alone):.3f} and {_worst(told):.3f}: longer chains would be "
            "asked for now.",
            source="section 6",
        ),
        Claim(
            text="Estimated relevance rises with voted relevance, other than at the ends.",
            holds=min(steps[1:-1]) > 0,
            evidence="Mean estimate by vote, in twentieths with 30 items or more: "
            + ", ".join(f"{row['voted']:.2f} {row['estimated']:.3f}" for row in rising)
            + f"; {sum(step > 0 for step in steps)} of {len(steps)} steps up, the ends "
            f"{steps[0]:+.3f} and {steps[-1]:+.3f}.",
            criterion="if every step but the first and the last is up.",
            source="figure 1",
        ),
        Claim(
            text="Estimates are more extreme than votes.",
            holds=told["extreme"][1] > told["extreme"][0],
            evidence=f"Mean distance from one half: votes {told['extreme'][0]:.3f}, estimates "
            f"{told['extreme'][1]:.3f}.",
            criterion="if the estimates' is greater.",
            source="figure 1",
        ),
        Claim(
            text="The prior of specificity is much less precise than those of sensitivity and "
            "prevalence.",
            holds=bool(
                np.quantile(kappa["0"], 0.975)
                < min(np.quantile(kappa[name], 0.025) for name in ("1", "pi"))
            ),
            evidence=f"{shown}.",
            criterion="if the 95% interval of κ_0 lies below those of the other two.",
            source="figure 4",
        ),
        Claim(
            text="Prevalence is high, since the items come from retrieval systems.",
            holds=float(phi["pi"].mean()) > 0.5,
            evidence=f"Mean prevalence {phi['pi'].mean():.3f} ± {phi['pi'].std():.3f}; mean "
            f"specificity {phi['0'].mean():.3f}, sensitivity {phi['1'].mean():.3f}.",
            criterion="if more than half of the items are relevant.",
            source="figure 4",
        ),
    ]


def _judge_claims(alone: Mapping[str, Any]) -> list[Claim]:
    judges = {name: np.array(values) for name, values in alone["judges"].items()}
    count, ones = judges["judgments"], judges["ones"]
    sd = judges["specificity_sd"] + judges["sensitivity_sd"]
    # Spearman's rho of certainty and judgments.
    order = np.array([np.argsort(np.argsort(values, kind="stable")) for values in (count, sd)])
    rho = float(np.asarray(np.corrcoef(order))[0, 1])
    spread = {name: float(judges[name].std()) for name in ("specificity", "sensitivity")}
    chance = int((judges["specificity"] + judges["sensitivity"] <= 1).sum())
    # Youden's index: 0 at chance.
    index = judges["specificity"] + judges["sensitivity"] - 1
    size = np.abs(index)
    busiest = [
        f"{many:,} judgments, {share:.1%} ones, index {own:+.2f}"
        for many, share, own in zip(count[:5], ones[:5], index[:5], strict=True)
    ]
    return [
        Claim(
            text="Specificity varies more between judges than sensitivity.",
            holds=spread["specificity"] > spread["sensitivity"],
            evidence=f"Sd of posterior means: {spread['specificity']:.3f} and "
            f"{spread['sensitivity']:.3f}; {chance} of {len(count)} judges lie on or below the "
            "line of chance.",
            criterion="if its sd is greater.",
            source="figure 2",
        ),
        Claim(
            text="Certainty grows with the number of judgments.",
            holds=rho < -0.5,
            evidence=f"Rank correlation of judgments with the posterior sd of a judge's rates: "
            f"{rho:.2f}.",
            criterion="if it is below -0.5.",
            source="figure 3",
        ),
        Claim(
            text="Of sixteen coders with different numbers of labels, the two highest provide all "
            "zero and all one responses.",
            holds=bool((ones[:5] < 0.01).any() and (ones[:5] > 0.99).any()),
            published="in words only, of sixteen coders that it shows and does not name.",
            evidence=f"The five busiest: {'; '.join(busiest)}.",
            criterion="if among these five one gives next to nothing but zeros (under 1% ones) and "
            "another next to nothing but ones.",
            reading="the two highest of sixteen coders shown, not of all 762: a choice of sixteen "
            "whose two highest are such a pair exists if both are among the very busy. Of all "
            f"judges, the two busiest give {ones[0]:.1%} and {ones[1]:.1%} ones.",
            source="section 7",
        ),
        Claim(
            text="The coders with very many labels have chance performance.",
            holds=bool(size[:5].max() < 0.1),
            evidence="Sensitivity + specificity - 1, 0 at chance: "
            + ", ".join(f"{value:+.3f}" for value in index[:5])
            + f" of the five busiest; in size {size[5:10].mean():.3f} on average of the next five, "
            f"{size.mean():.3f} of all.",
            criterion="if all five lie within .1 of chance.",
            reading="very many labels: the five busiest, with 2,600 and more. It does not go on: "
            "the next five are far from chance.",
            source="section 7",
        ),
    ]


def _squared_error(runs: Mapping[str, Sequence[Mapping[str, float]]]) -> Claim:
    values = {run: _mean(runs, run, "RMSE") for run in runs}
    mine = values["3 semi-supervised, fractions"]
    return Claim(
        text="Posterior means do well under squared error.",
        holds=mine < min(value for run, value in values.items() if run[0] in "12m"),
        evidence=f"RMSE: {write_values(values)}.",
        criterion="if it is below that of every run of 0/1 and that of the votes' shares.",
        source="section 9.2",
    )


def _mean(runs: Mapping[str, Sequence[Mapping[str, float]]], run: str, score: str) -> float:
    return float(np.mean([found[score] for found in runs[run]]))


def _costs_both(rounded: tuple[float, float], fractions: tuple[float, float]) -> bool:
    """Whether precision and recall are both lower with fractions."""
    return fractions[0] < rounded[0] and fractions[1] < rounded[1]


def _of_scores(runs: Mapping[str, Sequence[Mapping[str, float]]]) -> list[Claim]:
    """How the runs fare on the test items, which the paper could not say, and on section 9.3."""
    mean = partial(_mean, runs)
    one, two, three = tuple(RUNS)[:3]
    vote = "majority vote, 0/1"
    return [
        Claim(
            text="Both models are more accurate than the vote, and gold helps.",
            holds=mean(vote, "accuracy") < mean(one, "accuracy") < mean(two, "accuracy"),
            evidence=f"Accuracy: vote {mean(vote, 'accuracy'):.3f}, unsupervised "
            f"{mean(one, 'accuracy'):.3f}, semi-supervised {mean(two, 'accuracy'):.3f}.",
            source="beyond the paper",
        ),
        Claim(
            text="Both models rank the items of a topic better than the vote.",
            holds=min(mean(one, "AP"), mean(two, "AP")) > mean(vote, "AP"),
            evidence=f"Mean AP: vote {mean(vote, 'AP'):.3f}, unsupervised {mean(one, 'AP'):.3f}, "
            f"semi-supervised {mean(two, 'AP'):.3f}.",
            source="beyond the paper",
        ),
        Claim(
            text="Counting fractions in part costs precision and recall, as section 9.3 warns.",
            holds=_costs_both(
                (mean(two, "precision"), mean(two, "recall")),
                (mean(three, "precision"), mean(three, "recall")),
            ),
            published=f"Precision and recall both {QUANTISED:g} rounded, {FRACTIONAL:g} as they "
            "are, in a simulation.",
            criterion="if both are lower.",
            passes=_costs_both((QUANTISED,) * 2, (FRACTIONAL,) * 2),
            evidence=f"Precision {mean(two, 'precision'):.3f} to {mean(three, 'precision'):.3f}, "
            f"recall {mean(two, 'recall'):.3f} to {mean(three, 'recall'):.3f}.",
            source="section 9.3",
        ),
    ]


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
        claims=_claims(alone, told, runs),
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
            _cell(name, "worst R-hat, as of 1992", _worst(fit, "gelman_rubin"), note="(near 1)"),
            _cell(name, "by ranks", _worst(fit)),
        ]
    return made


def _cell(row: str, column: str, value: float, published: float = math.nan, note: str = "") -> Cell:
    return Cell(row=row, column=column, published=published, obtained=value, sd=0.0, note=note)


def _figures(
    alone: Mapping[str, Any], told: Mapping[str, Any], splits: Sequence[Mapping[str, Any]]
) -> list[PaperFigure]:
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
            data=pa.table(alone["judges"]),
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
            data=pa.table(alone["hyper"]),
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
