"""Names that are imported when they are first used, and libraries that need not be there.

A package writes its names down once, as the imports below its ``if TYPE_CHECKING:``: type checkers
and editors read them there, and so does this, so that no second list has to be kept in step.
Libraries that only one part needs come with an extra (``pip install 'adjudge[report]'``); where one
is not there, the error says which.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from adjudge.errors import MissingExtra

# The extra that brings a library, by the name under which it is imported.
_EXTRAS = {
    "altair": "report",
    "alembic": "serve",
    "argon2": "serve",
    "arviz": "arviz",
    "dask": "dask",
    "distributed": "dask",
    "fastapi": "serve",
    "h5netcdf": "arviz",
    "httptools": "serve",
    "httpx": "serve",
    "ir_measures": "ir",
    "itsdangerous": "serve",
    "jinja2": "report",
    "nh3": "serve",
    "pandas": "frames",
    "polars": "frames",
    "psycopg": "postgres",
    "python_multipart": "serve",
    "sklearn": "sklearn",
    "sqlalchemy": "serve",
    "starlette": "serve",
    "uvicorn": "serve",
    "vl_convert": "report",
    "xarray": "arviz",
}


def export(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package whose names are in the given file."""

    @cache
    def homes() -> dict[str, str]:
        with open(file, encoding="utf-8") as opened:  # pathlib would cost more than all else here
            return _read_homes(opened.read())

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted(homes())
        if name.startswith("_") or name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(load(homes()[name]), name)

    def names() -> list[str]:
        own = vars(import_module(package))
        return sorted({*(name for name in own if name.startswith("__")), *homes()})

    return get, names


def load(module: str) -> Any:
    """A module that is imported now; where its library is an extra's, the error names the extra."""
    try:
        return import_module(module)
    except ModuleNotFoundError as fault:
        missing = missing_extra(fault)
        if missing is None:
            raise
        raise missing from None


def missing_extra(fault: ModuleNotFoundError) -> MissingExtra | None:
    """The error in adjudge's words, if what was not found belongs to an extra."""
    library = (fault.name or "").partition(".")[0]
    extra = _EXTRAS.get(library)
    return None if extra is None else MissingExtra(library, extra)


def _read_homes(text: str) -> dict[str, str]:
    """The module of each name that is imported for type checkers only."""
    import ast

    return {
        entry.name: node.module
        for block in ast.parse(text).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for entry in node.names
    }
