"""Plain files of any size into encoded judgments, with a few rows in memory at a time.

Rows are first dealt out by the item they are about, each with judge, label and topic as numbers, to
buckets on disk that are small enough to be grouped in memory; then each bucket is grouped, checked
and written as a part. The names of items never stand in one table: a bucket knows its own alone.
Both steps can run on many machines, file by file and bucket by bucket.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.build import load_table, need_columns
from adjudge.data.columns import text_of
from adjudge.data.formats.batches import PlainRows, rows_of
from adjudge.data.formats.format import Options
from adjudge.data.formats.uris import fetch_file, is_uri, name_of, rows_about
from adjudge.data.gold import Gold
from adjudge.data.labels import remark_scale, settle_labels
from adjudge.data.names import Coded, Codes, Names, as_names, encode, look_up, pair_names
from adjudge.data.oddities import settle_oddities
from adjudge.data.scale import Scale
from adjudge.data.source import Source
from adjudge.data.stored import Writer, buffers_of, open_stored
from adjudge.errors import BadData
from adjudge.kernels.keys import deal

ROWS = 3_000_000  # rows in a bucket, about
_MOST = 400  # buckets: each is an open file
_CODED = ("judge", "label", "topic", "gold")  # few names, many rows: spilt as numbers
_TEXT = ("item", "document")  # many names: spilt as they are
_Tables = tuple[dict[str, NDArray[np.int32]], ...]  # by file and role: code there, code here
_LEFT_OUT = ("time", "seconds", "reason", "honeypot")


class Each(Protocol):
    """A map over arguments, here or on a cluster: results in their order."""

    def __call__(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """The results of calls."""


def here(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """One call after the other in this process, so that memory holds one at a time."""
    for given in arguments:
        yield function(*given)


@dataclass(frozen=True, slots=True, eq=False)
class _Spilt:
    """What is left of a file that was dealt out: its names by role, in order of appearance."""

    number: int
    path: str
    rows: int
    roles: dict[str, str]
    columns: tuple[str, ...]
    names: dict[str, Names] = field(default_factory=dict)
    label_rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # (label,)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Encoded:
    """What was encoded: how much of everything."""

    judgments: int
    items: int
    judges: int
    topics: int | None
    buckets: int
    left_out: tuple[str, ...]  # columns that were not kept
    notes: tuple[str, ...] = ()  # what a person should know of how it was read


class _Names:
    """Names in order of first appearance, as batches of rows come."""

    def __init__(self) -> None:
        self.names: Names = as_names(pa.array([], pa.large_string()))

    def codes(self, column: Any) -> Codes:
        """The code of each row, -1 for none; names that are new are added."""
        codes, names = encode(column)
        table = look_up(names, self.names).copy()
        new = table < 0
        if new.any():
            table[new] = np.arange(new.sum(), dtype=np.int32) + len(self.names)
            self.names = pa.concat_arrays([self.names, names.filter(pa.array(new))])
        return np.append(table, np.int32(-1))[codes]


def _spill_parts(number: int, path: str, options: Options, scratch: str, buckets: int) -> _Spilt:
    """Deal the rows of a file out to buckets by their item; a URI is copied here first."""
    with fetch_file(path, Path(scratch)) as file:
        rows = rows_of(file, options)
        rows.tell_label()
        return _spill(number, path, rows, scratch, buckets)


def _spill(number: int, path: str, rows: PlainRows, scratch: str, buckets: int) -> _Spilt:
    need_columns(rows.roles, rows.columns, rows.source)
    coded = {role: _Names() for role in _CODED if role in rows.roles}
    done = 0
    labels = np.zeros(0, dtype=np.int64)
    with ExitStack() as stack:
        writers: dict[int, Any] = {}
        for batch in rows.batches:
            table = _dealt(batch, rows, coded, done)
            done += len(batch)
            given = table["label"].to_numpy()
            more = np.bincount(given[given >= 0], minlength=len(coded["label"].names))
            labels = more + np.pad(labels, (0, len(more) - len(labels)))
            for bucket, part in _split(table, rows, coded, buckets):
                if bucket not in writers:
                    place = _spilt_file(scratch, bucket, number)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    writers[bucket] = stack.enter_context(
                        pa.ipc.new_stream(str(place), part.schema)
                    )
                writers[bucket].write_table(part)
    names = {role: given.names for role, given in coded.items()}
    notes = tuple(rows.source.notes)
    return _Spilt(number, path, done, rows.roles, tuple(rows.columns), names, labels, notes)


def _dealt(batch: Any, rows: PlainRows, coded: dict[str, _Names], done: int) -> Any:
    """A batch as it is spilt: names as numbers, texts as they are, the row of the file."""
    columns: dict[str, Any] = {}
    for role, names in coded.items():
        columns[role] = pa.array(names.codes(text_of(batch, rows.roles[role], rows.source)))
    for role in _texts(rows.roles):
        columns[role] = as_names(text_of(batch, rows.roles[role], rows.source))
    columns["row"] = pa.array(np.arange(done, done + len(batch)))
    return pa.table(columns)


def _texts(roles: dict[str, str]) -> list[str]:
    """The roles that are spilt as text; a document that is the item itself is not spilt twice."""
    twice = roles.get("document") == roles.get("item")
    return [role for role in _TEXT if role in roles and not (twice and role == "document")]


def _split(
    table: Any, rows: PlainRows, coded: dict[str, _Names], buckets: int
) -> Iterator[tuple[int, Any]]:
    """The rows of a table by bucket, those of one bucket in their order."""
    if buckets == 1:
        yield 0, table
        return
    if "item" in rows.roles:
        ids = table["item"]
    else:
        topics = coded["topic"].names.take(table["topic"].combine_chunks())
        ids = pair_names(topics, table["document"])
    ends, letters = buffers_of(as_names(ids))
    bucket = np.empty(len(table), dtype=np.uint16)
    deal(ends, letters, buckets, bucket)
    order = np.argsort(bucket, kind="stable")
    table = table.take(pa.array(order)).combine_chunks()
    cuts = np.searchsorted(bucket[order], np.arange(buckets + 1))
    for number in range(buckets):
        start, stop = int(cuts[number]), int(cuts[number + 1])
        if stop > start:
            yield number, table.slice(start, stop - start)


def _spilt_file(scratch: str, bucket: int, number: int) -> Path:
    return Path(scratch) / f"bucket-{bucket:05}" / f"{number:06}.arrow"


@dataclass(frozen=True, slots=True, eq=False)
class _Common:
    """What all buckets share: the scale, all names by role, and the files the rows are from."""

    scale: Scale
    names: dict[str, Names]  # by role
    tables: _Tables
    roles: dict[str, str]  # the columns of the first file
    paths: tuple[str, ...]
    options: Options


def _group(bucket: int, scratch: str, common: _Common) -> tuple[str, Any, tuple[str, ...]] | None:
    """Group a bucket by item and write it as a folder: its place, its gold as a table, remarks."""
    files = [
        (number, file)
        for number in range(len(common.paths))
        if (file := _spilt_file(scratch, bucket, number)).is_file()
    ]
    if not files:
        return None
    table, source = _gathered(files, common)
    roles = {role: name for role, name in common.roles.items() if name in table.column_names}
    judgments, gold = load_table(table, scale=common.scale, source=source, roles=roles)
    folder = Path(scratch) / f"part-{bucket:05}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    nobody = as_names(pa.array([], pa.large_string()))
    with Writer(folder) as writer:
        writer.append(judgments)
        writer.finish(common.scale, nobody, None if judgments.topics is None else nobody)
    return str(folder), None if gold is None else gold.to_table(), tuple(source.notes)


def _gathered(files: list[tuple[int, Path]], common: _Common) -> tuple[Any, Source]:
    """The rows of a bucket with their names, and a source that finds them in their files."""
    parts: dict[str, list[Any]] = {}
    origin = []
    for number, place in files:
        with pa.memory_map(str(place)) as file:
            spilt = pa.ipc.open_stream(file).read_all()
        for role in spilt.column_names:
            column = spilt[role].combine_chunks()
            if role in _CODED:
                column = np.append(common.tables[number][role], np.int32(-1))[column.to_numpy()]
            elif role == "row":
                column = column.to_numpy()
            parts.setdefault(role, []).append(column)
        origin.append(np.full(len(spilt), number, dtype=np.int32))
    row, file_of = np.concatenate(parts.pop("row")), np.concatenate(origin)
    columns: dict[str, Any] = {}
    for role, pieces in parts.items():
        if role in _CODED:
            codes = np.concatenate(pieces)
            indices = pa.array(codes, mask=codes < 0)
            columns[common.roles[role]] = pa.DictionaryArray.from_arrays(
                indices, common.names[role]
            )
        else:
            columns[common.roles[role]] = pa.concat_arrays(pieces)
    return pa.table(columns), _source(row, file_of, common)


def _source(row: NDArray[np.int64], file_of: NDArray[np.int32], common: _Common) -> Source:
    """Where the rows of a bucket stood: the file and, if it has lines, the line."""
    if len(common.paths) == 1 and not is_uri(common.paths[0]):
        given = rows_of(Path(common.paths[0]), common.options).source
        return Source(given.name, line_of=given.line_of, row_of=row)

    def place_of(at: int) -> str:
        with fetch_file(common.paths[file_of[at]]) as path:
            error = rows_of(path, common.options).source.error(int(row[at]), "")
            return error.place

    return Source("", place_of=place_of)


def encode_files(
    paths: Sequence[Path | str],
    folder: Path,
    options: Options,
    *,
    each: Each = here,
    rows: int = ROWS,
    progress: Callable[[str, int, int], None] | None = None,
) -> _Encoded:
    """Encode plain files, paths or URIs, into a folder, which has to be there and be empty.

    ``rows`` are about how many rows are held in memory at a time. While it runs, the folder holds
    the spilt rows too, about the size of the files without compression.
    """
    scratch = folder / "spilt"
    scratch.mkdir()
    estimate = sum(rows_about(str(path), options) for path in paths)
    buckets = min(max(1, -(-estimate // rows)), _MOST)
    tell = progress if progress is not None else (lambda *_: None)
    spilt: list[_Spilt] = []
    jobs = [(n, str(path), options, str(scratch), buckets) for n, path in enumerate(paths)]
    for done in each(_spill_parts, jobs):
        spilt.append(done)
        tell("dealing out", len(spilt), len(paths))
    if not sum(part.rows for part in spilt):
        raise BadData("there are no judgments: a header and no rows", source=name_of(str(paths[0])))
    about = Source(name_of(str(paths[0])), notes=list(spilt[0].notes))
    common = _common(spilt, options, about)
    golds = []
    remarks: tuple[str, ...] = ()
    with Writer(folder) as writer:
        jobs_by_bucket = [(bucket, str(scratch), common) for bucket in range(buckets)]
        for bucket, made in enumerate(each(_group, jobs_by_bucket)):
            if made is not None:
                writer.append(open_stored(Path(made[0]), check=False)[0])
                golds += [] if made[1] is None else [made[1]]
                remarks = remarks or made[2]
                shutil.rmtree(made[0])
            shutil.rmtree(scratch / f"bucket-{bucket:05}", ignore_errors=True)
            tell("grouping", bucket + 1, buckets)
        gold = Gold.from_table(pa.concat_tables(golds)) if golds else None
        judges, topics = common.names["judge"], common.names.get("topic")
        writer.finish(common.scale, judges, topics, gold)
    shutil.rmtree(scratch)
    left_out = tuple(spilt[0].roles[role] for role in _LEFT_OUT if role in spilt[0].roles)
    many = None if topics is None else len(topics)
    where = "" if buckets == 1 else f"in one of {buckets:,} parts: "
    notes = tuple(dict.fromkeys((*about.notes, *(f"{where}{note}" for note in remarks))))
    return _Encoded(writer.judgments, writer.items, len(judges), many, buckets, left_out, notes)


def _common(spilt: list[_Spilt], options: Options, about: Source) -> _Common:
    """The names of all files put together, in the order in which files have them."""
    first = spilt[0]
    for part in spilt[1:]:
        if set(part.names) != set(first.names) or set(part.roles) != set(first.roles):
            raise BadData(
                f"has the columns {', '.join(part.columns)}, and {name_of(first.path)} "
                f"{', '.join(first.columns)}; wanted the same in every file",
                source=name_of(part.path),
            )
    merged = {role: _Names() for role in first.names}
    tables = tuple(
        {role: merged[role].codes(names) for role, names in part.names.items()} for part in spilt
    )
    names = {role: given.names for role, given in merged.items()}
    names, tables, scale = _settled(spilt, names, tables, about, options.scale)
    if scale is None:
        texts = names["label"].to_pylist() + (names["gold"].to_pylist() if "gold" in names else [])
        scale = Scale.infer([text for text in texts if text.strip()])
        remark_scale(scale, first.roles["label"], about)
    paths = tuple(part.path for part in spilt)
    return _Common(scale, names, tables, first.roles, paths, options)


def _settled(
    spilt: list[_Spilt],
    names: dict[str, Names],
    tables: _Tables,
    about: Source,
    scale: Scale | None,
) -> tuple[dict[str, Names], _Tables, Scale | None]:
    """The names and codes with one spelling for each label and judge of all files; it is told."""
    rows = np.zeros(len(names["label"]), dtype=np.int64)
    for part, table in zip(spilt, tables, strict=True):
        np.add.at(rows, table["label"], part.label_rows)
    places = np.arange(max(len(texts) for texts in names.values()), dtype=np.int32)
    coded: Coded = {role: (places[: len(texts)], texts) for role, texts in names.items()}
    roles = spilt[0].roles
    coded, scale = settle_oddities(coded, roles, about, scale)
    coded = settle_labels(coded, roles, about, scale=scale, rows=rows)
    for role, (codes, texts) in coded.items():
        kept = _Names()
        new = kept.codes(texts)[codes]
        names = {**names, role: kept.names}
        tables = tuple({**table, role: new[table[role]]} for table in tables)
    return names, tables, scale
