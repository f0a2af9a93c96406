"""Arrays shared with processes of this machine: seen by them, gone with them, and the same bits."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from adjudge import Judgments
from adjudge.engines import _remote as remote
from adjudge.engines._shared import Window, machine, share, shared_array
from adjudge.engines._sources import SentPart, cut
from adjudge.simulation import demo

pytestmark = pytest.mark.skipif(machine() is None, reason="arrays are shared on Linux only")


@pytest.fixture(scope="module")
def table() -> Judgments:
    return demo(seed=3).judgments


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
