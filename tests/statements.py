"""One memory of compiled statements for all SQLite databases of a process.

SQLAlchemy compiles a statement once for each engine, and most tests of collecting open a database
of their own: a third of their time would go into compiling the same statements again.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.util import LRUCache

_create_engine = sa.create_engine


@cache
def _first() -> tuple[sa.Dialect, MutableMapping[Any, Any]]:
    """A dialect that has seen a connection, and what is compiled for it."""
    engine = _create_engine("sqlite://")
    engine.connect().close()
    engine.dispose()
    return engine.dialect, LRUCache(2_000)


def _create(url: Any, **settings: Any) -> sa.Engine:
    """An engine as usual; on SQLite it speaks the dialect of all others."""
    engine = _create_engine(url, **settings)
    if engine.dialect.name == "sqlite":
        dialect, compiled = _first()
        engine.dialect = dialect
        engine.update_execution_options(compiled_cache=compiled)
    return engine


def share_statements() -> None:
    """Let engines that are made from here on share what they compile."""
    sa.create_engine = _create
