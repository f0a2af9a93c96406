"""Le and others (2010) through the real server: five arms, a made crowd, everything over HTTP.

A part is one experiment: a server process of its own at a SQLite file in a temporary folder, a
project with the paper's labels, mixes and numbers, and the crowd of ``training.crowd`` that comes
to it over the API. The server assigns arms, chooses golds, decides on judges, closes items, and
reports by arm; nothing of it is done here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.collect.rules.policy import Policy
from adjudge.collect.services.arms import FIVE_MIXES, preset_arms
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.models.model import Progress, Step
from adjudge.replications.replication import ReplicationPart, ReplicationResult, Setup
from adjudge.replications.training import (
    ACCURACY,
    ARMS,
    CAME,
    CONTROL,
    CROWDS,
    FAILED,
    GOLDS,
    MIX,
    PASSED,
    POLICY,
    PRECISION,
    RECALL,
    SCALE,
    SHARE,
    TRAINED,
    VOTE,
)
from adjudge.replications.training import REPLICATION as PAPER
from adjudge.replications.training.crowd import LABELS, Assumptions, Material, arrivals, material
from adjudge.simulation.behaviours import MadeJudge
from adjudge.simulation.http_client import HttpClient, item_key
from adjudge.simulation.server import run_server
from adjudge.simulation.visits import Stage, visit

# Enough of each label for the mix of every arm: as much as the arm has that wants it most.
POOL = tuple(max(counts) for counts in zip(*GOLDS.values(), strict=True))
_NAMES = dict(zip(FIVE_MIXES, ARMS, strict=True))  # the preset's name of an arm: the paper's
_HONEST = CROWDS[CONTROL]  # ethical judges only, who do not anchor

MAIN, NONE, STRONG = "anchoring", "strength-0", "strength-3"
STRENGTHS: dict[str, Assumptions] = {
    f"strength-{strength}": replace(_HONEST, anchoring=(float(strength), float(strength)))
    for strength in (0, 1, 2, 3)
}
TOLD = "strength-3-told"  # and golds that they miss in work shift them as well
THROUGH: dict[str, Assumptions] = {MAIN: CROWDS[MAIN], **STRENGTHS, TOLD: STRENGTHS[STRONG]}
_SEEDS = {NONE: 20, "strength-2": 8, STRONG: 8}  # where more has to be told
_QUERIES = 64  # a quarter of the paper's: an experiment over HTTP takes a minute
_QUICK = 8


class _ThroughServer:
    """The replication, as the runner takes it."""

    name = "training-server"
    title = "The label mix of training questions, through the real server"
    source = PAPER.source

    def parts(self, setup: Setup) -> list[ReplicationPart]:
        """An experiment a part; more of those where the difference matters most."""
        queries = _QUICK if setup.quick else _QUERIES
        seeds = {name: setup.count(full=_SEEDS.get(name, 4), quick=2) for name in THROUGH}
        parts = []
        for seed in range(1, max(seeds.values()) + 1):
            for name, stated in THROUGH.items():
                if seed > seeds[name] or (setup.quick and name not in (MAIN, NONE, STRONG)):
                    continue
                crowd = replace(stated, at_once=2) if setup.quick else stated
                told = name in (MAIN, TOLD)
                settings = {"crowd": asdict(crowd), "policy": POLICY.to_dict(), "queries": queries}
                parts.append(
                    ReplicationPart(
                        name=f"{name}-seed-{seed:03d}",
                        settings={**settings, "seed": seed, "learns_at_work": told},
                        work=partial(experiment, crowd, queries, seed, learns_at_work=told),
                    )
                )
        return parts

    def gather(self, setup: Setup, partials: Mapping[str, Any]) -> ReplicationResult:  # noqa: ARG002
        """Tables 1 to 4 and figure 2 from the server's reports, and the effect by strength."""
        from adjudge.replications.training.through_result import gather

        return gather(partials)


def experiment(
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
    made = material(queries, MIX, {"all": POOL}, np.random.default_rng(streams[0]))
    truth = {item.text: item.truth for item in made.items}
    with tempfile.TemporaryDirectory(prefix="adjudge-") as place:
        folder = Path(place)
        slug, token = _prepare(folder / "adjudge.db", _project(made, policy, seed))
        with run_server(folder / "adjudge.db", folder) as server:
            client = HttpClient(server.url, slug, token, one_line=True)
            try:
                bar = _ProgressReport(progress, 5 * len(FIVE_MIXES) * len(made.items))
                comers = _Comers(crowd, made, streams[1], learns_at_work=learns_at_work)
                _let_come(client, comers, streams[2], bar)
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


class _Comers:
    """Who comes: the n-th to come to each arm is the same person, as in ``run_experiment``.

    The server deals out arms by chance of its own. People made alike in every arm make arms differ
    by their gold and not by who happened to come, so that few experiments tell much.
    """

    def __init__(
        self,
        crowd: Assumptions,
        made: Material,
        stream: np.random.SeedSequence,
        *,
        learns_at_work: bool,
    ) -> None:
        self.at_once = crowd.at_once * len(FIVE_MIXES)
        every = (*made.items, *made.golds["all"])
        sight = {f"{item_key(one.query, one.text)}\n": LABELS.index(one.truth) for one in every}
        self._comers = {
            arm: arrivals(
                crowd, sight, np.random.default_rng(stream), learns_at_work=learns_at_work
            )
            for arm in FIVE_MIXES
        }

    def next(self, arm: str) -> MadeJudge:
        """The next person for an arm."""
        return next(self._comers[arm])


@dataclass(slots=True)
class _ProgressReport:
    """Progress by the judgments that were acknowledged, now and then."""

    progress: Progress | None
    needed: int
    steps: int = 0

    def step(self, client: HttpClient) -> None:
        """One more sheet was answered."""
        self.steps += 1
        if self.progress is not None and self.steps % 50 == 0:
            self.progress(
                Step("judgments", min(len(client.record.given), self.needed), self.needed)
            )


def _let_come(
    client: HttpClient,
    comers: _Comers,
    stream: np.random.SeedSequence,
    bar: _ProgressReport | None = None,
) -> None:
    """Let judges come, so many at a time and in turns, until every item has its judgments.

    One who comes when their arm has nothing left to give them goes away at once.
    """
    rng = np.random.default_rng(stream)
    visits: list[Iterator[Stage]] = []
    came = 0
    while True:
        if len(visits) < comers.at_once:
            key = f"judge-{came}"
            came += 1
            client.arrive(key)
            if client.had_work(key):
                visits.append(visit(comers.next(client.arm(key)), client, key))
            elif client.complete():
                return
        if visits:
            at = int(rng.integers(len(visits)))
            if next(visits[at], None) is None:
                visits.pop(at)
            elif bar is not None:
                bar.step(client)


def _outcomes(report: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
    """The server's report by arm in the words of the paper's tables: arm, what, measure."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in report["funnel"]:
        counts = [float(row[name]) for name in ("came", "trained", "passed", "failed")]
        funnel = dict(zip((CAME, TRAINED, PASSED, FAILED), counts, strict=True))
        funnel[SHARE] = 100 * _number(row["passed_share"])
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
            arm[parts[row["what"]]][names[row["measure"]]] = _number(row["value"])
            arm["judgments"][parts[row["what"]]] = float(row["judgments"])
    return found


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


REPLICATION = _ThroughServer()
