"""The training-question experiment through the server: tables, figures, what can be told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.replications.replication import Cell, Claim, PaperFigure, ReplicationResult, Table
from adjudge.replications.training import (
    ACCURACY,
    ARMS,
    FIGURE_2,
    POLICY,
    UNIFORM,
    VOTE,
)
from adjudge.replications.training.claims import (
    Runs,
    ahead,
    by_arm,
    gap_of,
    gaps_said,
    values,
)
from adjudge.replications.training.result import (
    aggregate_figure,
    gap_chart,
    paper_tables,
    strength_chart,
    strength_data,
)
from adjudge.replications.training.through import MAIN, NONE, STRENGTHS, THROUGH, TOLD

_SAID = {
    MAIN: "as assumed, with spammers and clickers",
    **{name: f"anchoring {crowd.anchoring[0]:g}" for name, crowd in STRENGTHS.items()},
    TOLD: "anchoring 3, and golds missed in work shift it",
}


def _there(runs: Mapping[str, Sequence[Any]]) -> list[tuple[str, str]]:
    """The crowds that came, and what is said of them; a quick run has fewer."""
    return [(name, said) for name, said in _SAID.items() if runs[name]]


_CHANCE = 0.05  # p below which a difference is beyond chance
_DEALS = 9999


def gather(partials: Mapping[str, Any]) -> ReplicationResult:
    """Everything from the reports of the servers."""
    runs: dict[str, list[Any]] = {name: [] for name in THROUGH}
    held: list[Mapping[str, Any]] = []
    for name, part in partials.items():
        runs[name.rsplit("-seed-", 1)[0]].append(part["arms"])
        held.append(part)
    return ReplicationResult(
        command="training --through-server",
        tables=_tables(runs),
        figures=_figures(runs),
        claims=[*_effects(runs), _none(runs[NONE]), _quota(runs)],
        notes=_notes(_seeds(runs), held),
    )


def _seeds(runs: dict[str, list[Any]]) -> str:
    """How many seeds there are, in words: crowds may differ."""
    counts = [len(runs[name]) for name, _ in _there(runs)]
    if len(set(counts)) == 1:
        return f"{counts[0]} seeds"
    each = "; ".join(f"{len(runs[name])} ({said})" for name, said in _there(runs))
    return f"seeds, of which there are {each}"


def _notes(seeds: str, held: list[Mapping[str, Any]]) -> list[str]:
    given = sum(int(part["judgments"]) for part in held)
    each = POLICY.judgments_per_item
    items = sorted({int(part["arms"][UNIFORM]["judgments"][VOTE]) // each for part in held})
    return [
        "**What this is.** The experiment of the paper, through the software that a team would run "
        "it with: for each experiment a server process of its own (SQLite, HTTP), a project with "
        "the paper's labels, its five mixes as arms (training and screening gold by quota), and 5 "
        "trusted judgments an item in each arm. Made judges come over the HTTP API, are put into "
        "arms by the server at random, trained, screened, warned and blocked by it, until every "
        "item is closed in every arm. All values below are from the server's own report by arm, "
        f"against the true label of every item: {', '.join(map(str, items))} items, where the "
        f"paper had 1,280. {len(held)} experiments, {given:,} judgments; mean and sd over {seeds}.",
        "**Who comes.** The crowd of the [simulation](training.md), with the same assumptions; "
        "and, to see what anchoring alone does, crowds of ethical judges only, all of one strength "
        "of anchoring: p(label | truth) ∝ confusion × mix ^ strength. With strength 0 a judge "
        "ignores the mix, with 1 they take it for the prior as Bayes' rule would, with 2 and 3 "
        "they trust it two and three times as much as that. The mix is that of their training; in "
        "the last crowd, and in that of the simulation, the right answers to golds missed in "
        "work shift it too. The n-th judge to come to each arm is the same made person, so that "
        "differences between arms are paired.",
        "**Table 2.** The server deals arms out in blocks, so that as many come to each; those who "
        "come when their arm is done see that there is nothing left and go, and count as come.",
        "**Work.** The seconds of work above are the crowd's own; the servers' are not counted.",
    ]


def _tables(runs: dict[str, list[Any]]) -> list[Table]:
    return [
        *paper_tables(runs[MAIN], dealt="the server deals gold out by these shares"),
        Table(
            name="strengths",
            title="Aggregate accuracy by strength of anchoring",
            source="Beyond the paper: the same arms with other judges",
            cells=[
                Cell.over(said, f"arm {arm}", values(runs[name], arm, VOTE, ACCURACY).tolist())
                for name, said in _there(runs)
                for arm in ARMS
            ],
        ),
    ]


def _figures(runs: dict[str, list[Any]]) -> list[PaperFigure]:
    return [
        aggregate_figure(runs[MAIN], "trusted judgments as the server reports it"),
        PaperFigure(
            name="strength-plot",
            title="Aggregate accuracy by arm and by strength of anchoring",
            source="Beyond the paper",
            data=strength_data(runs, _there(runs), {VOTE: "majority vote"}),
            chart=strength_chart,
            caption="Means of the majority vote, ± 2 standard errors over experiments.",
        ),
        PaperFigure(
            name="gap-plot",
            title="How far the uniform arm is ahead",
            source="Beyond the paper",
            data=_ahead(runs),
            chart=gap_chart,
            caption="Aggregate accuracy of arm 3 less that of arms 4 and 5, paired by experiment, "
            "± 2 standard errors.",
        ),
    ]


def _ahead(runs: dict[str, list[Any]]) -> Any:
    rows = []
    for name, said in _there(runs):
        uniform = values(runs[name], UNIFORM, VOTE, ACCURACY)
        for arm in ("4", "5"):
            gap, error = gap_of(uniform, values(runs[name], arm, VOTE, ACCURACY))
            rows.append((said, f"arm {arm}", gap, error))
    names = ("crowd", "arm", "gap", "error")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def _effects(runs: dict[str, list[Any]]) -> list[Claim]:
    """Whether the uniform arm is best, for every crowd that anchors."""
    found = []
    for name, said in _there(runs):
        if name == NONE:
            continue
        accuracy = {arm: values(runs[name], arm, VOTE, ACCURACY) for arm in ARMS}
        gaps = {arm: gap_of(accuracy[UNIFORM], accuracy[arm]) for arm in ARMS if arm != UNIFORM}
        means = {arm: float(one.mean()) for arm, one in accuracy.items()}
        found.append(
            Claim(
                text=f"The uniform arm (arm 3) gives the best aggregate accuracy: {said}.",
                holds=ahead(gaps),
                evidence=f"Means: {by_arm(means)}. Arm 3 less the others, ± standard error: "
                f"{gaps_said(gaps)}.",
                criterion="if it is ahead of each by more than two standard errors over "
                "experiments; it cannot be told within two.",
                published=f"Arm 3 {FIGURE_2['3']:.4f}, arm 5 {FIGURE_2['5']:.2f}, others drawn.",
                passes=ahead({"5": (FIGURE_2["3"] - FIGURE_2["5"], 0.0)}),
                source="section 5.3, figure 2",
            )
        )
    return found


def _none(runs: Runs) -> Claim:
    """Whether arms are alike where judges do not anchor."""
    accuracy = np.stack([values(runs, arm, VOTE, ACCURACY) for arm in ARMS], axis=1)
    p = _shuffled(accuracy)
    pairs = [
        gap_of(accuracy[:, one], accuracy[:, other])
        for one, other in permutations(range(len(ARMS)), 2)
    ]
    most = max(pairs)
    means = dict(zip(ARMS, accuracy.mean(axis=0).tolist(), strict=True))
    return Claim(
        text="With judges who do not anchor, no arm differs from another beyond chance.",
        holds=p > _CHANCE,
        evidence=f"Means: {by_arm(means)}; the largest difference is {most[0]:.4f} ± "
        f"{most[1]:.4f} (standard error). Arms dealt out again within each experiment lie as far "
        f"apart with p = {p:.3f}.",
        criterion=f"if p is above {_CHANCE:g}.",
        source="the paper's explanation, turned round",
    )


def _shuffled(accuracy: NDArray[np.float64]) -> float:  # (experiment, arm)
    """P of arms whose means lie so far apart if arms made no difference, within experiments."""
    rng = np.random.default_rng(0)
    seen = float(accuracy.mean(axis=0).var())
    found = [rng.permuted(accuracy, axis=1).mean(axis=0).var() for _ in range(_DEALS)]
    return float((1 + sum(one >= seen - 1e-15 for one in found)) / (_DEALS + 1))


def _quota(runs: dict[str, list[Any]]) -> Claim:
    """Whether every arm has as many trusted judgments as every other."""
    counts = {
        run[arm]["judgments"][VOTE] for every in runs.values() for run in every for arm in ARMS
    }
    return Claim(
        text="Every arm has the same number of trusted judgments, in every experiment.",
        holds=len(counts) == 1,
        evidence=f"{', '.join(f'{count:,.0f}' for count in sorted(counts))}: five an item.",
        criterion="if there is one number alone.",
        source="section 4",
    )
