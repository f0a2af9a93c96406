"""The command line: one file a command, each parses, calls and prints.

Nothing heavy is imported before a command runs, so that ``adjudge --help`` answers at once.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from inspect import cleandoc
from types import FrameType
from typing import Annotated, Any

import typer

from adjudge.cli.console import remember
from adjudge.cli.options import option
from adjudge.cli.stopping import SignalWatch
from adjudge.errors import AdjudgeError
from adjudge.lazy import missing_extra

_DONE, _FAILED, _STOPPED, _UNREAD, _ENDED = 0, 2, 130, 141, 143  # how the process ends

# Files of commands, in the order of the help, and what each is for, so that the list of them is
# shown without importing any; a package is a group of commands.
MODULES = {
    "demo": "Make a small crowd, find its consensus, judge the judges, and compare with the truth.",
    "look": "Show what a file is: its kind, how its columns are taken, counts, scale and oddities.",
    "consensus": "Turn judgments into one label for each item, with its probability.",
    "judges": (
        "Show how good each judge is, and whether to keep, train, drop or watch them, and why."
    ),
    "next": "List the items most worth another judgment, and who should give it.",
    "evaluate": "Score labels against gold: accuracy, F1, AUC, log loss, calibration and more.",
    "estimate": (
        "Estimate a number from all judgments and gold on a part of the items, with an interval."
    ),
    "agreement": "Measure agreement: percent, Cohen's and Fleiss' kappa, Krippendorff's alpha.",
    "tune": (
        "Choose the threshold of a filter on gold, and score the vote with it on gold it never saw."
    ),
    "compare": (
        "Compare models on your judgments: log loss, accuracy, calibration, time, and which "
        "to take."
    ),
    "rank": "Rank search systems by noisy judgments, with intervals and the chance that A beats B.",
    "rank_pairs": (
        "Rank items by comparisons of two, with intervals, and say how far judges can be trusted."
    ),
    "may_replace": (
        "Say of each model whether it may stand in for people: the alternative annotator test."
    ),
    "align": "Look model judges over: right, honest, repeatable, and what should not be trusted.",
    "plan": "Say how many judgments, golds and how much money a wanted accuracy takes.",
    "report": (
        "Make a report: labels, judges with a card each, disagreements, model checks, on one page."
    ),
    "plot": "Draw figures: judges against chance, posteriors, confusion, calibration and more.",
    "convert": (
        "Convert judgments, gold or labels from any format that is read to any that is written."
    ),
    "encode": (
        "Encode judgments as integers on disk, once, to be fitted from there without reading again."
    ),
    "simulate": "Make judgments from a stated crowd, with the truth that real judgments hide.",
    "crowd": "Send made judges to a server that collects judgments, and tell how it went.",
    "replicate": (
        "Run a paper's experiment, and show every published value beside the one obtained."
    ),
    "models": "List the models, what each is, and its settings with their defaults.",
    "serve": "Serve the pages where judgments are collected, and the API, until it is stopped.",
    "project": (
        "Make, fill, watch and take out collection projects, on the database of 'adjudge serve'."
    ),
    "judge_with_model": (
        "Let a language model judge a project's pages like any judge, or a table of items."
    ),
}


def application(only: str | None = None, *, bare: bool = False) -> typer.Typer:
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
    )
    made.callback(invoke_without_command=True)(_version)
    for name, line in MODULES.items() if bare else ():
        made.command(name=name.replace("_", "-"), help=line)(lambda: None)
    for name in () if bare else MODULES if only is None else (only,):
        module: Any = import_module(f"adjudge.cli.{name}")
        if hasattr(module, "COMMANDS"):
            below = typer.Typer(name=module.NAME, help=module.HELP, no_args_is_help=True)
            for one in module.COMMANDS:
                _add(one, below)
            made.add_typer(below)
        else:
            _add(module, made)
    return made


def _add(module: Any, to: typer.Typer) -> None:
    """A command from its module: paragraphs of its docstring on one line each, then examples."""
    paragraphs = cleandoc(module.run.__doc__).split("\n\n")
    examples = ["Example:" if len(module.EXAMPLES) == 1 else "Examples:", "", *module.EXAMPLES]
    told = to.command(
        name=module.NAME,
        help="\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs),
        epilog="\n".join(examples),
        cls=_class(module),
    )
    from adjudge.cli.groups import spread

    told(spread(module.run))


def _class(module: Any) -> Any:
    if not hasattr(module, "LIST_OPTIONS"):
        return None
    from adjudge.cli.list_options import list_options_class

    return list_options_class(module.LIST_OPTIONS)


def listed(made: typer.Typer) -> dict[str, Any]:
    """Every command by its words: ``consensus``, ``project create``."""
    found = {str(entry.name): entry for entry in made.registered_commands}
    for group in made.registered_groups:
        below = group.typer_instance
        if below is not None:
            found |= {f"{below.info.name} {e.name}": e for e in below.registered_commands}
    return found


def __getattr__(name: str) -> Any:
    """``app``, the whole command line, for whoever wants to look at all of it."""
    if name == "app":
        return application()
    raise AttributeError(name)


def _version(
    version: Annotated[bool, option("--version", help="Show the version and stop.")] = False,
) -> None:
    if version:
        from adjudge import __version__

        typer.echo(f"adjudge {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command that the process was started with, and end the process."""
    # Ended from outside, it still cleans up: nothing half-written is left behind.
    for number in _STOPS:
        signal.signal(number, _interrupt)
    if hasattr(signal, "setitimer"):  # not on Windows
        _watching.append(SignalWatch(_interrupt))
        _watching[0].watch()
    code = call(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: os._exit(_ENDED))
    for number in _STOPS:
        if number != signal.SIGTERM:
            signal.signal(number, signal.SIG_IGN)
    # Python remembers Ctrl-C in code that was made of text, as dataclasses are, though it was
    # caught, and would end by the signal; the next such code makes it forget.
    exec("")  # noqa: S102
    if _stops and _watching:
        _watching[0].leave(code)
    sys.exit(code)


