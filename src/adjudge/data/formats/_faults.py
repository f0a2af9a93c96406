"""Where a file is at fault: walked again, slowly and line by line, once something is wrong."""

from __future__ import annotations

import csv
import io
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from adjudge.data.source import Source
from adjudge.errors import BadData, Remedy

if TYPE_CHECKING:
    from adjudge.data.formats.delimited import Delimited
    from adjudge.data.formats.opening import File


def not_text(file: File) -> BadData:
    """The error for a file whose bytes are not in its encoding, with the first line that is not."""
    name = "UTF-8" if file.codec == "utf-8" else file.encoding
    remedy = Remedy("encoding", "latin-1" if name == "UTF-8" else None)
    with file.open() as raw:
        for number, line in enumerate(raw, start=1):
            try:
                line.decode(file.encoding)
            except UnicodeDecodeError as fault:
                if file.codec.startswith(("utf-16", "utf-32")):
                    break  # such a file has no lines that can be told by their bytes
                return BadData(
                    f"byte 0x{line[fault.start]:02x} is not {name}; wanted {name}",
                    source=file.name,
                    line=number,
                    value=line[fault.start],
                    expected=name,
                    code="bad-encoding",
                    remedies=(remedy,),
                )
    return BadData(
        f"is not {name}", source=file.name, expected=name, code="bad-encoding", remedies=(remedy,)
    )


def check_closed(shape: Delimited) -> None:
    """Refuse a quote that is never closed and so swallows the rest of the file."""
    last = None
    for last in shape.records():  # noqa: B007
        pass
    if last is None:
        return
    with shape.file.open() as raw:
        text = io.TextIOWrapper(raw, encoding=shape.file.encoding, errors="replace", newline="")
        rest = islice(text, last[0] - 1, None)
        try:
            list(csv.reader(rest, delimiter=shape.delimiter, strict=True))
        except csv.Error as fault:
            if "unexpected end of data" in str(fault):
                raise BadData(
                    "a quote opened in this row is never closed",
                    source=shape.file.name,
                    line=last[0],
                    expected="a closing quote",
                ) from None


def locate_fault(shape: Delimited, error: Exception) -> BadData:
    """Arrow's error, with the line it is about."""
    if "UTF8" in str(error) or "UTF-8" in str(error):
        return not_text(shape.file)
    width = len(shape.header)
    for line, cells in shape.records():
        if len(cells) != width:
            return _ragged(shape, line, cells)
    return BadData(f"cannot be read: {error}", source=shape.file.name)


def _ragged(shape: Delimited, line: int, cells: list[str]) -> BadData:
    """The error for a row whose number of cells is not the header's."""
    width = len(shape.header)
    return BadData(
        f"{len(cells)} {'cell' if len(cells) == 1 else 'cells'} where the header has {width}",
        source=shape.file.name,
        line=line,
        value=cells,
        expected=f"{width} cells",
    )


def note_ragged(shape: Delimited, source: Source) -> None:
    """List the rows that were skipped because their number of cells is not the header's."""
    width = len(shape.header)
    good = []
    for row, (line, cells) in enumerate(shape.records()):
        if len(cells) == width:
            good.append(row)
        else:
            source.note(row, _ragged(shape, line, cells))
    source.keep(np.array(good, dtype=np.int64))
