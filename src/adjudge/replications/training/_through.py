"""Le and others (2010) through the real server: five arms, a made crowd, everything over HTTP.

A part is one experiment: a server process of its own at a SQLite file in a temporary folder, a
project with the paper's labels, mixes and numbers, and the crowd of ``_crowd`` that comes
to it over the API. The server assigns arms, chooses golds, decides on judges, closes items, and
reports by arm; nothing of it is done here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import count, permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.collect.rules.policy import Policy
from adjudge.collect.services.arms import FIVE_MIXES, preset_arms
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.models.model import Progress, Step
from adjudge.replications._data import rows_table
from adjudge.replications.replication import (
    Cell,
    Claim,
    PaperFigure,
    Replication,
    ReplicationPart,
    ReplicationResult,
    Setup,
    Table,
)
from adjudge.replications.training import (
    ACCURACY,
    ARMS,
    CAME,
    CONTROL,
    CROWDS,
    FAILED,
    FIGURE_2,
    GOLDS,
    MIX,
    PASSED,
    POLICY,
    PRECISION,
    RECALL,
    SCALE,
    SHARE,
    TRAINED,
    UNIFORM,
    VOTE,
)
from adjudge.replications.training import REPLICATION as PAPER
from adjudge.replications.training._claims import (
    Runs,
    ahead,
    by_arm,
    gap_of,
    gaps_said,
    values,
)
from adjudge.replications.training._crowd import LABELS, Assumptions, Material, arrivals, material
from adjudge.replications.training._result import (
    aggregate_figure,
    gap_chart,
    paper_tables,
    strength_chart,
    strength_data,
)
from adjudge.simulation.behaviours import MadeJudge
from adjudge.simulation.http_client import HttpClient, item_key
from adjudge.simulation.server import run_server
from adjudge.simulation.visits import Stage, visit

# Enough of each label for the mix of every arm: as much as the arm has that wants it most.
_POOL = tuple(max(counts) for counts in zip(*GOLDS.values(), strict=True))
_NAMES = dict(zip(FIVE_MIXES, ARMS, strict=True))  # the preset's name of an arm: the paper's
_HONEST = CROWDS[CONTROL]  # ethical judges only, who do not anchor
_MAIN, _NONE, _STRONG = "anchoring", "strength-0", "strength-3"
_STRENGTHS: dict[str, Assumptions] = {
    f"strength-{strength}": replace(_HONEST, anchoring=(float(strength), float(strength)))
    for strength in (0, 1, 2, 3)
}
_TOLD = "strength-3-told"  # and golds that they miss in work shift them as well
_THROUGH: dict[str, Assumptions] = {_MAIN: CROWDS[_MAIN], **_STRENGTHS, _TOLD: _STRENGTHS[_STRONG]}
_SAID = {
    _MAIN: "as assumed, with spammers and clickers",
    **{name: f"anchoring {crowd.anchoring[0]:g}" for name, crowd in _STRENGTHS.items()},
    _TOLD: "anchoring 3, and golds missed in work shift it",
}
_SEEDS = {_NONE: 20, "strength-2": 8, _STRONG: 8}  # where more has to be told
_QUERIES = 64  # a quarter of the paper's: an experiment over HTTP takes a minute
_QUICK = 8
_CHANCE = 0.05  # p below which a difference is beyond chance
_DEALS = 9999


def _parts(setup: Setup) -> list[ReplicationPart]:
    """An experiment a part; more of those where the difference matters most."""
    queries = _QUICK if setup.quick else _QUERIES
    seeds = {name: setup.count(full=_SEEDS.get(name, 4), quick=2) for name in _THROUGH}
    parts = []
    for seed in range(1, max(seeds.values()) + 1):
        for name, stated in _THROUGH.items():
            if seed > seeds[name] or (setup.quick and name not in (_MAIN, _NONE, _STRONG)):
                continue
            crowd = replace(stated, at_once=2) if setup.quick else stated
            told = name in (_MAIN, _TOLD)
            settings = {"crowd": asdict(crowd), "policy": POLICY.to_dict(), "queries": queries}
            parts.append(
                ReplicationPart(
                    name=f"{name}-seed-{seed:03d}",
                    settings={**settings, "seed": seed, "learns_at_work": told},
                    work=partial(_experiment, crowd, queries, seed, learns_at_work=told),
                )
            )
    return parts


def _experiment(
    crowd: Assumptions,
    queries: int,
    seed: int,
    progress: Progress | None = None,
    *,
    learns_at_work: bool = False,
    policy: Policy = POLICY,
) -> dict[str, Any]:
    """One experiment through a server of its own: what the server reports of each arm."""
    streams = np.random.SeedSequence(seed).spawn(3)
    made = material(queries, MIX, {"all": _POOL}, np.random.default_rng(streams[0]))
    truth = {item.text: item.truth for item in made.items}
    with tempfile.TemporaryDirectory(prefix="adjudge-") as place:
        folder = Path(place)
        slug, token = _prepare(folder / "adjudge.db", _project(made, policy, seed))
        with run_server(folder / "adjudge.db", folder) as server:
            client = HttpClient(server.url, slug, token, one_line=True)
            needed, sheets = 5 * len(FIVE_MIXES) * len(made.items), count(1)

            def tell() -> None:
                if progress is not None and next(sheets) % 50 == 0:
                    progress(Step("judgments", min(len(client.record.given), needed), needed))

            try:
                comers = _comers(crowd, made, streams[1], learns_at_work=learns_at_work)
                _let_come(client, comers, crowd.at_once * len(comers), streams[2], tell)
                report = client.arm_report(truth, resamples=0, seed=seed)
                work = sum(one.kind == "work" for one in client.record.given)
            finally:
                client.close()
    return {"arms": _outcomes(report), "judgments": len(client.record.given), "work": work}


def _project(made: Material, policy: Policy, seed: int) -> Project:
    """The paper's project: its labels, its five mixes, five judgments an item in each arm."""
    golds = made.golds["all"]
    return Project(
        name="Training questions",
        scale=SCALE,
        guidelines="Say what the result is to its query.",
        items=tuple(
            Item(name=shown.text, topic=shown.query, query=shown.query, title=shown.text)
            for shown in (*made.items, *golds)
        ),
        golds=tuple(GoldEntry(item=gold.text, accepted=(gold.truth,)) for gold in golds),
        policy={**policy.to_dict(), "judgments_by_arm": True, "require_consent": False},
        arms=preset_arms("five-mixes", labels=LABELS),
        seed=seed,
    )


