"""What every test may ask for."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from memory import Memory, counted
from sizes import PROFILE

# Tests run in as many processes as there are cores: threads of OpenMP and BLAS in each would only
# wait for one another, which they do at full speed.
for library in ("OMP", "OPENBLAS"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Processes of Dask look at themselves and at one another a hundred times a second, also when they
# have nothing to do: here nobody asks what they saw.
for setting, value in {
    "WORKER__PROFILE__ENABLED": "False",
    "ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
    "ADMIN__SYSTEM_MONITOR__GIL__ENABLED": "False",
    "ADMIN__TICK__INTERVAL": "1s",
}.items():
    os.environ.setdefault(f"DASK_DISTRIBUTED__{setting}", value)

# How many examples a property is tried on, unless it says so itself: a few while one works, enough
# in every run of the checks, and many where a subject changes (./scripts/test quick, all, full).
for name, examples in {"quick": 10, "ci": 20, "full": 1000}.items():
    settings.register_profile(name, max_examples=examples, deadline=None, print_blob=True)
settings.load_profile(PROFILE)

MEASURED = 0.5  # seconds of processor time in which a test is looked at for coverage

HERE = Path(__file__).resolve().parent

# Files of tests stand in memory where there is enough of it. Every change to a store is flushed to
# the disk, and a test that makes hundreds would wait for the disk longer than for all else.
_MEMORY, _ROOM = Path("/dev/shm"), 4_000_000_000
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# The garbage collector looks at young objects less often than it would: that takes a tenth of the
# time of most tests. While tests are collected, of which nothing goes, it hardly looks at all.
gc.set_threshold(200_000, 50, 50)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real crowd judgments, beside the project or where ADJUDGE_DATA points."""
    folder = Path(os.environ.get("ADJUDGE_DATA", HERE.parent.parent / "shared" / "data"))
    if not (folder / "trec-rf10" / "judgments.tsv").is_file():
        pytest.skip(f"no real crowd judgments at {folder}; set ADJUDGE_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def shared_reference(shared_data: Path) -> Path:
    """The folder of reference posteriors from an independent sampler, beside the data."""
    folder = shared_data.parent / "reference"
    if not (folder / "hierarchical-relevance.csv").is_file():
        pytest.skip(f"no reference posteriors at {folder}")
    return folder


@pytest.fixture(scope="module")
def memory() -> Generator[Memory]:
    """Counts what Python takes in memory, for all tests of a module."""
    with counted() as counter:
        yield counter


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to the full run what is its alone; begin with slow tests, so that none ends late."""
    if PROFILE != "full":
        left = [item for item in items if item.get_closest_marker("full") is not None]
        items[:] = [item for item in items if item.get_closest_marker("full") is None]
        config.hook.pytest_deselected(items=left)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish() -> None:
    """Tests and modules stay to the end: the garbage collector need not look at them again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_sessionfinish() -> None:
    """Let what was frozen go, so that nothing is said to be left behind."""
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure coverage where it tells something: it takes half as long again.

    Not in slow tests, nor on PostgreSQL what is measured on SQLite, nor longer than a test's first
    half second of work: what comes after goes through the same lines again.
    """
    here, elsewhere = sys.gettrace(), threading.gettrace()
    if here is None:
        return (yield)
    if item.get_closest_marker("slow") is not None or "postgresql" in item.name:
        _measure_no_more()
    else:
        signal.signal(signal.SIGPROF, _measure_no_more)
        signal.setitimer(signal.ITIMER_PROF, MEASURED)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.settrace(here)
        threading.settrace(elsewhere)  # type: ignore[arg-type]


def _measure_no_more(*_: object) -> None:
    """Take from this thread, and from those it will start, what traces them."""
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]
