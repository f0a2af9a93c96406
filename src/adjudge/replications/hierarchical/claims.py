"""What Carpenter's paper says of its model, held against the fits obtained: nearly all in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from adjudge.replications.hierarchical import FRACTIONAL, QUANTISED, RUNS
from adjudge.replications.replication import Claim

_NEAR = 1.05  # R-hat "near 1"
_MANY = 30  # items that a vote must have for its mean to count


def worst(fit: Mapping[str, Any], statistic: str = "r_hat") -> float:
    """The largest R-hat of a fit."""
    return float(max(fit[statistic].values()))


def claims(
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
            holds=max(worst(fit, "gelman_rubin") for fit in (alone, told)) < _NEAR,
            evidence="Worst of all hyper-parameters, topics and judges: "
            f"{worst(alone, 'gelman_rubin'):.3f} unsupervised, {worst(told, 'gelman_rubin'):.3f} "
            "semi-supervised.",
            criterion=f"if it is below {_NEAR}; 1.1 was the custom of its day.",
            reading="by the statistic of its day, Gelman and Rubin's of 1992. By today's, of ranks "
            f"in split chains, {worst(alone):.3f} and {worst(told):.3f}: longer chains would be "
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
    values = {run: float(np.mean([found["RMSE"] for found in runs[run]])) for run in runs}
    mine = values["3 semi-supervised, fractions"]
    return Claim(
        text="Posterior means do well under squared error.",
        holds=mine < min(value for run, value in values.items() if run[0] in "12m"),
        evidence="RMSE: " + ", ".join(f"{run} {value:.3f}" for run, value in values.items()) + ".",
        criterion="if it is below that of every run of 0/1 and that of the votes' shares.",
        source="section 9.2",
    )


def _costs_both(rounded: tuple[float, float], fractions: tuple[float, float]) -> bool:
    """Whether precision and recall are both lower with fractions."""
    return fractions[0] < rounded[0] and fractions[1] < rounded[1]


def _of_scores(runs: Mapping[str, Sequence[Mapping[str, float]]]) -> list[Claim]:
    """How the runs fare on the test items, which the paper could not say, and on section 9.3."""

    def mean(run: str, score: str) -> float:
        return float(np.mean([found[score] for found in runs[run]]))

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