_stops: list[int] = []  # the signals that came; no lock, which a second signal would wait for
_STOPS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)
]
_AGAIN = 0.5  # seconds
_watching: list[SignalWatch] = []  # one, in the process of a command


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Stop, and again after a while: an import or the compiler may have swallowed the first.

    Only the work is stopped, wherever it is: before it, it is told when it begins; after it, there
    is nothing to stop, and an exception would end the process in the wrong way. What is left half
    done may complain in its own words while it goes; nobody wants to hear it.
    """
    _stops.append(number)
    for watcher in _watching:
        watcher.heard()
    sys.unraisablehook = lambda _: None
    while frame is not None and frame.f_code is not _work.__code__:
        frame = frame.f_back
    if frame is None:
        return
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    raise _stop()


def _stop() -> BaseException:
    """What ends the work after a signal: Ctrl-C, or the end that was asked for from outside."""
    return SystemExit(_ENDED) if signal.SIGTERM in _stops else KeyboardInterrupt()


def _work(given: Sequence[str]) -> Any:
    """Run the command itself; all that a stop interrupts."""
    if _stops:
        raise _stop()
    try:
        code = _wanted(given)(args=given, prog_name="adjudge", standalone_mode=False)
        sys.stdout.flush()
    except Exception:
        if _stops:  # an import that is interrupted may fail in its own words
            raise _stop() from None
        raise
    return code


def call(arguments: Sequence[str]) -> int:
    """Run a command: 0 done, 2 bad input, 130 stopped by Ctrl-C, 141 the reader went away."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may know fewer letters
    try:
        given = list(arguments) or ["--help"]
        remember(given)
        code = _work(given)
    except _USAGE as error:
        return _failed(_usage(error))
    except AdjudgeError as error:
        return _failed(str(error))
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        return _failed(str(missing))
    except BrokenPipeError:
        return _unread()
    except SystemExit as end:  # Typer catches a closed pipe before we can
        return _unread() if isinstance(end.__context__, BrokenPipeError) else int(end.code or 0)
    except MemoryError as error:
        return _failed(f"there is not enough memory ({error or 'none left'})")
    except OSError as error:
        _discard(sys.stdout)
        name = error.filename or "standard output"
        return _failed(f"{name}: cannot be used ({error.strerror})")
    except (KeyboardInterrupt, typer.Abort):
        code = _STOPPED
    if code == _STOPPED:  # Typer's word for Ctrl-C too
        sys.stderr.write("stopped\n")
    return code if isinstance(code, int) else _DONE


def _wanted(given: Sequence[str]) -> Any:
    """As much of the command line as the arguments need: most of it costs time to build."""
    if "_ADJUDGE_COMPLETE" in os.environ:  # a shell asks for names and options
        return application()
    module = given[0].replace("-", "_")
    return _built(module if module in MODULES else None)


# Kept for a process that calls a command again.
_built = cache(lambda only: typer.main.get_command(application(only, bare=only is None)))
# Every error about options and arguments is one; Typer has no public name for it.
_USAGE: Any = typer.BadParameter.__base__


def _usage(error: Any) -> str:
    """An error about options and arguments, on one line."""
    text = " ".join(error.format_message().split()).rstrip(".")
    place = error.ctx.command_path if error.ctx is not None else "adjudge"
    return f"{text[:1].lower()}{text[1:]} (see '{place} --help')"


def _failed(text: str) -> int:
    sys.stderr.write(f"error: {' '.join(text.splitlines())}\n")
    return _FAILED


def _unread() -> int:
    """The reader went away (head, less): not our fault, and nothing to say to it."""
    _discard(sys.stdout)
    return _UNREAD


def _discard(stream: Any) -> None:
    """Let what is still to be written go nowhere, so that the end of the process is quiet."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
