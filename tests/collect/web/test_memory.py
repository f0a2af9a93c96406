"""The server's memory does not grow with the number of threads that once needed much."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.collect.web.settings import Settings

PROGRAM = """
import ctypes, threading
from adjudge.collect.web._background import _give_back, share_memory

share_memory()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
together = threading.Barrier(16)

def work():
    held = [libc.malloc(50_000) for _ in range(100)]
    together.wait()  # all of them have some at once
    for one in held:
        libc.free(one)

threads = [threading.Thread(target=work) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
_give_back()
libc.fopen.restype = ctypes.c_void_p
file = libc.fopen(b"/dev/stdout", b"w")
libc.malloc_info(0, ctypes.c_void_p(file))
libc.fclose(ctypes.c_void_p(file))
"""


def needs_glibc() -> None:
    if not hasattr(ctypes.CDLL(None), "malloc_info"):
        pytest.skip("another C library")


def test_many_threads_share_a_few_stocks_of_memory() -> None:
    needs_glibc()
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=300
    )
    assert 1 <= run.stdout.count("<heap nr=") <= 2


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
