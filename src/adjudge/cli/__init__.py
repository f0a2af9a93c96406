"""The command line: what a command is, how it is built, and how a run of it ends.

One file is one command: it parses, calls and prints. Nothing heavy is imported before a command
runs, so that ``adjudge --help`` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, Signature, cleandoc, signature
from typing import Annotated, Any, get_type_hints

import typer

from adjudge.cli import _stopping
from adjudge.cli._commands import COMMANDS, MOVED
from adjudge.cli._console import be_quiet, remember
from adjudge.cli._endings import EXPECTED, STOPPED, USAGE, explain


@dataclass(frozen=True, slots=True)
class Command:
    """What a file of a command declares: the function that runs, and examples of its use.

    ``lists`` are the options that take several values at once: ``--runs a.run b.run``.
    """

    run: Callable[..., None]
    examples: tuple[str, ...]
    lists: tuple[str, ...] = ()


def option(names: str, takes: str, help: str, **more: Any) -> Any:
    """An option by its names, ``--output -o``, what it takes, ``FILE``, and what it is for."""
    return typer.Option(*names.split(), metavar=takes, help=help, **more)


def flag(names: str, help: str) -> Any:
    """An option that takes nothing."""
    return option(names, "", help)


def main() -> None:
    """Run the command that the process was started with, and end the process."""
    _stopping.listen(_work)
    code = call(sys.argv[1:])
    _stopping.end(code)
    sys.exit(code)


def call(arguments: Sequence[str]) -> int:
    """Run a command: 0 done, 2 bad input, 130 stopped by Ctrl-C, 141 the reader went away."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may know fewer letters
    try:
        given = list(arguments) or ["--help"]
        remember(given)
        code = _work(given)
    except EXPECTED as error:
        return explain(error)
    if code == STOPPED:  # Typer's word for Ctrl-C
        sys.stderr.write("stopped\n")
    return code if isinstance(code, int) else 0


def _work(given: Sequence[str]) -> Any:
    """Run the command itself; all that a stop interrupts."""
    if _stopping.signals:
        raise _stopping.stop()
    try:
        code = _choose(given)(args=given, prog_name="adjudge", standalone_mode=False)
        sys.stdout.flush()
    except Exception:
        if _stopping.signals:  # an import that is interrupted may fail in its own words
            raise _stopping.stop() from None
        raise
    return code


def _choose(given: Sequence[str]) -> Any:
    """As much of the command line as the arguments need: most of it costs time to build."""
    if "_ADJUDGE_COMPLETE" in os.environ:  # a shell asks for names and options
        return _build()
    module = given[0].replace("-", "_")
    if module in MOVED:
        raise USAGE(f"there is no 'adjudge {given[0]}' any more: use {MOVED[module]}")
    return _get_command(module if module in COMMANDS else None)


# Kept for a process that calls a command again.
_get_command = cache(lambda only: typer.main.get_command(_build(only, bare=only is None)))


def _build(only: str | None = None, *, bare: bool = False) -> typer.Typer:
    """The command line: every command, or ``only`` one of them, so that it starts at once.

    ``bare`` commands have a name and a line but no options: enough for the list of them all.
    """
    made = typer.Typer(
        name="adjudge",
        help="Turn noisy relevance judgments into labels that can be trusted, "
        "and say how far each judge can be.",
        epilog="Start with:\n\nadjudge demo\nadjudge consensus judgments.csv -o labels.csv",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        add_completion=only is None,  # whose options stand before no command, and for whose
        add_help_option=only is None,  # values Typer imports pydantic
    )
    made.callback(invoke_without_command=True)(_show_version)
    for module in COMMANDS if only is None else (only,):
        name, line = module.replace("_", "-"), COMMANDS[module]
        if bare:
            made.command(name=name, help=line)(lambda: None)
            continue
        loaded: Any = import_module(f"adjudge.cli.{module}")
        if hasattr(loaded, "COMMANDS"):
            below = typer.Typer(name=name, help=line, no_args_is_help=True)
            for word, command in loaded.COMMANDS.items():
                _add(word, command, below)
            made.add_typer(below)
        else:
            _add(name, loaded.COMMAND, made)
    return made


def _add(name: str, command: Command, to: typer.Typer) -> None:
    """Add a command: paragraphs of its docstring on one line each, then examples."""
    kind = None
    if command.lists:
        from adjudge.cli._options import make_list_command

        kind = make_list_command(command.lists)
    paragraphs = cleandoc(command.run.__doc__ or "").split("\n\n")
    head = "Example:" if len(command.examples) == 1 else "Examples:"
    add = to.command(
        name=name,
        help="\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs),
        epilog="\n".join([head, "", *command.examples]),
        cls=kind,
    )
    add(_spread(command.run))


def _spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer is to see it: every group of options spelt out, option by option.

    A group is a parameter whose type is a dataclass with ``Annotated`` fields. Its options stand in
    the help where the group stands in the signature, and the command gets the dataclass.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        if parameter.name in groups:
            options += _list_options(groups[parameter.name])
        else:
            hint = hints[parameter.name]
            options.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hint))

    def run(**given: Any) -> None:
        be_quiet(bool(given.get("quiet") or given.get("json")))
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    seen: Any = run
    seen.__name__, seen.__doc__ = command.__name__, command.__doc__
    seen.__signature__ = Signature(options)
    seen.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _list_options(group: Any) -> list[Parameter]:
    """An option for each field of a group, in the panel of the help that the group has, if any."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        hints[field.name].__metadata__[0].rich_help_panel = getattr(group, "panel", None)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def _show_version(
    version: Annotated[bool, flag("--version", "Show the version and stop.")] = False,
) -> None:
    if version:
        from adjudge import __version__

        typer.echo(f"adjudge {__version__}")
        raise typer.Exit
