"""An endpoint of a language model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from servers import Speaker, speaking


@pytest.fixture
def speaker() -> Iterator[Speaker]:
    with speaking() as made:
        yield made
