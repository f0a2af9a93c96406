"""Settings and fixtures for all tests."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from memory import Memory, counted
from sizes import PROFILE

# Tests run in one process per core: more threads of OpenMP and BLAS would slow each other down.
for library in ("OMP", "OPENBLAS"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Dask profiles idle workers a hundred times a second, which costs more than the tests.
for setting, value in {
    "WORKER__PROFILE__ENABLED": "False",
    "ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
    "ADMIN__SYSTEM_MONITOR__GIL__ENABLED": "False",
    "ADMIN__TICK__INTERVAL": "1s",
}.items():
    os.environ.setdefault(f"DASK_DISTRIBUTED__{setting}", value)

# Examples per property, unless the property sets its own number (./scripts/test quick, all, full).
for name, examples in {"quick": 10, "ci": 20, "full": 1000}.items():
    settings.register_profile(name, max_examples=examples, deadline=None, print_blob=True)
settings.load_profile(PROFILE)

HERE = Path(__file__).resolve().parent

# Temporary files are kept in memory where it has room: databases flush every change to the disk.
_MEMORY, _ROOM = Path("/dev/shm"), 4_000_000_000
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# Collect garbage less often: the default costs a tenth of the time of most tests.
gc.set_threshold(200_000, 50, 50)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real crowd judgments: ADJUDGE_DATA, or next to the project."""
    folder = Path(os.environ.get("ADJUDGE_DATA", HERE.parent.parent / "shared" / "data"))
    if not (folder / "trec-rf10" / "judgments.tsv").is_file():
        pytest.skip(f"no real crowd judgments at {folder}; set ADJUDGE_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def shared_reference(shared_data: Path) -> Path:
    """Return the folder of reference posteriors from an independent sampler."""
    folder = shared_data.parent / "reference"
    if not (folder / "hierarchical-relevance.csv").is_file():
        pytest.skip(f"no reference posteriors at {folder}")
    return folder


@pytest.fixture(scope="module")
def memory() -> Generator[Memory]:
    """Count the memory that Python allocates, for all tests of a module."""
    with counted() as counter:
        yield counter


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests marked full in other profiles; run slow tests first."""
    if PROFILE != "full":
        left = [item for item in items if item.get_closest_marker("full") is not None]
        items[:] = [item for item in items if item.get_closest_marker("full") is None]
        config.hook.pytest_deselected(items=left)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish() -> None:
    """Exclude tests and modules, which live until the end, from garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_sessionfinish() -> None:
    """Undo the freeze, so that no leak is reported."""
    gc.unfreeze()
