"""One thread for linear algebra on small matrices: more would wait for one another, at full speed.

Looking for the libraries takes milliseconds, so that what was found is kept until something more
has been imported, which may have brought another.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """A block in which BLAS has one thread; with more, bits would change too."""
    limited: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(
        limits=1, user_api="blas"
    )
    return limited


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:  # noqa: ARG001 - they tell when to look again
    return ThreadpoolController()
