"""What requests leave in the memory of a server is collected."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.collect.web.settings import Settings

SERVED = """
import gc, weakref
from adjudge.collect.web.app import from_environment

app = from_environment()
assert gc.get_freeze_count() > 10_000, "what a server is made of"

class Left:
    pass

one = Left()
one.itself = one  # what a request leaves behind
known = weakref.ref(one)
del one
gc.collect()
assert known() is None
"""


def test_what_requests_leave_is_collected_and_the_server_itself_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    Settings(database=str(tmp_path / "site.db")).to_environment()
    subprocess.run(
        [sys.executable, "-c", SERVED], check=True, timeout=120, cwd=tmp_path, env=os.environ
    )