def _prepare(database: Path, made: Project) -> tuple[str, str]:
    """A new store with a project that is open to judges, and a requester's token for it."""
    store = Database(database)
    try:
        services = RequesterServices(store)
        owner = services.accounts.set_up(
            services.accounts.make_setup_token(), "requester", "of this experiment alone"
        )
        acting = services.acting_for(owner)
        slug = acting.projects.create(made).slug
        acting.projects.set_state(slug, "open")
        return slug, acting.accounts.make_token("crowd", scope="requester")[1]
    finally:
        store.close()


def _comers(
    crowd: Assumptions, made: Material, stream: np.random.SeedSequence, *, learns_at_work: bool
) -> dict[str, Iterator[MadeJudge]]:
    """Who comes to each arm: the n-th is the same person in all, as in ``run_experiment``.

    The server deals out arms by chance of its own. People made alike in every arm make arms differ
    by their gold and not by who happened to come, so that few experiments tell much.
    """
    every = (*made.items, *made.golds["all"])
    sight = {f"{item_key(one.query, one.text)}\n": LABELS.index(one.truth) for one in every}
    return {
        arm: arrivals(crowd, sight, np.random.default_rng(stream), learns_at_work=learns_at_work)
        for arm in FIVE_MIXES
    }


def _let_come(
    client: HttpClient,
    comers: Mapping[str, Iterator[MadeJudge]],
    at_once: int,
    stream: np.random.SeedSequence,
    on_sheet: Callable[[], None],
) -> None:
    """Let judges come, so many at a time and in turns, until every item has its judgments.

    One who comes when their arm has nothing left to give them goes away at once.
    """
    rng = np.random.default_rng(stream)
    visits: list[Iterator[Stage]] = []
    came = 0
    while True:
        if len(visits) < at_once:
            key = f"judge-{came}"
            came += 1
            client.arrive(key)
            if client.had_work(key):
                visits.append(visit(next(comers[client.arm(key)]), client, key))
            elif client.complete():
                return
        if visits:
            at = int(rng.integers(len(visits)))
            if next(visits[at], None) is None:
                visits.pop(at)
            else:
                on_sheet()


def _outcomes(report: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
    """The server's report by arm in the words of the paper's tables: arm, what, measure."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in report["funnel"]:
        counts = [float(row[name]) for name in ("came", "trained", "passed", "failed")]
        funnel = dict(zip((CAME, TRAINED, PASSED, FAILED), counts, strict=True))
        funnel[SHARE] = float("nan") if row["passed_share"] is None else 100 * row["passed_share"]
        found[_NAMES[row["arm"]]] = {"funnel": funnel, "judges": {}, VOTE: {}, "judgments": {}}
    names = {
        "accuracy": ACCURACY,
        "precision Not Matching": PRECISION,
        "recall Not Matching": RECALL,
    }
    parts = {"judges": "judges", "majority-vote": VOTE}
    for row in report["measures"]:
        if row["measure"] in names and row["what"] in parts:
            arm = found[_NAMES[row["arm"]]]
            value = float("nan") if row["value"] is None else float(row["value"])
            arm[parts[row["what"]]][names[row["measure"]]] = value
            arm["judgments"][parts[row["what"]]] = float(row["judgments"])
    return found


def _there(runs: Mapping[str, Sequence[Any]]) -> list[tuple[str, str]]:
    """The crowds that came, and what is said of them; a quick run has fewer."""
    return [(name, said) for name, said in _SAID.items() if runs[name]]


def _gather(_: Setup, partials: Mapping[str, Any]) -> ReplicationResult:
    """Everything from the reports of the servers."""
    runs: dict[str, list[Any]] = {name: [] for name in _THROUGH}
    for name, part in partials.items():
        runs[name.rsplit("-seed-", 1)[0]].append(part["arms"])
    return ReplicationResult(
        command="training --through-server",
        tables=_tables(runs),
        figures=_figures(runs),
        claims=[*_effects(runs), _none(runs[_NONE]), _quota(runs)],
        notes=_notes(_seeds(runs), list(partials.values())),
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
        *paper_tables(runs[_MAIN], dealt="the server deals gold out by these shares"),
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
        aggregate_figure(runs[_MAIN], "trusted judgments as the server reports it"),
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
    return rows_table(("crowd", "arm", "gap", "error"), rows)


def _effects(runs: dict[str, list[Any]]) -> list[Claim]:
    """Whether the uniform arm is best, for every crowd that anchors."""
    found = []
    for name, said in _there(runs):
        if name == _NONE:
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


REPLICATION = Replication(
    name="training-server",
    title="The label mix of training questions, through the real server",
    source=PAPER.source,
    parts=_parts,
    gather=_gather,
)
