"""What options are made of: one option, and groups of them.

A group is a dataclass in a command's signature that stands for each of its fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

import typer


def option(*names: str, help: str, panel: str | None = None, **more: Any) -> Any:
    """An option whose type is not spelt out: its metavar says what is wanted, a flag has none."""
    more.setdefault("metavar", "")
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer is to see it: every group of options spelt out, option by option.

    A group is a parameter whose type is a dataclass with ``Annotated`` fields. Its options stand in
    the help where the group stands in the signature, and the command gets the dataclass.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        if parameter.name in groups:
            options += _options(groups[parameter.name])
        else:
            hint = hints[parameter.name]
            options.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hint))

    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    seen: Any = run
    seen.__name__, seen.__doc__ = command.__name__, command.__doc__
    seen.__signature__ = Signature(options)
    seen.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _options(group: Any) -> list[Parameter]:
    """An option for each field of a group."""
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def given_options(group: Any) -> list[str]:
    """The options of a group that differ from their defaults, as a person would type them."""
    hints = get_type_hints(type(group), include_extras=True)
    typed: list[str] = []
    for field in fields(group):
        value = getattr(group, field.name)
        if value is None or value == field.default:
            continue
        made = hints[field.name].__metadata__[0]  # its first name stands where Typer has a default
        yes, _, no = str(made.default).partition("/")
        if isinstance(value, bool):
            typed.append(yes if value else no)
        else:
            for one in value if isinstance(value, list) else [value]:
                text = str(one)
                typed += [f"{yes}={text}"] if text.startswith("-") else [yes, text]
    return typed
