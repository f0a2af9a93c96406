"""Names of a package that are imported when they are first used.

A package writes them down once, as the imports below its ``if TYPE_CHECKING:``: type checkers and
editors read them there, and so does this, so that no second list has to be kept in step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def export(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package whose names stand in the given file."""

    @cache
    def homes() -> dict[str, str]:
        with open(file, encoding="utf-8") as opened:  # pathlib would cost more than all else here
            return _read_homes(opened.read())

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted(homes())
        if name.startswith("_") or name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes()[name]), name)

    def names() -> list[str]:
        own = vars(import_module(package))
        return sorted({*(name for name in own if name.startswith("__")), *homes()})

    return get, names


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
