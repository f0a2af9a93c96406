"""What Le and others (2010) say of training mixes, of both made crowds and of their own tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.replications._claims import (
    error_of,
    hold_all,
    is_above,
    write_values,
    write_verdict,
)
from adjudge.replications.replication import Claim
from adjudge.replications.training import (
    ACCURACY,
    ARMS,
    FALSE_ALARM,
    FIGURE_2,
    PRECISION,
    RECALL,
    TABLE_3,
    TABLE_4,
    UNIFORM,
    VOTE,
)

Runs = Sequence[Mapping[str, Any]]  # experiment: arm: what: measure
# What the paper says and its own table denies, and why: nothing is held against it.
CONTRADICTED = {
    "Each measure of the aggregate, recall too, is maximised in experiment 3.": "table 4 has "
    "recall greatest in arm 5 (.921 against .919)",
}
_SAME = 0.01  # a range of accuracies that makes no difference
_Means = Mapping[str, float]  # arm


def values(runs: Runs, arm: str, what: str, measure: str) -> NDArray[np.float64]:  # (experiment,)
    """One measure of one arm, in every experiment."""
    return np.array([run[arm][what][measure] for run in runs], dtype=np.float64)


def claims(main: Runs, learning: Runs, control: Runs) -> list[Claim]:
    """Every sentence of sections 5.2 and 5.3, of the crowd that leans and of that which learns too.

    A claim holds by the first crowd, which was there before; the other is said beside it.
    """
    return [
        *_aggregate_claims(main, learning, control),
        _claim(
            "A judge's accuracy rises as the training mix nears that of the work.",
            "if it rises from arm to arm.",
            lambda means: list(means.values()) == sorted(means.values()),
            (main, learning),
            ("judges", ACCURACY),
            TABLE_3[ACCURACY],
            "section 5.2, table 3",
        ),
        _claim(
            "A judge's precision on Not Matching is greatest with the uniform mix.",
            "if its mean is greatest in arm 3.",
            _peaks,
            (main, learning),
            ("judges", PRECISION),
            TABLE_3[PRECISION],
            "section 5.2, table 3",
            "Judges who lean to Matching call fewer results Not Matching, and those more surely.",
        ),
        _claim(
            "Judges trained on the uniform mix are the most skilled: they least often call Not "
            "Matching what is not.",
            "if its mean is least in arm 3.",
            lambda means: min(means, key=lambda arm: means[arm]) == UNIFORM,
            (main, learning),
            ("judges", FALSE_ALARM),
            TABLE_3[FALSE_ALARM],
            "section 6, by what table 3 comes to",
        ),
        _claim(
            "The aggregate's precision on Not Matching is greatest with the uniform mix.",
            "if its mean is greatest in arm 3.",
            _peaks,
            (main, learning),
            (VOTE, PRECISION),
            TABLE_4[PRECISION],
            "section 5.3, table 4",
            "Judges who lean to Matching call fewer results Not Matching, and those more surely.",
        ),
        _recall_claim(main, learning),
        _over_precise(main, learning),
    ]


def _means_of(runs: Runs, what: str, measure: str) -> dict[str, float]:
    return {arm: float(np.nanmean(values(runs, arm, what, measure))) for arm in ARMS}


def _peaks(means: _Means) -> bool:
    return max(means, key=lambda arm: means[arm]) == UNIFORM


def _claim(
    text: str,
    said: str,
    criterion: Callable[[_Means], bool],
    crowds: tuple[Runs, Runs],
    measured: tuple[str, str],
    published: Sequence[float],
    source: str,
    why: str = "",
) -> Claim:
    """A claim on the means of the arms, by one criterion for both crowds and the paper's table."""
    leaning, learning = (_means_of(runs, *measured) for runs in crowds)
    theirs = dict(zip(ARMS, published, strict=True))
    holds = bool(criterion(leaning))
    word = write_verdict(criterion(learning))
    return Claim(
        text=text,
        holds=holds,
        published=f"{by_arm(theirs)}.",
        evidence=f"{by_arm(leaning)}.{f' {why}' if why and not holds else ''}",
        criterion=said,
        reading=f"judges who lean and do not learn; judges who learn too: {by_arm(learning)}, "
        f"{word}.",
        source=source,
        passes=bool(criterion(theirs)),
    )


