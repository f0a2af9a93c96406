"""Parquet files read by the workers of a Dask cluster, and grouped by item with Dask's shuffle.

Workers read the files twice. First they list the judges, labels and topics, which are few; so the
scale is known, and all workers use the same codes. Then rows are shuffled by item, and each worker
groups its items. The client gets 5 bytes per judgment, and the names of the items; text of rows
stays with the workers. Items, judges and topics are in the order of the files, as on one machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from adjudge.data._second_questions import tell_label
from adjudge.data.build import load_table
from adjudge.data.columns import named_columns, need_columns, roles_of, text_of
from adjudge.data.formats.format import Content, Options
from adjudge.data.formats.uris import is_uri, name_of, open_uri
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.labels import refuse_text, remark_scale, settle_labels
from adjudge.data.names import Coded, Names, as_names, encode, look_up
from adjudge.data.oddities import settle_oddities
from adjudge.data.scale import Scale
from adjudge.data.source import Source
from adjudge.data.synonyms import NAMED
from adjudge.engines._cluster import Connection
from adjudge.errors import BadData
from adjudge.lazy import load

_CODED = ("judge", "label", "topic", "gold")  # few names: shuffled as numbers
_TEXT = ("item", "document")
_ROWS = 3_000_000  # rows in a part, about
_LOOKED_AT = 1_000  # rows in which other labels are looked for


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows that are read at once: a row group of a file."""

    place: str
    number: int
    first: int  # row, counted over all files


