"""The training experiment through the real server: five arms, simulated judges over HTTP.

Each experiment has its own server process with a SQLite file in a temporary folder, a project with
the paper's labels, mixes and numbers, and the crowd of ``crowd`` that comes over the API. The
server assigns arms, chooses golds, decides on judges, closes items, and reports by arm.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from adjudge import Gold
from adjudge.collect.rules.policy import Policy
from adjudge.collect.services.arms import FIVE_MIXES, preset_arms
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.values.arms import ArmReport
from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.simulation.behaviours import SimulatedJudge, Stage, visit
from adjudge.simulation.http_client import HttpClient, item_key
from papers import training as paper
from papers.training import ACCURACY, ARMS, POLICY, VOTE
from papers.training.crowd import LABELS, Assumptions, Material, arrivals, make_material, take_turns

# Enough of each label for the mix of every arm: the most that any arm has.
POOL = tuple(max(counts) for counts in zip(*paper.GOLDS.values(), strict=True))


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
    crowd: Assumptions, queries: int, seed: int, policy: Policy = POLICY
) -> dict[str, Any]:
    """One experiment through its own server: what it reports by arm, and all judgments given."""
    streams = np.random.SeedSequence(seed).spawn(3)
    made = make_material(queries, paper.MIX, {"all": POOL}, np.random.default_rng(streams[0]))
    every = (*made.items, *made.golds["all"])
    sight = {f"{item_key(one.query, one.text)}\n": LABELS.index(one.truth) for one in every}
    # The n-th judge of each arm is the same person, so that arms differ by their gold.
    comers = {arm: arrivals(crowd, sight, np.random.default_rng(streams[1])) for arm in FIVE_MIXES}
    truth = Gold.of({item.text: item.truth for item in made.items})
    with tempfile.TemporaryDirectory(prefix="adjudge-") as place:
        database = Path(place) / "adjudge.db"
        slug, token, owner = _create(database, _project(made, policy, seed))
        with run_server(Path(place)) as url:
            client = HttpClient(url, slug, token, one_line=True)
            try:
                rng = np.random.default_rng(streams[2])
                take_turns(_arrive(client, comers), crowd.at_once * len(comers), rng)
            finally:
                client.close()
        with closing(Database(database)) as store:
            arms = RequesterServices(store).acting_for(owner).arms
            report = arms.report(slug, test=truth, resamples=0, seed=seed)
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


def _create(database: Path, project: Project) -> tuple[str, str, Any]:
    """A new database with an open project: its slug, a requester's token, and its owner."""
    with closing(Database(database)) as store:
        services = RequesterServices(store)
        setup = services.accounts.make_setup_token()
        owner = services.accounts.set_up(setup, "requester", "of this experiment alone")
        acting = services.acting_for(owner)
        slug = acting.projects.create(project).slug
        acting.projects.set_state(slug, "open")
        return slug, acting.accounts.make_token("crowd", scope="requester")[1], owner


def _arrive(
    client: HttpClient, comers: Mapping[str, Iterator[SimulatedJudge]]
) -> Iterator[Iterator[Stage] | None]:
    """One visit after the other, until every item has its judgments; None from a full arm."""
    for number in count():
        key = f"judge-{number}"
        client.arrive(key)
        session = client.session(key)
        if session.open_items:
            arm = client.ask("GET", f"/judges/{quote(session.judge, safe='')}")["row"]["arm"]
            yield visit(next(comers[arm]), client, key)
        elif _is_complete(client):
            return
        else:
            yield None


def _is_complete(client: HttpClient) -> bool:
    """Whether every item has its judgments."""
    progress = client.ask("GET", "/progress")
    return bool(progress["closed"] == progress["items"])


def _outcomes(report: ArmReport) -> dict[str, Any]:
    """The server's report in the terms of the paper's tables: arm, what, measure."""
    arms = dict(zip(FIVE_MIXES, ARMS, strict=True))
    found: dict[str, Any] = {}
    for row in report.funnel:
        share = np.nan if row.passed_share is None else 100 * row.passed_share
        counts = (row.came, row.trained, row.passed, row.failed, share)
        funnel = dict(zip(paper.TABLE_2, map(float, counts), strict=True))
        found[arms[row.arm]] = {"funnel": funnel, "judges": {}, VOTE: {}}
    names = ("accuracy", "precision Not Matching", "recall Not Matching")
    measures = dict(zip(names, (ACCURACY, paper.PRECISION, paper.RECALL), strict=True))
    for one in report.measures:
        what = {"judges": "judges", "majority-vote": VOTE}.get(one.what)
        if what and one.measure in measures:
            arm = found[arms[one.arm]]
            arm[what][measures[one.measure]] = np.nan if one.value is None else float(one.value)
            arm["judgments"] = one.judgments if what == VOTE else arm.get("judgments")
    return found
