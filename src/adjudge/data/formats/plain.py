"""Plain judgments: item (or topic and document), judge, label, in CSV, TSV, JSONL or Parquet.

Optional columns are gold, time and seconds; common synonyms of every name are accepted.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet

from adjudge.data.build import gold_from_table, load_table, roles_of
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.files import check_readable, opened
from adjudge.data.formats.format import Content, Format, Head, Options
from adjudge.data.formats.tables import write_csv, write_jsonl, write_parquet
from adjudge.data.source import Source
from adjudge.errors import BadData, shown


def sniff(head: Head) -> bool:
    """A header, or a first JSON record, with an item, a judge and a label; or item and gold."""
    if head.path.suffix == ".parquet" or head.text.startswith("PAR1"):
        return True
    columns = _json_keys(head.first) if head.first.lstrip().startswith("{") else head.columns
    roles = roles_of(columns)
    placed = "item" in roles or "document" in roles
    return placed and ("label" in roles or "gold" in roles)


def _json_keys(line: str) -> list[str]:
    try:
        return list(json.loads(line))
    except (ValueError, TypeError):
        return []


def read(path: Path, options: Options) -> Content:
    """Judgments with gold if a column holds it; gold alone where there is no judge."""
    table, source = read_rows(path, options)
    roles = roles_of(table.column_names)
    alone = "judge" not in roles and ("gold" in roles or options.wanted == "gold")
    if alone and ("item" in roles or "document" in roles):
        return Content(gold=gold_from_table(table, source=source), bad=tuple(source.bad))
    judgments, gold = load_table(table, scale=options.scale, source=source)
    return Content(judgments=judgments, gold=gold, bad=tuple(source.bad))


def read_rows(path: Path, options: Options) -> tuple[Any, Source]:
    """The columns of a plain file that play a role, as a table, whatever its encoding."""
    check_readable(path)
    with opened(path) as file:
        start = file.read(4096)
    if start.startswith(b"PAR1"):
        return read_parquet(path, options)
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return read_jsonl(path, options)
    first = start.split(b"\n", 1)[0]
    return read_delimited(
        path,
        options,
        delimiter="\t" if b"\t" in first else ",",
        columns=lambda header: list(dict.fromkeys(roles_of(header).values())) or header,
    )


def read_parquet(path: Path, options: Options) -> tuple[Any, Source]:
    """The columns of a Parquet file that play a role."""
    try:
        file = pa.parquet.ParquetFile(path)
        names = list(dict.fromkeys(roles_of(file.schema_arrow.names).values()))
        table = file.read(columns=names or None)
    except (pa.ArrowInvalid, OSError) as error:
        raise BadData(
            f"is cut short, or no Parquet file: {str(error).splitlines()[0]}",
            source=path.name,
            wanted="a whole Parquet file",
        ) from None
    return table, Source(path.name, skip_bad=options.skip_bad)


def read_jsonl(path: Path, options: Options) -> tuple[Any, Source]:
    """A table from one JSON object a line; the slow way only where Arrow cannot."""
    source = Source(path.name, line_of=lambda row: _json_line(path, row), skip_bad=options.skip_bad)
    try:
        return pa.json.read_json(str(path)), source
    except pa.ArrowInvalid:
        return _read_jsonl_slowly(path, options, source)


def _json_line(path: Path, row: int) -> int:
    """The line of a record: blank lines are no records."""
    with opened(path) as file:
        seen = -1
        for number, line in enumerate(file, start=1):
            seen += bool(line.strip())
            if seen == row:
                return number
    return row + 1


def _read_jsonl_slowly(path: Path, options: Options, source: Source) -> tuple[Any, Source]:
    """Records whose values change type from line to line, or a fault with its line."""
    rows: list[dict[str, Any]] = []
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line.decode(options.encoding).removeprefix("\ufeff"))
                if not isinstance(record, dict):
                    raise ValueError("no object")
            except ValueError as fault:
                text = shown(line.decode("utf-8", "replace").strip())
                error = BadData(
                    f"{text} is no JSON object ({fault})",
                    source=path.name,
                    line=number,
                    wanted="one JSON object a line",
                )
                if not options.skip_bad:
                    raise error from None
                source.note(len(rows), error)
                continue
            rows.append(record)
    names = dict.fromkeys(name for record in rows for name in record)
    columns = {
        name: pa.array(
            [None if (v := record.get(name)) is None else str(v) for record in rows], pa.string()
        )
        for name in names
    }
    return pa.table(columns), source


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
    if "document" in table.column_names and "topic" in table.column_names:
        table = table.drop_columns(["item"])
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
        title=f"plain judgments, {text}: item (or topic, document), judge, label, gold, time, seconds",
        reads=("judgments", "gold"),
        writes=("judgments", "gold"),
        extension=extension,
        sniff=sniff if name == "csv" else (lambda head: False),
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
