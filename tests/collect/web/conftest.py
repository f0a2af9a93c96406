"""What the tests of the web layer share: a server that runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sites import Site, served


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A server with an empty store."""
    with served(tmp_path) as running:
        yield running
