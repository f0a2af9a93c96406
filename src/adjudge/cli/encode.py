"""adjudge encode: judgments into a folder of integers that is mapped, for files beyond memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, count, say
from adjudge.errors import BadData

NAME = "encode"
EXAMPLES = (
    "adjudge encode judgments.csv -o judgments.adjudge",
    "adjudge encode part-*.parquet -o judgments.adjudge",
)


def run(
    judgments: o.JudgmentsFiles,
    *,
    output: Annotated[
        Path,
        o.option("--output", "-o", metavar="FOLDER", help="The folder to write, new or encoded."),
    ],
    rows: Annotated[
        int | None,
        o.option("--rows", metavar="N", min=1, help="Rows held in memory at a time, about."),
    ] = None,
    labelling: o.Labelling,
    reading: o.Reading,
    place: o.EngineOptions,
    printing: o.Quietness,
) -> None:
    """Encode judgments as integers on disk, once, to be fitted from there without reading again.

    Plain files (CSV, TSV, Parquet) of any size are gone through a few million rows at a time; room
    on disk for their text is needed while it runs. Other formats are read whole. Items come in the
    order of the file, or, where it has more rows than are held at a time, dealt out by their ids.
    """
    from adjudge.cli.encoding import encode_into, is_plain
    from adjudge.cli.engines import check_engine, open_engine
    from adjudge.cli.reading import read_content
    from adjudge.cli.shaping import shape_labels
    from adjudge.data.formats.encoded import FILES
    from adjudge.data.formats.files import written_folder
    from adjudge.data.formats.uris import expand_patterns, fetch_file, name_of
    from adjudge.data.stored import store

    be_quiet(printing.quiet)
    check_engine(place)
    shape = (
        labelling.binary or labelling.drop_label or (labelling.relevant and not labelling.labels)
    )
    found = expand_patterns(judgments)
    whole = len(found) == 1 and (shape or not is_plain(found[0], reading))
    with written_folder(output, replaces=FILES) as folder:
        if not whole:
            if shape:
                raise BadData("several files are encoded as they are: give one, or leave it out")
            with open_engine(place) as engine:
                encode_into(folder, found, engine, labelling, reading, rows)
        else:
            with fetch_file(found[0]) as file:
                content = read_content(file, reading, labels=labelling, wanted="judgments")
            if content.judgments is None:
                raise BadData("there are no judgments in this file", source=name_of(found[0]))
            table, (gold,) = shape_labels(content.judgments, labelling, content.gold)
            store(table, folder, gold)
            say(f"encoded: {count(len(table), 'judgment')} of {count(table.item_count, 'item')}")
    say(f"judgments written to {output}")
