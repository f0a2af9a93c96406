"""The command line: one file a command, each parses, calls and prints.

Nothing heavy is imported before a command runs, so that ``adjudge --help`` answers at once.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from adjudge.cli import (
    agreement,
    consensus,
    convert,
    demo,
    evaluate,
    judges,
    models,
    simulate,
)
from adjudge.errors import AdjudgeError

app = typer.Typer(
    name="adjudge",
    help="Turn noisy relevance judgments into labels that can be trusted, "
    "and say how far each judge can be.",
    epilog="Start with:  adjudge demo     then:  adjudge consensus judgments.csv -o labels.csv",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

for _module in (demo, consensus, judges, evaluate, agreement, convert, simulate, models):
    app.command(name=_module.NAME, epilog=_module.EXAMPLE)(_module.run)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,
) -> None:
    if version:
        from adjudge import __version__

        typer.echo(f"adjudge {__version__}")
        raise typer.Exit


def main() -> None:
    """Run a command; end with 2 on bad input, 130 on Ctrl-C, quietly on a closed pipe."""
    try:
        app()
    except AdjudgeError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("stopped; nothing was written\n")
        sys.exit(130)
    except BrokenPipeError:
        # The reader went away (head, less): not our fault, and nothing to say to it.
        sys.stderr.close()
        sys.exit(141)
