"""A format: one judgment a line, ``judge|item|label``, below a first line ``#pipes``."""

from __future__ import annotations

import io
from typing import IO

import pyarrow.csv

from adjudge import Judgments
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File

_MARK = "#pipes"
_COLUMNS = ["judge", "item", "label"]


def _fits(file: File) -> bool:
    """Whether a file begins as one of these does."""
    return file.text.startswith(_MARK)


def _read(file: File, options: Options) -> Content:
    """The judgments of a file."""
    body = io.BytesIO(file.path.read_bytes())
    table = pyarrow.csv.read_csv(
        body,
        read_options=pyarrow.csv.ReadOptions(skip_rows=1, column_names=_COLUMNS),
        parse_options=pyarrow.csv.ParseOptions(delimiter="|"),
    )
    return Content(
        judgments=Judgments.from_table(table, scale=options.scale, source=file.path.name)
    )


def _write(content: Content, file: IO[bytes]) -> None:
    """The judgments of a content, a line each."""
    table = content.need("judgments", "pipes").to_table()
    file.write(f"{_MARK}\n".encode())
    for row in table.select(_COLUMNS).to_pylist():
        file.write("|".join(map(str, row.values())).encode() + b"\n")


FORMAT = Format(
    name="pipes",
    title="judgments between pipes",
    reads=("judgments",),
    writes=("judgments",),
    extension=".pipes",
    read=_read,
    write=_write,
    fits=_fits,
)
