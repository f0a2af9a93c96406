"""Homes of parts, jobs that are sent once to all, and sums in a tree of processes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster

from adjudge import DaskEngine, DawidSkene, HybridConfusion, Judgments
from adjudge.engines import _cluster as module
from adjudge.engines._remote import JobResult, Partial, count_held, together
from adjudge.simulation import demo
from sizes import sized
from waiting import wait_until


@cache
def crowd() -> Judgments:
    return demo(seed=3).judgments


@pytest.fixture(scope="module")
def five() -> Iterator[Client]:
    """Five workers that are threads of this process: enough for a tree."""
    with (
        LocalCluster(
            n_workers=5, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize(("fan", "embedded"), [(2, 0), (2, 2**20), (8, 0)])
def test_trees_and_jobs_sent_once_change_no_bit(
    five: Client, fan: int, embedded: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FAN", fan)
    monkeypatch.setattr(module, "_EMBED", embedded)
    table = crowd()
    engine = DaskEngine(five)
    em = DawidSkene(iterations=sized(3, full=500))
    for model in (em, HybridConfusion(chains=1, warmup=1, draws=2, thin=1)):
        here, there = model.fit(table), model.fit(table, engine=engine)
        np.testing.assert_array_equal(here.posterior, there.posterior)
        np.testing.assert_array_equal(here.confusion, there.confusion)
        assert here.trace == there.trace


def test_what_is_no_longer_used_is_forgotten(five: Client) -> None:
    engine = DaskEngine(five)
    connection = engine.connection
    table = crowd()
    sweeps: Any = engine.load(table)
    first = count_held(connection.owner)
    assert first == len(sweeps.cuts) == 20  # four a process
    del sweeps
    for _ in range(2):
        # On a busy machine a thread of the client holds it a little longer than we do.
        wait_until(lambda: not _loads(connection), 60, "the load is let go")
        engine.load(table)
        assert count_held(connection.owner) == first
    engine.close()
    assert count_held(connection.owner) == 0


def _loads(connection: module.Connection) -> int:
    """How many loads are still used here."""
    gc.collect()
    return len(connection.loads)


def test_parts_go_round_and_stay_where_they_are(five: Client) -> None:
    engine = DaskEngine(five)
    sweeps = engine.load(crowd())
    homes = list(sweeps.placed.home)
    assert sorted(homes.count(address) for address in set(homes)) == [4, 4, 4, 4, 4]
    sweeps.votes()
    assert sweeps.placed.home == homes
    sweeps.placed.home[0] = "tcp://gone:1"
    again = sweeps.votes()
    assert sweeps.placed.home[1:] == homes[1:]
    assert sweeps.placed.home[0] in homes
    np.testing.assert_array_equal(again.classes, engine.load(crowd()).votes().classes)


def test_partial_answers_add_up() -> None:
    one = Partial((1,), (2,), JobResult((np.array([1, 2]), 3)))
    two = Partial((4,), (), JobResult((np.array([10, 20]), 30)))
    none = Partial((), (5,), None)
    whole = together([one, none, two])
    assert (whole.done, whole.missing) == ((1, 4), (2, 5))
    assert whole.answer is not None
    assert whole.answer.sums[0].tolist() == [11, 22]
    assert whole.answer.sums[1] == 33
