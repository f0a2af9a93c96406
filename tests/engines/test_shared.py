"""Arrays shared with processes of this machine: seen by them, gone with them, and the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adjudge import DaskEngine, DawidSkene, HybridConfusion, Judgments, Model, SingleConfusion
from adjudge.data.formats import Content, read, write
from adjudge.data.mapped import map_of
from adjudge.engines import _part, dask
from adjudge.engines import _pieces as pieces
from adjudge.engines import _remote as remote
from adjudge.engines._shared import Window, machine, share, shared_array
from adjudge.engines._sources import Lent, SentPart, Stored, cut
from adjudge.models.model import Step
from adjudge.simulation import demo
from sizes import FULL, sized

pytestmark = pytest.mark.skipif(machine() is None, reason="arrays are shared on Linux only")

SHORT = {"chains": 2, "warmup": 3, "draws": 4, "thin": 1}
SWEEPS = {} if FULL else {"iterations": 5}


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    with DaskEngine(processes=2) as made:
        yield made


@pytest.fixture(scope="module")
def table() -> Judgments:
    return demo(seed=3).judgments


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share whatever the size, and lay posteriors of judgments on disk into a file."""
    monkeypatch.setattr(pieces, "_WORTH", 0)
    monkeypatch.setattr(dask, "_WORTH", 0)
    monkeypatch.setattr(_part, "_LARGE", 0)


@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])
def test_another_process_reads_and_writes(on_disk: bool) -> None:
    shared = shared_array(np.int32, (2, 3), on_disk=on_disk)
    assert shared is not None
    shared.array[0] = (1, 2, 3)
    code = (
        "import numpy as np\n"
        f"from adjudge.engines._shared import Window\nfound = {shared.window!r}.open(write=True)\n"
        "found[1] = found[0] * 10\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert shared.array.tolist() == [[1, 2, 3], [10, 20, 30]]


def test_what_cannot_be_reached_is_told() -> None:
    shared = share(np.arange(4))
    assert shared is not None
    assert shared.window.is_reached()
    assert not replace(shared.window, machine="another").is_reached()
    assert not replace(shared.window, file=(0, 0)).is_reached()  # another file at that place
    window: Window = shared.window
    shared.close()
    assert not window.is_reached()
    assert shared_array(np.int8, (0,), on_disk=False) is None


def test_a_buffer_on_another_machine_has_rows_sent_back(table: Judgments) -> None:
    shared = shared_array(np.float64, (table.item_count, len(table.scale.truths)), on_disk=False)
    assert shared is not None
    half = table.item_count // 2
    source = SentPart(cut(table, half, table.item_count))
    held = remote.HeldPart(remote.Piece(1, half, source, None, False), 1)
    near = remote.Sweep(None, False, keep=True, buffer=shared.window).run(held, None)
    far = remote.Sweep(
        None, False, keep=True, buffer=replace(shared.window, machine="another")
    ).run(held, None)
    assert near.rows == {}
    np.testing.assert_array_equal(shared.array[half:], far.rows[1][0])
    assert not shared.array[:half].any()


MODELS: list[Model] = [
    DawidSkene(by_topic=True, **SWEEPS),
    SingleConfusion(**SWEEPS),
    HybridConfusion(**SHORT),
]


@pytest.mark.usefixtures("everything")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_shared_judgments_and_posteriors_have_the_bits_of_the_threads(
    model: Model, table: Judgments, engine: DaskEngine, tmp_path: Path
) -> None:
    assert engine.connection.shares
    write(Content(judgments=table), tmp_path / "t.adjudge", format="encoded")
    stored = read(tmp_path / "t.adjudge").judgments
    assert stored is not None
    threads = model.fit(table)
    for given, source in ((table, Lent), (stored, Stored)):
        sweeps = engine.load(given)
        assert isinstance(sweeps.cuts.piece(0).source, source)
        there = model.fit(given, engine=engine)
        for name in ("posterior", "choice", "prevalence", "confusion", "counts"):
            np.testing.assert_array_equal(getattr(threads, name), getattr(there, name), name)
        if not isinstance(model, HybridConfusion):
            assert (map_of(there.posterior) is not None) == (source is Stored)


@pytest.mark.usefixtures("everything")
def test_a_process_that_is_killed_is_replaced_and_changes_no_bit(
    table: Judgments, engine: DaskEngine
) -> None:
    model = DawidSkene(tolerance=0.0, iterations=sized(10, full=25))
    victim = next(iter(engine.client.run(os.getpid).values()))
    killed: list[int] = []

    def progress(step: Step) -> None:
        if step.done == 5 and not killed:
            killed.append(victim)
            os.kill(victim, signal.SIGKILL)

    there = model.fit(table, engine=engine, progress=progress)
    assert killed == [victim]
    threads = model.fit(table)
    np.testing.assert_array_equal(threads.posterior, there.posterior)
    assert threads.trace == there.trace
