"""adjudge encode: judgments into a folder of integers that is mapped, for files beyond memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, say
from adjudge.data.source import count_of
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
    from adjudge.cli.encoding import encode_into, is_plain, is_told
    from adjudge.cli.engines import check_engine, open_engine
    from adjudge.cli.reading import place_of, read_content
    from adjudge.cli.shaping import shape_labels
    from adjudge.data.formats.encoded import FILES
    from adjudge.data.formats.files import written_folder
    from adjudge.data.formats.uris import expand_patterns
    from adjudge.data.stored import store

    be_quiet(printing.quiet)
    check_engine(place)
    shape = (
        labelling.binary or labelling.drop_label or (labelling.relevant and not labelling.labels)
    )
    found = expand_patterns(judgments)
    # What has to be shaped, or is no plain table that can be gone through, is read whole.
    plain = not shape and not is_told(reading) and all(is_plain(one, reading) for one in found)
    with written_folder(output, replaces=FILES) as folder:
        if plain:
            with open_engine(place) as engine:
                encode_into(folder, found, engine, labelling, reading, rows)
        else:
            content = read_content(judgments, reading, labels=labelling, wanted="judgments")
            if content.judgments is None:
                problem = "there are no judgments in this file"
                raise BadData(problem, source=place_of(judgments))
            table, (gold,) = shape_labels(content.judgments, labelling, content.gold)
            store(table, folder, gold)
            say(
                f"encoded: {count_of(len(table), 'judgment')} of "
                f"{count_of(table.item_count, 'item')}"
            )
    say(f"judgments written to {output}")
