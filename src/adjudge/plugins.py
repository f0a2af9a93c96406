"""Models and formats that other packages bring, by entry points.

A package names them in its ``pyproject.toml``; installed next to adjudge, they are found by name
like its own::

    [project.entry-points."adjudge.models"]
    one-step = "my_package.one_step:OneStep"

    [project.entry-points."adjudge.formats"]
    pipes = "my_package.pipes:FORMAT"
"""

from __future__ import annotations

import warnings
from collections.abc import Container
from importlib.metadata import entry_points
from typing import Any


def plugins(group: str, taken: Container[str] = ()) -> dict[str, Any]:
    """What other packages offer in a group, by name.

    One that cannot be imported, or whose name is taken, is left out with a warning: a broken
    package of somebody else's must not keep adjudge from working.
    """
    found: dict[str, Any] = {}
    for entry in entry_points(group=group):
        where = f"{entry.name} ({entry.value}, entry point {group})"
        if entry.name in found or entry.name in taken:
            warnings.warn(f"{where} is left out: the name is taken", stacklevel=2)
            continue
        try:
            found[entry.name] = entry.load()
        except Exception as fault:  # noqa: BLE001 - whatever somebody else's code raises
            warnings.warn(f"{where} is left out: {type(fault).__name__}: {fault}", stacklevel=2)
    return found
