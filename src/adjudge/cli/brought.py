"""Files from elsewhere, brought here before a command asks what they hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


def brings_files(command: Callable[..., None]) -> Callable[..., None]:
    """The command on copies of what comes from an address or through a pipe, fetched once.

    For commands that look at their files to know whether these hold judgments or comparisons.
    """

    @wraps(command)
    def run(judgments: list[str], **given: Any) -> None:
        from adjudge.cli.console import be_quiet
        from adjudge.cli.reading import is_here, kept_files

        if all(is_here(place) for place in judgments):
            command(judgments, **given)
            return
        printing = given["printing"]
        be_quiet(printing.quiet or printing.json)
        with kept_files(judgments) as files:
            command([str(file) for file in files], **given)

    return run