def _aggregate_claims(main: Runs, learning: Runs, control: Runs) -> list[Claim]:
    accuracy, other = (
        {arm: values(runs, arm, VOTE, ACCURACY) for arm in ARMS} for runs in (main, learning)
    )
    skewed, too = (
        {arm: gap_of(one[UNIFORM], one[arm]) for arm in ARMS if arm not in "34"}
        for one in (accuracy, other)
    )
    near, near_too = (gap_of(one[UNIFORM], one["4"]) for one in (accuracy, other))
    told = f"Means: {by_arm({arm: float(one.mean()) for arm, one in accuracy.items()})}."
    flat = {arm: float(values(control, arm, VOTE, ACCURACY).mean()) for arm in ARMS}
    pairs = [
        gap_of(values(control, one, VOTE, ACCURACY), values(control, another, VOTE, ACCURACY))
        for one, another in permutations(ARMS, 2)
    ]
    most = max(pairs)
    return [
        Claim(
            text="The most uniform training mix gives a better aggregate accuracy than the skewed "
            "ones (arms 1, 2 and 5).",
            holds=ahead(skewed),
            published=f"Arm 3 {FIGURE_2['3']:.4f}, arm 5 {FIGURE_2['5']:.2f}; others are drawn.",
            evidence=f"{told} Arm 3 less the others: {gaps_said(skewed)} (standard error).",
            criterion="if it is ahead of each by more than two standard errors over experiments; "
            "it cannot be told within two. The published has one experiment, and no error.",
            reading=f"judges who lean; judges who learn too: {gaps_said(too)}.",
            source="section 5.3, figure 2",
            passes=ahead({"5": (FIGURE_2["3"] - FIGURE_2["5"], 0.0)}),
        ),
        Claim(
            text="It is also better than arm 4, the next most uniform.",
            holds=is_above(*near),
            published="drawn in figure 2, no number.",
            criterion="if it is ahead by more than two standard errors; it cannot be told within "
            "two.",
            evidence=f"Arm 3 less arm 4: {near[0]:+.4f} ± {near[1]:.4f} (standard error).",
            reading=f"judges who lean; judges who learn too: {near_too[0]:+.4f} ± "
            f"{near_too[1]:.4f}.",
            source="section 5.3, figure 2",
        ),
        Claim(
            text="With judges who do not anchor, and no spammers, the mix makes no difference.",
            holds=_alike(pairs),
            evidence=f"Means: {by_arm(flat)}; the largest difference is {most[0]:.4f} ± "
            f"{most[1]:.4f} (standard error).",
            criterion=f"if every difference and two standard errors together are below {_SAME}; it "
            "cannot be told where one may be either.",
            source="the paper's explanation turned round, beyond the paper",
        ),
    ]


def _recall_claim(main: Runs, learning: Runs) -> Claim:
    """The sentence on table 4 that the table itself contradicts."""
    mine, other = (_means_of(runs, VOTE, RECALL) for runs in (main, learning))
    theirs = dict(zip(ARMS, TABLE_4[RECALL], strict=True))
    return Claim(
        text=next(iter(CONTRADICTED)),
        holds=None,
        published=f"Recall: {by_arm(theirs)}: greatest in arm 5, against the paper's own words.",
        evidence=f"Recall: {by_arm(mine)}.",
        criterion="if recall is greatest in arm 3.",
        passes=_peaks(theirs),
        reading=f"judges who lean; judges who learn too: {by_arm(other)}.",
        source="section 5.3, table 4",
    )


def _over_precise(main: Runs, learning: Runs) -> Claim:
    """Whether recall exceeds precision in arm 5, and there more than anywhere."""

    def most_there(recall: _Means, precision: _Means) -> bool:
        ahead_by = {arm: recall[arm] - precision[arm] for arm in ARMS}
        return ahead_by["5"] > 0 and max(ahead_by, key=lambda arm: ahead_by[arm]) == "5"

    def pair(runs: Runs) -> tuple[dict[str, float], dict[str, float]]:
        return _means_of(runs, VOTE, RECALL), _means_of(runs, VOTE, PRECISION)

    def said(recall: _Means, precision: _Means) -> str:
        gaps = {arm: recall[arm] - precision[arm] for arm in ARMS}
        return "recall less precision " + ", ".join(f"{g:+.3f} (arm {a})" for a, g in gaps.items())

    theirs = tuple(dict(zip(ARMS, TABLE_4[name], strict=True)) for name in (RECALL, PRECISION))
    mine, other = pair(main), pair(learning)
    return Claim(
        text="As the training mix comes to that of the work, in arm 5, recall exceeds precision.",
        holds=most_there(*mine),
        published=f"{said(*theirs)}.",
        evidence=f"{said(*mine)}.",
        criterion="if recall is above precision in arm 5, and further above than in any other.",
        reading=f"judges who lean; judges who learn too: {said(*other)}.",
        source="section 5.3, table 4",
        passes=most_there(*theirs),
    )


def gap_of(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float]:
    """The mean difference over experiments, and its standard error."""
    gaps = one - other
    return float(gaps.mean()), error_of(gaps)


def ahead(gaps: Mapping[str, tuple[float, float]]) -> bool | None:
    """Whether every difference is above 0; None where one is within two standard errors of it."""
    return hold_all(is_above(*gap) for gap in gaps.values())


def _alike(gaps: Sequence[tuple[float, float]]) -> bool | None:
    """Whether all differences are surely too small to matter; None where one may or may not be."""
    if any(abs(gap) - 2 * error > _SAME for gap, error in gaps):
        return False
    return True if all(abs(gap) + 2 * error < _SAME for gap, error in gaps) else None


def by_arm(means: Mapping[str, float]) -> str:
    """Means by arm, in words."""
    return write_values({f"arm {arm}": value for arm, value in means.items()})


def gaps_said(gaps: Mapping[str, tuple[float, float]]) -> str:
    """Differences and their standard errors, in words."""
    return ", ".join(f"{gap:+.3f} ± {error:.3f} (arm {arm})" for arm, (gap, error) in gaps.items())
