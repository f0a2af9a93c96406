"""Ports for servers that tests start: free ones that nothing else will take before they do."""

from __future__ import annotations

import itertools
import os
import random
import socket

# Below those that the system gives to connections (32,768 and up on Linux): one of these could be
# given away between the asking and the start of the server. Each process of tests has its own.
_FIRST, _EACH = 10_000, 1_000
_PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 22
_PLACES = itertools.count(random.SystemRandom().randrange(_EACH))  # another run may be going on


def free_port() -> int:
    """A port on this machine that nobody listens on."""
    for place in itertools.islice(_PLACES, _EACH):
        port = _FIRST + _EACH * _PROCESS + place % _EACH
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"no port is free from {_FIRST + _EACH * _PROCESS:,}")
