"""Plain judgments: item (or topic and document), judge, label, in CSV, TSV, JSONL or Parquet.

Optional columns are gold, time and seconds; common synonyms of every name are accepted.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from adjudge.data.build import gold_from_table, load_table
from adjudge.data.columns import roles_of
from adjudge.data.formats.delimited import delimiter_of, read_delimited
from adjudge.data.formats.files import check_readable, opened, reading
from adjudge.data.formats.format import Content, Format, Head, Options
from adjudge.data.formats.jsonl import Columns, json_keys, read_jsonl, worth_reading
from adjudge.data.formats.tables import write_csv, write_jsonl, write_parquet
from adjudge.data.names import pair_names
from adjudge.data.source import Source
from adjudge.errors import BadData


def sniff(head: Head) -> bool:
    """A header, or a first JSON record, with two of item, judge and label; or item and gold."""
    if head.path.suffix == ".parquet" or head.text.startswith("PAR1"):
        return True
    columns = json_keys(head.text) if head.first.lstrip().startswith("{") else head.columns
    roles = roles_of(columns)
    parts = ("item" in roles or "document" in roles, "judge" in roles, "label" in roles)
    return sum(parts) >= 2 or (parts[0] and "gold" in roles)  # with one missing, say which


def read(path: Path, options: Options) -> Content:
    """Judgments with gold if a column holds it; gold or labels alone where there is no judge."""
    table, source = read_rows(path, options)
    roles = roles_of(table.column_names)
    alone = "judge" not in roles and ("item" in roles or "document" in roles)
    labels = None
    if alone and options.wanted == "labels" and "label" in roles and len(table):
        if "gold" not in roles:
            labels = labels_of(table, source, roles)
            return Content(labels=labels, scale=options.scale, bad=source.skipped)
        labels = labels_of(table, replace(source, bad=[]), roles)  # else a row is listed twice
    if alone and ("gold" in roles or options.wanted == "gold"):
        if not len(table):
            raise source.error(None, "there is no gold: the table has a header and no rows")
        truth = gold_from_table(table, source=source, scale=options.truths)
        return Content(labels=labels, gold=truth, scale=options.scale, bad=source.skipped)
    judgments, gold = load_table(table, scale=options.scale, source=source)
    return Content(judgments=judgments, gold=gold, bad=source.skipped)


def labels_of(table: Any, source: Source, roles: dict[str, str]) -> Any:
    """Labels of items that came without probabilities: one an item, as a consensus table."""
    as_gold = {role: name for role, name in roles.items() if role in _PLACES}
    labels = gold_from_table(table, source=source, roles={**as_gold, "gold": roles["label"]})
    columns = labels.to_table()
    return columns.rename_columns(["label" if n == "gold" else n for n in columns.column_names])


_PLACES = ("item", "topic", "document")


def read_rows(path: Path, options: Options, columns: Columns = worth_reading) -> tuple[Any, Source]:
    """The columns of a plain file that play a role, or those chosen, whatever its kind."""
    kind = kind_of(path)
    if kind == "parquet":
        return read_parquet(path, options, columns)
    if kind == "jsonl":
        return read_jsonl(path, options, columns)
    delimiter = delimiter_of(path, options)
    return read_delimited(path, options, delimiter=delimiter, columns=columns)


def kind_of(path: Path) -> Literal["parquet", "jsonl", "delimited"]:
    """Whether a file is Parquet, JSONL or delimited text, by its first bytes."""
    check_readable(path)
    with reading(path), opened(path) as file:
        start = file.read(4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    return "jsonl" if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else "delimited"


def read_parquet(
    path: Path, options: Options, columns: Columns = worth_reading
) -> tuple[Any, Source]:
    """The chosen columns of a Parquet file."""
    try:
        file = pa.parquet.ParquetFile(path)
        table = file.read(columns=columns(file.schema_arrow.names))
    except (pa.ArrowInvalid, OSError) as error:
        raise BadData(
            f"is cut short, or no Parquet file ({str(error).splitlines()[0]})",
            source=path.name,
            wanted="a whole Parquet file",
        ) from None
    return table, Source(path.name, skip_bad=options.skip_bad)


def table_of(content: Content) -> Any:
    """The plain table of what there is: judgments with their gold, or gold alone."""
    if content.judgments is None:
        if content.gold is None:
            raise BadData("plain holds judgments or gold, and there are none to write")
        return content.gold.to_table()
    table = content.judgments.to_table()
    if content.gold is not None:
        gold = content.gold.to_table()
        found = pc.index_in(table["item"], value_set=gold["item"].combine_chunks())
        table = table.append_column("gold", gold["gold"].combine_chunks().take(found))
    if {"topic", "document"} <= set(table.column_names):
        pairs = pair_names(table["topic"], table["document"])
        if pa.chunked_array([pairs]).equals(table["item"]):
            table = table.drop_columns(["item"])  # the pair says it, and is what people know
    return table


def _write(name: str) -> Any:
    writer = {"csv": write_csv, "tsv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}

    def write(content: Content, file: IO[bytes]) -> None:
        table = table_of(content)
        if name == "tsv":
            write_csv(table, file, delimiter="\t")
        else:
            writer[name](table, file)

    return write


FORMATS = tuple(
    Format(
        name=name,
        title=f"plain judgments, {text}: item (or topic, document), judge, label, gold, time",
        reads=("judgments", "gold"),
        writes=("judgments", "gold"),
        extension=extension,
        sniff=sniff if name == "csv" else (lambda _: False),
        read=read,
        write=_write(name),
    )
    for name, text, extension in (
        ("csv", "comma separated", ".csv"),
        ("tsv", "tab separated", ".tsv"),
        ("jsonl", "one JSON object a line", ".jsonl"),
        ("parquet", "Apache Parquet", ".parquet"),
    )
)
