"""The command line: the commands, how each is declared and built, and how a run ends.

One file is one command: it parses, calls and prints. Nothing heavy is imported before a command
runs, so that ``adjudge --help`` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, Signature, cleandoc, signature
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from adjudge.cli import _endings
from adjudge.cli._console import be_quiet, remember

# The commands by the panel of the help, in its order; a package is a group of commands.
COMMANDS = {
    "Analyse": {
        "demo": "Label a small simulated crowd, and compare labels and judges with the truth.",
        "look": "Show what a file holds: kind, columns, counts, scale and oddities.",
        "consensus": "Turn judgments into one label per item, with its probability.",
        "judges": "Show how good each judge is, and whether to keep, train, drop or watch them.",
        "evaluate": "Score labels against gold: accuracy, F1, AUC, log loss, calibration and more.",
        "agreement": "Measure agreement: percent, Cohen's and Fleiss' kappa, Krippendorff's alpha.",
        "compare": (
            "Compare models on your judgments and recommend one, or choose the threshold of a "
            "filter."
        ),
        "report": "Write a report on one HTML page, or draw single figures.",
    },
    "Decide": {
        "estimate": (
            "Estimate a number, with an interval, from all judgments and gold for some items."
        ),
        "next": "List the items most worth another judgment, and who should give it.",
        "plan": "Plan how many judgments, gold labels and how much money an accuracy takes.",
        "rank": (
            "Rank search systems by noisy judgments, with intervals and the probability that A "
            "beats B."
        ),
        "rank_pairs": "Rank items by comparisons of two, with intervals and the skill of judges.",
    },
    "LLM judges": {
        "audit": "Audit LLM judges: a verdict on each, and every check behind it.",
        "gate": "Check requirements on new judgments of an audited judge.",
        "judge_with_model": "Let an LLM judge the pages of a project, or a table of items.",
    },
    "Collect": {
        "serve": "Run the server that collects judgments: its pages and its API.",
        "project": "Create, fill, monitor and export projects in the database of 'adjudge serve'.",
    },
    "Tools": {
        "convert": "Convert judgments, gold or labels between formats.",
        "simulate": "Simulate judgments with a known truth, or send simulated judges to a server.",
        "models": "List the models and their settings.",
    },
}
_LINES = {module: line for panel in COMMANDS.values() for module, line in panel.items()}

# Commands of earlier versions, and what to use in their place.
_MOVED = {
    "align": "'adjudge audit'",
    "crowd": "'adjudge simulate --server URL'",
    "encode": "Parquet files, which 'adjudge consensus ... --engine dask' reads at any size",
    "may_replace": "'adjudge audit JUDGMENTS --people REGEX'",
    "plot": "'adjudge report --figure NAME'",
    "replicate": "./scripts/replicate in a checkout of the project",
    "tune": "'adjudge compare --filter FILTER'",
}


@dataclass(frozen=True, slots=True)
class Command:
    """A command: the function that runs, and examples of its use."""

    run: Callable[..., None]
    examples: tuple[str, ...]


def command(*examples: str) -> Callable[[Callable[..., None]], Command]:
    """Make a command of a function, with examples for its help."""
    return lambda run: Command(run, examples)


def option(
    names: str,
    help: str,
    default: Any = None,
    *,
    required: bool = False,
    make: Callable[..., Any] = typer.Option,
    **more: Any,
) -> Any:
    """An option of a command, or of a group of options.

    ``names`` are its names and what it takes, such as ``--output -o FILE``, or ``--runs FILE...``
    where one mention takes several values.
    """
    words = names.split(" ")
    own = [word for word in words if word.startswith("-")]
    takes = " ".join(words[len(own) :])
    declared = {"names": own, "metavar": takes, "help": help, "make": make, **more}
    return field(default=MISSING if required else default, metadata=declared)


def flag(names: str, help: str, default: bool | None = False) -> Any:
    """An option that takes no value."""
    return option(names, help, default)


def argument(takes: str, help: str, default: Any = None, *, required: bool = False) -> Any:
    """An argument of a command, which has a place instead of a name."""
    return option(takes, help, default, required=required, make=typer.Argument)


def main() -> None:
    """Run the command that the process was started with, and end the process."""
    _endings.listen()
    _endings.end(call(sys.argv[1:]))


def call(arguments: Sequence[str]) -> int:
    """Run a command: 0 done, 2 bad input, 130 stopped by Ctrl-C, 141 the reader went away.

    A gate ends with 1 where it fails and 3 where it cannot be decided; an LLM judge that fails the
    training or is blocked ends with 1.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may know fewer letters
    try:
        given = list(arguments) or ["--help"]
        remember(given)
        code = _work(given)
    except _endings.EXPECTED as error:
        return _endings.explain(error)
    if code == _endings.STOPPED:  # Typer's return value after Ctrl-C
        sys.stderr.write("stopped\n")
    return code if isinstance(code, int) else 0


def _work(given: Sequence[str]) -> Any:
    """Run the command itself."""
    with _endings.interruptible():
        code = _choose(given)(args=given, prog_name="adjudge", standalone_mode=False)
        sys.stdout.flush()
        return code


