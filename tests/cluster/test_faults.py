"""Processes that die, join and vanish in the middle of a fit: real ones, really killed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clusters import START, KeptCluster, RealCluster, kill
from distributed import Client
from impatient import look_briefly

from adjudge import (
    Checkpoint,
    Consensus,
    DaskEngine,
    DawidSkene,
    HybridConfusion,
    Judgments,
    Model,
    ThreadsEngine,
)
from adjudge.cli import call
from adjudge.data.formats import Content, read, write
from adjudge.data.formats.trec_rf10 import trec_2011_subset
from adjudge.errors import ClusterLost
from adjudge.models.model import Step
from adjudge.simulation import Crowd, Population
from sizes import sized
from waiting import wait_until

pytestmark = pytest.mark.slow

LIMIT = 600  # seconds, for what will never be
IMPATIENT = Path(__file__).with_name("impatient.py")  # the command line

EM = DawidSkene(tolerance=0.0, iterations=25)
GIBBS = HybridConfusion(chains=2, warmup=sized(5, full=10), draws=sized(25, full=40), thin=1)
EITHER = pytest.mark.parametrize(
    "model",
    [pytest.param(EM, id="em"), pytest.param(GIBBS, id="gibbs", marks=pytest.mark.full)],
)


@pytest.fixture(scope="module")
def table() -> Judgments:
    population = Population.parse("skilled(6,4):80,spammer:10,lazy:10", judges=100)
    return Crowd(items=4_000, population=population, per_item=5).make(2).judgments


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptCluster]:
    """A cluster that the tests share: what one of them kills, the next that needs it starts."""
    made = KeptCluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.close()


@contextmanager
def connected(cluster: RealCluster, **settings: Any) -> Iterator[DaskEngine]:
    """An engine on a cluster, which has heard of all its processes and of every end of one."""
    with DaskEngine(scheduler=cluster.address, **settings) as engine:
        count = len(cluster.workers)
        wait_until(lambda: len(engine.connection.workers()) == count, START, "all have come")
        yield engine


def assert_same(one: Consensus, two: Consensus) -> None:
    for name in ("posterior", "choice", "prevalence", "confusion", "counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    np.testing.assert_array_equal(one.trace, two.trace)
    if one.draws is not None:
        assert two.draws is not None
        np.testing.assert_array_equal(one.draws.confusion, two.draws.confusion)


def once(moment: Callable[[Step], bool], act: Callable[[], object]) -> Callable[[Step], None]:
    """A progress callback that acts the first time that the moment has come."""
    acted: list[bool] = []

    def progress(step: Step) -> None:
        if not acted and moment(step):
            acted.append(True)
            act()

    progress.acted = acted  # type: ignore[attr-defined]
    return progress


def middle(step: Step) -> bool:
    """A moment well within a fit: in EM after a few sweeps, in Gibbs when draws are kept."""
    return step.done >= 5 if step.stage == "fitting" else "draws" in step.note


@EITHER  # the first of all: the two processes that it leaves are there for the next
def test_a_process_that_joins_changes_no_bit(
    model: Model, table: Judgments, kept: KeptCluster
) -> None:
    cluster = kept.having(1)
    with connected(cluster) as engine:

        def join() -> None:
            cluster.workers.append(cluster.add())
            engine.client.wait_for_workers(2, timeout=START)

        consensus = model.fit(table, engine=engine, progress=once(middle, join))
        assert len(engine.connection.workers()) == 2
    assert_same(model.fit(table), consensus)


@pytest.mark.parametrize("model", [EM, GIBBS], ids=["em", "gibbs"])
def test_a_process_that_is_killed_changes_no_bit(
    model: Model, table: Judgments, kept: KeptCluster
) -> None:
    survives(table, model, kept)


def survives(table: Judgments, model: Model, kept: KeptCluster) -> None:
    """Kill one of two processes in the middle of a fit, and compare with threads."""
    cluster = kept.having(2)
    with connected(cluster) as engine:
        progress = once(middle, lambda: kill(cluster.workers[0]))
        consensus = model.fit(table, engine=engine, progress=progress)
        assert progress.acted  # type: ignore[attr-defined]
        assert len(engine.connection.workers()) == 1
    assert_same(model.fit(table), consensus)


@pytest.mark.full
@pytest.mark.parametrize("model", [EM, GIBBS], ids=["em", "gibbs"])
def test_a_kill_in_a_fit_of_a_million(model: Model, kept: KeptCluster) -> None:
    population = Population.parse("skilled(6,4):80,spammer:10,lazy:10", judges=1000)
    survives(
        Crowd(items=100_000, population=population, per_item=10).make(1).judgments, model, kept
    )


@pytest.mark.full
@pytest.mark.parametrize("model", [EM, GIBBS], ids=["em", "gibbs"])
def test_a_kill_in_a_fit_of_real_judgments(
    model: Model, kept: KeptCluster, shared_data: Path
) -> None:
    content = trec_2011_subset(read(shared_data / "trec-rf10" / "judgments.tsv"))
    assert content.judgments is not None
    survives(content.judgments, model, kept)


def test_the_command_line_continues_after_its_scheduler_was_killed(
    table: Judgments, tmp_path: Path, kept: KeptCluster
) -> None:
    write(Content(judgments=table), tmp_path / "j.parquet", format="parquet")
    words = ["consensus", str(tmp_path / "j.parquet")]
    words += [
        "-m",
        "dawid-skene",
        "--set",
        f"iterations={sized(80, full=150)}",
        "--set",
        "tolerance=0",
        "-q",
    ]
    program = [sys.executable, str(IMPATIENT), *words]
    state = ["--checkpoint", str(tmp_path / "kept"), "--every", "5"]
    cluster = kept.having(1)
    place = ["--engine", "dask", "--scheduler", cluster.address]
    fit = subprocess.Popen(
        [*program, *state, *place, "-o", str(tmp_path / "lost.csv")], stderr=subprocess.PIPE
    )
    kept_file = tmp_path / "kept" / "em.npz"
    wait_until(lambda: kept_file.exists() or fit.poll() is not None, LIMIT, "it keeps its state")
    kill(cluster.scheduler)
    _, complaint = fit.communicate(timeout=LIMIT)
    assert fit.returncode == 2
    assert f"error: the cluster at {cluster.address} is gone (" in complaint.decode()
    assert not (tmp_path / "lost.csv").exists()
    place = ["--engine", "dask", "--scheduler", kept.having(1).address]
    resumed = [*words, *state, "--resume", *place, "-o", str(tmp_path / "resumed.csv")]
    assert call(resumed) == 0
    assert call([*words, "-o", str(tmp_path / "plain.csv")]) == 0
    assert (tmp_path / "resumed.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()


@EITHER
def test_a_lost_scheduler_is_named_and_the_fit_continues_elsewhere(
    model: Model,
    table: Judgments,
    tmp_path: Path,
    kept: KeptCluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Client, "_reconnect", look_briefly)
    folder = tmp_path / "checkpoint"
    cluster = kept.having(1)
    with connected(cluster, checkpoint=Checkpoint(folder=folder, every=4)) as engine:
        progress = once(lambda _: any(folder.glob("*.npz")), lambda: kill(cluster.scheduler))
        named = re.escape(f"the cluster at {cluster.address} is gone (")
        with pytest.raises(ClusterLost, match=f"^{named}"):
            model.fit(table, engine=engine, progress=progress)
    again = ThreadsEngine(checkpoint=Checkpoint(folder=folder, every=4, resume=True))
    steps: list[int] = []
    consensus = model.fit(table, engine=again, progress=lambda step: steps.append(step.done))
    if model is EM:
        assert steps[0] > 4  # it did not start again
    assert_same(model.fit(table), consensus)
