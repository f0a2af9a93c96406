"""Options that take several values at once: ``--runs a.run b.run``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from typer.core import TyperCommand


def repeat_options(arguments: Sequence[str], options: Collection[str]) -> list[str]:
    """Arguments with each of the options named again before its second value, third, and so on.

    Values go on up to the next argument that begins with a dash; ``-`` alone is a value, and after
    ``--`` nothing is an option.
    """
    found: list[str] = []
    current: str | None = None
    fresh = False
    for number, argument in enumerate(arguments):
        if argument == "--":
            return [*found, *arguments[number:]]
        if argument.startswith("-") and argument != "-":
            name = argument.partition("=")[0]
            current = name if name in options else None
            fresh = argument == name
        elif current is not None:
            if not fresh:
                found.append(current)
            fresh = False
        found.append(argument)
    return found


def list_options_class(options: Collection[str]) -> type[TyperCommand]:
    """The class of a command of whose options some take several values at once."""

    class ListOptions(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, repeat_options(args, options))

    return ListOptions