def _choose(given: Sequence[str]) -> Any:
    """As much of the command line as the arguments need: most of it costs time to build."""
    if "_ADJUDGE_COMPLETE" in os.environ:  # a shell asks for names and options
        return _build()
    module = given[0].replace("-", "_")
    if module in _MOVED:
        raise _endings.USAGE(f"there is no 'adjudge {given[0]}' any more: use {_MOVED[module]}")
    return _get_command(module if module in _LINES else None)


# Kept for a process that calls a command again.
_get_command = cache(lambda only: typer.main.get_command(_build(only, bare=only is None)))


def _build(only: str | None = None, *, bare: bool = False) -> typer.Typer:
    """The command line: every command, or ``only`` one of them, so that it starts at once.

    ``bare`` commands have a name and a line but no options: enough for the list of all commands.
    """
    app = typer.Typer(
        name="adjudge",
        cls=_Group,
        help="Turn noisy relevance judgments into labels, and measure how reliable each judge is.",
        epilog="Start with:\n\nadjudge demo\nadjudge consensus judgments.csv -o labels.csv",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        add_completion=only is None,  # options before a command; Typer imports pydantic for the
        add_help_option=only is None,  # values of other options
    )
    app.callback(invoke_without_command=True)(_show_version)
    for panel, lines in COMMANDS.items():
        for module in lines if only is None else lines.keys() & {only}:
            name, line = module.replace("_", "-"), lines[module]
            if bare:
                app.command(name=name, help=line, rich_help_panel=panel)(lambda: None)
                continue
            loaded: Any = import_module(f"adjudge.cli.{module}")
            if hasattr(loaded, "COMMANDS"):
                below = typer.Typer(name=name, cls=_Group, help=line, no_args_is_help=True)
                for word, command in loaded.COMMANDS.items():
                    _add(word, command, below)
                app.add_typer(below, rich_help_panel=panel)
            else:
                _add(name, loaded.run, app)
    return app


def _add(name: str, command: Command, to: typer.Typer) -> None:
    """Add a command: paragraphs of its docstring on one line each, then examples."""
    run, several = _spread(command.run)
    paragraphs = cleandoc(command.run.__doc__ or "").split("\n\n")
    head = "Example:" if len(command.examples) == 1 else "Examples:"
    to.command(
        name=name,
        help="\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs),
        epilog="\n".join([head, "", *command.examples]),
        cls=_make_list_command(several),
    )(run)


def _spread(command: Callable[..., None]) -> tuple[Callable[..., None], list[str]]:
    """The command as Typer needs it: every group of options replaced by its options.

    A group is a parameter whose type is a dataclass. Its options are shown where the group is in
    the signature, and the command gets the dataclass. With it, the names of the options of which
    one mention takes several values.
    """
    hints = get_type_hints(command)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options: list[Parameter] = []
    several: list[str] = []
    for parameter in signature(command).parameters.values():
        name = parameter.name
        declared = [(name, hints[name], parameter.default, None)]
        for entry in list(_list_options(groups[name])) if name in groups else declared:
            options.append(_as_typer_sees(*entry))
            about = entry[2].metadata
            several += about["names"] if about["metavar"].endswith("...") else []

    def run(**given: Any) -> None:
        be_quiet(bool(given.get("quiet") or given.get("json")), bool(given.get("verbose")))
        for name, kind in groups.items():
            given[name] = kind(**{entry.name: given.pop(entry.name) for entry in fields(kind)})
        command(**given)

    seen: Any = run
    seen.__name__, seen.__doc__ = command.__name__, command.__doc__
    seen.__signature__ = Signature(options)
    seen.__annotations__ = {one.name: one.annotation for one in options}
    return run, several


def _list_options(group: Any) -> Iterator[tuple[str, Any, Any, str | None]]:
    """Each option of a group, in the panel of the class that declares it, if that has one."""
    hints = get_type_hints(group)
    for entry in fields(group):
        # No next() here: the command of that name is an attribute of this package.
        owner, *_ = (
            base for base in group.__mro__ if entry.name in vars(base).get("__annotations__", {})
        )
        yield entry.name, hints[entry.name], entry, vars(owner).get("panel")


def _as_typer_sees(name: str, hint: Any, declared: Any, panel: str | None) -> Parameter:
    """The parameter of an option or argument for Typer."""
    about = dict(declared.metadata)
    make, names = about.pop("make"), about.pop("names")
    default = Parameter.empty if declared.default is MISSING else declared.default
    annotation = Annotated[hint, make(*names, rich_help_panel=panel, **about)]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _repeat_options(arguments: Sequence[str], options: Collection[str]) -> list[str]:
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


class _FlagsWithoutType:
    """Mixin: the help shows no type for options that take no value, such as --help."""

    def get_params(self, ctx: Any) -> Any:
        found: Any = super().get_params(ctx)  # type: ignore[misc]
        for one in found:
            if getattr(one, "is_flag", False):
                one.metavar = ""
        return found


class _Command(_FlagsWithoutType, TyperCommand):
    """A command."""


class _Group(_FlagsWithoutType, TyperGroup):
    """A group of commands."""


def _make_list_command(options: Collection[str]) -> type[TyperCommand]:
    """The class of a command with options that take several values at once."""

    class ListOptions(_Command):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, _repeat_options(args, options))

    return ListOptions


def _show_version(
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,
) -> None:
    if version:
        from adjudge import __version__

        typer.echo(f"adjudge {__version__}")
        raise typer.Exit