@dataclass(frozen=True, slots=True, eq=False)
class _Common:
    """What all workers have to know: columns by role, names by role, and where files begin."""

    roles: dict[str, str]
    places: tuple[str, ...]
    firsts: NDArray[np.int64]  # (place,) first row of each file
    scale: Scale | None = None
    # By role: names as the files have them, the code of each of these, and names by code.
    names: dict[str, tuple[Names, NDArray[np.int32], Names]] = field(default_factory=dict)

    def source(self, row: NDArray[np.int64]) -> Source:
        """The source of a table with these rows, which names the file of a row that is wrong."""

        def place_of(at: int) -> str:
            file = int(np.searchsorted(self.firsts, row[at], side="right")) - 1
            return f"{name_of(self.places[file])}, row {row[at] - self.firsts[file] + 1:,}"

        return Source("", place_of=place_of, repeats=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Grouped:
    """The judgments of some items, with the row where each item first is."""

    judgments: Judgments
    first: NDArray[np.int64]  # (item,)
    gold: Any
    notes: list[str]


def read_parquet(
    connection: Connection, places: Sequence[str], options: Options | None = None
) -> Content:
    """Judgments from Parquet files, and gold if a column holds it."""
    options = options or Options()
    about = Source(name_of(places[0]) if len(places) == 1 else f"{len(places):,} files")
    common, groups, rows = _plan(places, options, about)
    if not rows:
        raise about.error(None, "there are no judgments: the files have no rows")
    client = connection.client
    with connection.guard():
        listed = client.map(partial(_list_names, common), groups, pure=False)
    common = _settle(common, connection.gather(listed), options, about)
    unused = [name for role, name in common.roles.items() if role not in (*_CODED, *_TEXT)]
    if unused:
        about.remark(f"not read on a cluster: {', '.join(unused)}")
    shuffled = _shuffle(common, groups, max(sum(connection.workers().values()), -(-rows // _ROWS)))
    with connection.guard():
        futures = client.compute([load("dask").delayed(_group)(part, common) for part in shuffled])
    parts = [part for part in connection.gather(futures) if part is not None]
    for note in list(chain.from_iterable(part.notes for part in parts))[:1]:
        about.remark(f"in part of the rows: {note}")
    judgments = _join(parts)
    columns = {role: name for role, name in common.roles.items() if role in NAMED}
    return Content(
        judgments=judgments,
        gold=_join_gold(parts, judgments),
        format="parquet",
        notes=tuple(about.notes),
        columns=columns,
    )


def _plan(
    places: Sequence[str], options: Options, about: Source
) -> tuple[_Common, list[_Group], int]:
    """The columns by role, which must be the same in every file, what to read at once, and rows."""
    roles: dict[str, str] = {}
    groups, firsts, row = [], [], 0
    for place in places:
        with _open(place) as file:
            columns = file.schema_arrow.names
            named = named_columns(options.columns, columns, name_of(place))
            found = roles_of(columns, named=named)
            need_columns(found, columns, Source(name_of(place)))
            if roles and found != roles:
                raise BadData(
                    f"has other columns than {name_of(places[0])}: {', '.join(columns)}",
                    source=name_of(place),
                    expected="the same columns in every file",
                )
            firsts.append(row)
            for number in range(file.num_row_groups):
                groups.append(_Group(place, number, row))
                row += file.metadata.row_group(number).num_rows
            if not roles and "label" not in named:
                rows = next(file.iter_batches(_LOOKED_AT), None)
                if rows is not None:
                    tell_label(pa.Table.from_batches([rows]), found, about, columns)
            roles = found
    return _Common(roles, tuple(places), np.array(firsts)), groups, row


@contextmanager
def _open(place: str) -> Iterator[Any]:
    """A Parquet file, at a path or a URI."""
    try:
        with open_uri(place) if is_uri(place) else pa.OSFile(place) as raw:
            yield pa.parquet.ParquetFile(raw)
    except (pa.ArrowException, OSError) as fault:
        raise BadData(
            f"is cut short, or no Parquet file ({str(fault).splitlines()[0]})",
            source=name_of(place),
            expected="a Parquet file that every worker can read",
        ) from None


def _read(group: _Group, common: _Common, roles: tuple[str, ...]) -> dict[str, Any]:
    """Columns of a row group as text, by role."""
    chosen = {role: common.roles[role] for role in roles if role in common.roles}
    with _open(group.place) as file:
        table = file.read_row_group(group.number, columns=list(dict.fromkeys(chosen.values())))
    source = Source(name_of(group.place))
    return {role: text_of(table, name, source) for role, name in chosen.items()}


def _list_names(common: _Common, group: _Group) -> dict[str, tuple[Names, NDArray[np.int64]]]:
    """The judges, labels, topics and gold of a row group, and how many rows each has."""
    found = {}
    for role, column in _read(group, common, _CODED).items():
        codes, names = encode(column)
        found[role] = (names, np.bincount(codes[codes >= 0], minlength=len(names)))
    return found


def _settle(
    common: _Common, listed: list[dict[str, Any]], options: Options, about: Source
) -> _Common:
    """One code for each name of all files: spellings of one label are one, and the scale."""
    coded: Coded = {}
    for role in listed[0]:
        codes, names = encode(pa.chunked_array([found[role][0] for found in listed]))
        coded[role] = (np.arange(len(names), dtype=np.int32), names)
        if role == "label":
            rows = np.zeros(len(names), dtype=np.int64)
            np.add.at(rows, codes, np.concatenate([found[role][1] for found in listed]))
    given = {role: names for role, (_, names) in coded.items()}
    asked = "label" in options.columns
    if options.scale is None:
        texts = coded["label"][1].to_pylist()
        refuse_text(texts, int(rows.sum()), common.roles["label"], about, asked=asked)
    coded, scale = settle_oddities(coded, common.roles, about, options.scale)
    coded = settle_labels(coded, common.roles, about, scale=scale, asked=asked, rows=rows)
    if scale is None:
        texts = [text for r in ("label", "gold") if r in coded for text in coded[r][1].to_pylist()]
        scale = Scale.infer([text for text in texts if text.strip()])
        remark_scale(scale, common.roles["label"], about)
    settled = {}
    for role, (codes, texts) in coded.items():
        new, names = encode(texts)
        settled[role] = (given[role], new[codes], names)
    return replace(common, scale=scale, names=settled)


def _shuffle(common: _Common, groups: list[_Group], parts: int) -> list[Any]:
    """The rows in parts, all rows of an item in one of them."""
    frames = load("dask.dataframe").from_map(
        partial(_read_frame, common), groups, meta=_read_frame(common, None)
    )
    keys = ["item"] if "item" in common.roles else ["topic", "document"]
    return list(frames.shuffle(on=keys, npartitions=parts, ignore_index=True).to_delayed())


def _read_frame(common: _Common, group: _Group | None) -> Any:
    """A row group as a frame: codes where names are few, text of items, the row; empty for None."""
    pd = load("pandas")
    roles = [role for role in (*_CODED, *_TEXT) if role in common.roles]
    columns = {role: pa.array([], pa.string()) for role in roles}
    first = 0
    if group is not None:
        columns, first = _read(group, common, tuple(roles)), group.first
    found: dict[str, Any] = {}
    for role, column in columns.items():
        if role in _CODED:
            names, code, _ = common.names[role]
            found[role] = np.append(code, np.int32(-1))[look_up(column, names)]
        else:
            found[role] = pd.array(as_names(column), dtype="string[pyarrow]")
    count = len(found["label"])
    return pd.DataFrame({**found, "row": np.arange(first, first + count, dtype=np.int64)})


def _group(frame: Any, common: _Common) -> _Grouped | None:
    """Group the rows of some items; rows of an item stay in the order of the files."""
    if not len(frame):
        return None
    frame = frame.sort_values("row", ignore_index=True)
    columns: dict[str, Any] = {}
    for role, name in common.roles.items():
        if role in _CODED:
            codes = frame[role].to_numpy()
            indices = pa.array(codes, mask=codes < 0)
            columns[name] = pa.DictionaryArray.from_arrays(indices, common.names[role][2])
        elif role in _TEXT:
            columns[name] = as_names(pa.array(frame[role]))
    source = common.source(frame["row"].to_numpy())
    roles = {role: name for role, name in common.roles.items() if name in columns}
    judgments, gold = load_table(pa.table(columns), scale=common.scale, source=source, roles=roles)
    keys = ["item"] if "item" in roles else ["topic", "document"]
    own = frame.drop_duplicates(keys)
    names = judgments.items if "item" in roles else judgments.documents
    if not as_names(pa.array(own[keys[-1]])).equals(names):
        raise source.error(
            None,
            "item ids differ in blanks, case or hidden characters; expected clean ids: "
            "'adjudge convert' writes them",
            expected="clean ids",
        )
    table = None if gold is None else gold.to_table()
    return _Grouped(judgments, own["row"].to_numpy(), table, source.notes)


def _join(parts: list[_Grouped]) -> Judgments:
    """The judgments of all parts, items in the order of the files."""
    given = [part.judgments for part in parts]
    order = np.argsort(np.concatenate([part.first for part in parts]))
    place = np.empty_like(order)  # (item of the parts,) where it goes
    place[order] = np.arange(len(order))
    counts = np.concatenate([one.counts_per_item for one in given])[order]
    offsets = np.append(0, np.cumsum(counts))
    judge = np.empty(offsets[-1], dtype=np.int32)
    label = np.empty(offsets[-1], dtype=given[0].label.dtype)
    item = 0
    for one in given:
        begins = offsets[place[item : item + one.item_count]]
        rows = np.repeat(begins - one.offsets[:-1], one.counts_per_item) + np.arange(len(one))
        judge[rows], label[rows] = one.judge, one.label
        item += one.item_count

    def of_items(name: str) -> Any:
        arrays = [getattr(one, name) for one in given]
        if arrays[0] is None:
            return None
        if isinstance(arrays[0], np.ndarray):
            return np.concatenate(arrays)[order]
        return pa.concat_arrays(arrays).take(pa.array(order))

    return Judgments(
        scale=given[0].scale,
        items=of_items("items"),
        judges=given[0].judges,
        offsets=offsets,
        judge=judge,
        label=label,
        topics=given[0].topics,
        topic=of_items("topic"),
        documents=of_items("documents"),
    )


def _join_gold(parts: list[_Grouped], judgments: Judgments) -> Gold | None:
    """The gold of all parts, in the order of the items."""
    golds = [part.gold for part in parts if part.gold is not None]
    if not golds:
        return None
    table = pa.concat_tables(golds)
    rank = look_up(table["item"], judgments.items)
    return Gold.from_table(table.take(pa.array(np.argsort(rank))))
