"""adjudge encode: judgments into a folder of integers that is mapped, for files beyond memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from adjudge.cli import Command, option
from adjudge.cli import _options as o
from adjudge.cli._console import say
from adjudge.cli._files import read_content
from adjudge.cli._labels import shape_labels
from adjudge.cli._large import check_engine, encode_into, is_plain, open_engine, says_how
from adjudge.cli._places import place_of
from adjudge.data.source import count_of
from adjudge.errors import BadData


def _run(
    judgments: o.JudgmentsFiles,
    *,
    output: Annotated[
        Path, option("--output -o", "FOLDER", "The folder to write, new or encoded.")
    ],
    rows: Annotated[
        int | None, option("--rows", "N", "Rows held in memory at a time, about.", min=1)
    ] = None,
    labelling: o.Labelling,
    reading: o.Reading,
    place: o.EngineOptions,
    printing: o.Quietness,  # noqa: ARG001 - obeyed before the command runs
) -> None:
    """Encode judgments as integers on disk, once, to be fitted from there without reading again.

    Plain files (CSV, TSV, Parquet) of any size are gone through a few million rows at a time; room
    on disk for their text is needed while it runs. Other formats are read whole. Items come in the
    order of the file, or, where it has more rows than are held at a time, dealt out by their ids.
    """
    from adjudge.data.formats.encoded import FILES
    from adjudge.data.formats.uris import expand_patterns
    from adjudge.data.formats.writing import written_folder
    from adjudge.data.stored import store

    check_engine(place)
    shape = (
        labelling.binary or labelling.drop_label or (labelling.relevant and not labelling.labels)
    )
    found = expand_patterns(judgments)
    # What has to be shaped, or is no plain table that can be gone through, is read whole.
    plain = not shape and not says_how(reading) and all(is_plain(one, reading) for one in found)
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


COMMAND = Command(
    _run,
    examples=(
        "adjudge encode judgments.csv -o judgments.adjudge",
        "adjudge encode part-*.parquet -o judgments.adjudge",
    ),
)
