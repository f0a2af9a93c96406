"""adjudge convert: from one format to another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.cli import _options as o
from adjudge.cli import argument, command, flag, option
from adjudge.cli._console import say
from adjudge.cli._reading import describe, place_of, read_content, read_gold, shape_labels
from adjudge.cli._results import check_format, check_places, grid, page, print_json, write_content
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.data.formats import Content


@command(
    "adjudge convert batch_results.csv -o judgments.csv",
    "adjudge convert labels.csv --to qrels > crowd.qrels",
    "adjudge convert submissions/ -o judgments.parquet",
)
def run(
    files: list[str] | None = argument(
        "FILE...",
        "File to convert, or several of a kind, a folder, a pattern, an address; - is "
        "standard input.",
    ),
    *,
    to: str | None = option("--to FORMAT", "Format to write; by extension if not given."),
    output: Path = option("--output -o FILE", "Where to write; - is standard output.", Path("-")),
    gold: str | None = o.GOLD,
    list_formats: bool = flag("--list", "List the formats that are read and written, and stop."),
    reading: o.LabelReading,
    printing: o.Printing,
) -> None:
    """Convert judgments, gold or labels between formats.

    --json goes with --list only.
    """
    if list_formats:
        _list(printing)
        return
    if not files:
        raise BadSetting("FILE", None, "a file to convert, or --list")
    if printing.json:
        raise BadSetting("--json", True, "--list next to it")
    target = to if to is not None else _by_extension(output)
    check_format(target, output)
    check_places({"--output": output}, inputs=(*files, gold), free=("--output",))
    content = read_content(files, reading)
    if gold is not None:
        content = replace(content, gold=read_gold(gold, reading, content.known_scale).gold)
    if content.judgments is not None:
        judgments, (known,) = shape_labels(content.judgments, reading, content.gold)
        content = replace(content, judgments=judgments, gold=known)
    else:
        content = _relabel(content, reading)
    write_content(content, output, target)
    if str(output) != "-":
        say(f"{place_of(files)}: {describe(content)}; written to {output} as {target}")


def _relabel(content: Content, reading: o.LabelReading) -> Content:
    """Labels or gold on the scale that the person names; only judgments can be changed more."""
    for name, value in (("--drop-label", reading.drop_label), ("--binary", reading.binary)):
        if value:
            raise BadSetting(name, value, "a file of judgments")
    if reading.relevant and content.scale is not None:
        return replace(content, scale=content.scale.with_relevant(reading.named_relevant))
    return content


def _by_extension(output: Path) -> str:
    """The plain format that the name of a file asks for."""
    from adjudge.data.formats import formats

    kind = output.suffix[1:].lower()
    entry = formats().get(kind)
    if entry is None or entry.extension != f".{kind}":
        raise BadSetting("--to", None, "a format; 'adjudge convert --list' shows them")
    return kind


def _list(printing: o.Printing) -> None:
    from adjudge.data.formats import formats

    entries = formats().values()
    if printing.json:
        print_json(
            [
                {"name": e.name, "about": e.title, "reads": e.reads, "writes": e.writes}
                for e in entries
            ]
        )
        return
    rows = [
        [e.name, ", ".join(e.reads) or "-", ", ".join(e.writes) or "-", e.title.partition(":")[0]]
        for e in entries
    ]
    columns = ["format", "reads", "writes", "what it is"]
    page().print(grid("Formats", columns, rows))
