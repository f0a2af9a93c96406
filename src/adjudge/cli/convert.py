"""adjudge convert: from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, page, say
from adjudge.errors import BadSetting

NAME = "convert"
EXAMPLE = (
    "Example:  adjudge convert results.json --to csv -o judgments.csv     (--list: the formats)"
)


def run(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="File or folder to convert.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="Format to write; by extension if not given."),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write; - is standard output."
        ),
    ] = Path("-"),
    gold: o.GoldFile = None,
    list_formats: Annotated[
        bool, typer.Option("--list", help="List the formats that are read and written, and stop.")
    ] = False,
    labels: o.Labels = None,
    relevant: o.Relevant = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--from",
            "--format",
            metavar="FORMAT",
            help="Format of the file, where the header misleads.",
        ),
    ] = None,
    encoding: o.Encoding = "utf-8",
    skip_bad_rows: o.SkipBad = False,
    question: o.Question = None,
    quiet: o.Quiet = False,
) -> None:
    """Convert judgments, gold or labels from any format that is read to any that is written."""
    from dataclasses import replace

    from adjudge.data.formats import read, write
    from adjudge.data.gold import Gold

    be_quiet(quiet)
    if list_formats:
        _list()
        return
    if file is None:
        raise BadSetting("FILE", None, "a file to convert, or --list")
    target = to if to is not None else _by_extension(output)
    reading = o.Reading(
        format=format,
        encoding=encoding,
        skip_bad=skip_bad_rows,
        question=question,
        labels=labels,
        relevant=relevant,
    )
    content = read(file, **reading.options)
    o.tell_bad_rows(content)
    if relevant and not labels and content.judgments is not None:
        judgments, _, _ = reading.shape(content.judgments, None, None)
        content = replace(content, judgments=judgments)
    if gold is not None:
        content = replace(content, gold=Gold.read(gold, encoding=encoding))
    write(content, output, format=target)
    if str(output) != "-":
        say(f"{file} ({content.format}) written to {output} ({target})")


def _by_extension(output: Path) -> str:
    from adjudge.data.formats import formats

    plain = {
        entry.extension: entry.name
        for entry in formats().values()
        if entry.name == entry.extension[1:]
    }
    if str(output) == "-" or output.suffix not in plain:
        raise BadSetting("--to", None, "a format; 'adjudge convert --list' shows them")
    return plain[output.suffix]


def _list() -> None:
    from adjudge.data.formats import formats

    rows = [
        [entry.name, ", ".join(entry.reads) or "–", ", ".join(entry.writes) or "–", entry.title]
        for entry in formats().values()
    ]
    columns = [("format", "left"), ("read as", "left"), ("written from", "left"), ("what", "left")]
    page().print(grid("Formats", columns, rows))
