"""Le and others (2010) through the real server: five arms, a simulated crowd, everything over HTTP.

Each experiment has its own server process with a SQLite file in a temporary folder, a project with
the paper's labels, mixes and numbers, and the crowd of ``crowd`` that comes over the API. The
server assigns arms, chooses golds, decides on judges, closes items, and reports by arm.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from adjudge.collect.rules.policy import Policy
from adjudge.collect.services.arms import FIVE_MIXES, preset_arms
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.simulation.behaviours import Stage, visit
from adjudge.simulation.http_client import HttpClient, item_key
from papers import training as paper
from papers.charts import published_and_obtained
from papers.results import Figure, Finding, Options, Replication, check, compare
from papers.training import ACCURACY, ARMS, MAIN, POLICY, UNIFORM, VOTE, Runs
from papers.training.crowd import LABELS, Assumptions, Material, arrivals, make_material

# Enough of each label for the mix of every arm: the most that any arm has.
POOL = tuple(max(counts) for counts in zip(*paper.GOLDS.values(), strict=True))
NONE, STRONG = "no anchoring", "anchoring 3"
TOLD = "anchoring 3, and golds missed at work shift it"
_HONEST = paper.CROWDS[paper.CONTROL]  # ethical judges only, who do not anchor
CROWDS: dict[str, Assumptions] = {
    MAIN: paper.CROWDS[MAIN],
    NONE: _HONEST,
    **{f"anchoring {s}": replace(_HONEST, anchoring=(float(s), float(s))) for s in (1, 2, 3)},
    TOLD: replace(_HONEST, anchoring=(3.0, 3.0)),
}
_MODELS = {VOTE: "majority vote"}
_SEEDS = {NONE: 20, "anchoring 2": 8, STRONG: 8}  # where differences are small; else 4


@contextmanager
def run_server(folder: Path) -> Iterator[str]:
    """``adjudge serve`` as a process with its files in a folder; gives its address.

    It may not answer yet: an ``HttpClient`` asks again for a minute.
    """
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    command = [sys.executable, "-m", "adjudge", "serve", "--port", str(port), "--database"]
    command += [str(folder / "adjudge.db"), "--secret-file", str(folder / "secret")]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=40)


def run_experiment(
    crowd: Assumptions, queries: int, seed: int, *, told: bool = False, policy: Policy = POLICY
) -> dict[str, Any]:
    """One experiment through its own server: what it reports by arm, and all judgments given.

    ``told``: whether golds that judges miss at work change the mix that they expect.
    """
    streams = np.random.SeedSequence(seed).spawn(3)
    made = make_material(queries, paper.MIX, {"all": POOL}, np.random.default_rng(streams[0]))
    every = (*made.items, *made.golds["all"])
    sight = {f"{item_key(one.query, one.text)}\n": LABELS.index(one.truth) for one in every}
    # The n-th judge of each arm is the same person, so that arms differ by their gold.
    comers = {
        arm: arrivals(crowd, sight, np.random.default_rng(streams[1]), learns_at_work=told)
        for arm in FIVE_MIXES
    }
    with tempfile.TemporaryDirectory(prefix="adjudge-") as place:
        slug, token = _create(Path(place) / "adjudge.db", _project(made, policy, seed))
        with run_server(Path(place)) as url:
            client = HttpClient(url, slug, token, one_line=True)
            try:
                _judge(client, comers, crowd.at_once * len(comers), streams[2])
                truth = {item.text: item.truth for item in made.items}
                asked = {"test": truth, "resamples": 0, "seed": seed}
                report = client.ask("POST", "/arms/report", asked)
            finally:
                client.close()
    return {"arms": _outcomes(report), "judgments": len(client.record.given)}


def _project(made: Material, policy: Policy, seed: int) -> Project:
    """The paper's project: its labels, its five mixes, five judgments per item in each arm."""
    golds = made.golds["all"]
    return Project(
        name="Training questions",
        scale=paper.SCALE,
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


def _create(database: Path, project: Project) -> tuple[str, str]:
    """A new database with an open project: its slug, and a requester's token."""
    store = Database(database)
    try:
        services = RequesterServices(store)
        setup = services.accounts.make_setup_token()
        owner = services.accounts.set_up(setup, "requester", "of this experiment alone")
        acting = services.acting_for(owner)
        slug = acting.projects.create(project).slug
        acting.projects.set_state(slug, "open")
        return slug, acting.accounts.make_token("crowd", scope="requester")[1]
    finally:
        store.close()


def _judge(
    client: HttpClient, comers: Mapping[str, Any], at_once: int, stream: np.random.SeedSequence
) -> None:
    """Let judges come, this many at a time and in turns, until every item has its judgments.

    One who comes when their arm has no work left leaves at once.
    """
    rng = np.random.default_rng(stream)
    visits: list[Iterator[Stage]] = []
    came = 0
    while True:
        if len(visits) < at_once:
            key = f"judge-{came}"
            came += 1
            client.arrive(key)
            session = client.session(key)
            if session.open_items:
                arm = client.ask("GET", f"/judges/{quote(session.judge, safe='')}")["row"]["arm"]
                visits.append(visit(next(comers[arm]), client, key))
            elif _is_complete(client):
                return
        if visits:
            at = int(rng.integers(len(visits)))
            if next(visits[at], None) is None:
                visits.pop(at)


def _is_complete(client: HttpClient) -> bool:
    """Whether every item has its judgments."""
    progress = client.ask("GET", "/progress")
    return bool(progress["closed"] == progress["items"])


def _outcomes(report: Mapping[str, Any]) -> dict[str, Any]:
    """The server's report in the terms of the paper's tables: arm, what, measure."""
    arms = dict(zip(FIVE_MIXES, ARMS, strict=True))
    found: dict[str, Any] = {}
    for row in report["funnel"]:
        counts = [row[name] for name in ("came", "trained", "passed", "failed")]
        share = np.nan if row["passed_share"] is None else 100 * row["passed_share"]
        funnel = dict(zip(paper.TABLE_2, map(float, (*counts, share)), strict=True))
        found[arms[row["arm"]]] = {"funnel": funnel, "judges": {}, VOTE: {}}
    names = ("accuracy", "precision Not Matching", "recall Not Matching")
    measures = dict(zip(names, (ACCURACY, paper.PRECISION, paper.RECALL), strict=True))
    for row in report["measures"]:
        what = {"judges": "judges", "majority-vote": VOTE}.get(row["what"])
        if what and row["measure"] in measures:
            value = np.nan if row["value"] is None else float(row["value"])
            arm = found[arms[row["arm"]]]
            arm[what][measures[row["measure"]]] = value
            arm["judgments"] = row["judgments"] if what == VOTE else arm.get("judgments")
    return found


def replicate(options: Options) -> Replication:
    """All crowds through servers; a quarter of the paper's queries, as HTTP takes a minute."""
    queries = 8 if options.quick else 64
    chosen = (MAIN, NONE, STRONG) if options.quick else tuple(CROWDS)
    found = {}
    for name in chosen:
        crowd = replace(CROWDS[name], at_once=2) if options.quick else CROWDS[name]
        seeds = range(1, options.count(full=_SEEDS.get(name, 4), quick=2) + 1)
        told = name in (MAIN, TOLD)
        found[name] = [run_experiment(crowd, queries, seed, told=told) for seed in seeds]
    return gather(found)


def gather(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> Replication:
    """Tables, figures and claims from the reports of the servers."""
    runs: dict[str, Runs] = {n: [one["arms"] for one in every] for n, every in found.items()}
    given = [one["judgments"] for every in found.values() for one in every]
    return Replication(
        tables=paper.paper_tables(runs[MAIN]) | {"strengths": paper.crowd_table(runs, _MODELS)},
        figures={
            "figure-2-plot": paper.figure_2(runs[MAIN]),
            "strength-plot": paper.strength_figure(runs, _MODELS),
            "gap-plot": _gap_figure(runs),
        },
        findings=findings(runs),
        values={
            "experiments": len(given),
            "judgments": sum(given),
            "items": runs[MAIN][0][UNIFORM]["judgments"] // POLICY.judgments_per_item,
            "seeds": "; ".join(f"{len(own)} ({name})" for name, own in runs.items()),
        },
    )


def findings(runs: Mapping[str, Runs]) -> dict[str, Finding]:
    """Whether the uniform arm is best for each crowd that anchors, and for none otherwise."""
    others = [arm for arm in ARMS if arm != UNIFORM]
    published = {"5": (paper.FIGURE_2["3"] - paper.FIGURE_2["5"], 0.0)}
    found = {}
    for name, own in runs.items():
        if name != NONE:
            key = "uniform-best" if name == MAIN else f"uniform-best@{name}"
            lead = paper.lead_over(own, others)
            found[key] = check(paper.is_ahead, paper.listed_gaps, lead, published=published)
    accuracy = np.stack([paper.values(runs[NONE], arm, VOTE, ACCURACY) for arm in ARMS], axis=1)
    p = permutation_p(accuracy)
    means = dict(zip(ARMS, accuracy.mean(axis=0), strict=True))
    found["no-anchoring"] = Finding(p > 0.05, f"{paper.listed_arms(means)}; p = {p:.3f}")
    counts = {run[arm]["judgments"] for every in runs.values() for run in every for arm in ARMS}
    found["quota"] = Finding(len(counts) == 1, ", ".join(f"{n:,}" for n in sorted(counts)))
    return found


def permutation_p(accuracy: Any) -> float:  # (experiment, arm)
    """P of arm means this far apart if arms made no difference, by shuffling within experiments."""
    rng = np.random.default_rng(0)
    seen = accuracy.mean(axis=0).var()
    shuffled = [rng.permuted(accuracy, axis=1).mean(axis=0).var() for _ in range(9999)]
    return float((1 + sum(one >= seen - 1e-15 for one in shuffled)) / 10000)


def _gap_figure(runs: Mapping[str, Runs]) -> Figure:
    """How far the uniform arm is ahead of arms 4 and 5, by crowd, ± 2 standard errors."""
    leads = {
        (crowd, f"arm {arm}"): lead
        for crowd, own in runs.items()
        for arm, lead in paper.lead_over(own, "45").items()
    }
    cells = compare({cell: [mean] for cell, (mean, _) in leads.items()})
    cells["sd"] = [error for _, error in leads.values()]
    axis = "accuracy of arm 3 less that of the other"
    return Figure(cells, published_and_obtained(cells, axis, rule=0.0))
