from __future__ import annotations

import subprocess
import sys

import adjudge.evaluation as room


def test_every_public_name_is_there_and_in_its_docstring_or_type() -> None:
    assert set(room.__all__) <= set(dir(room))
    for name in room.__all__:
        assert getattr(room, name) is not None
        assert getattr(getattr(room, name), "__doc__", None)


def test_importing_the_room_imports_nothing_heavy() -> None:
    script = (
        "import sys, adjudge.evaluation; "
        "print([m for m in ('numpy', 'scipy', 'pyarrow', 'numba') if m in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "[]"
