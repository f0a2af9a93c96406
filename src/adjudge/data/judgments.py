"""Judgments: who gave which item which label, stored once, grouped by item.

Functions that take them (``takes_tables``) take whatever holds them too: a file, or a table of any
dataframe library; and gold as a mapping.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data import _reshaping
from adjudge.data.gold import Gold, take_gold
from adjudge.data.names import Codes, Named, Names, restore
from adjudge.data.progress import progress_bar
from adjudge.data.scale import Scale, canonical
from adjudge.data.source import BadRow, Source, count_of, warn_of
from adjudge.errors import BadData, BadSetting, shown

PERSON, MODEL = 0, 1  # kinds of judges; -1 where it is not known
_BLOCK = 1_000_000  # judgments counted at a time
_SHOWN = 10  # items whose judgments a notebook looks at


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgments(Named):
    """Every judgment as integers, grouped by item; names and topics next to them.

    The judgments of item i are ``judge[offsets[i]:offsets[i + 1]]`` and ``label[...]``. A judge may
    judge an item never, once or several times; an item may have no judgment at all. Everything
    heavy in adjudge is a sweep over these three arrays.
    """

    scale: Scale
    items: Names  # (item,) unique
    judges: Names  # (judge,) unique
    offsets: NDArray[np.int64]  # (item + 1,)
    judge: Codes  # (judgment,)
    label: NDArray[np.signedinteger]  # (judgment,) int8, int16; int32 of numbers
    topics: Names | None = None  # (topic,) unique
    topic: Codes | None = None  # (item,)
    documents: Names | None = None  # (item,)
    time: NDArray[np.float64] | None = None  # (judgment,) seconds since 1970 UTC, NaN unknown
    seconds: NDArray[np.float64] | None = None  # (judgment,) spent on it, NaN unknown
    fields: Any = None  # Arrow table, one row per item: query, title, url, ... as read
    families: Names | None = None  # (family,) unique: declared sources of several judges
    family: Codes | None = None  # (judge,) -1 where none is declared
    kind: NDArray[np.int8] | None = None  # (judge,) 0 a person, 1 a model, -1 unknown
    notes: tuple[str, ...] = ()  # what was left out, merged or guessed in reading
    types: Mapping[str, str] = field(default_factory=dict)  # role: type, of numbers and flags

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        scale: Scale | None = None,
        source: str | Source = "table",
        columns: Mapping[str, str] | None = None,
        skip_bad: bool = False,
        repeats: bool = False,
        drop_labels: Sequence[str] = (),
        judges_are: str | Sequence[str] = (),
        questions_are: str | Sequence[str] = (),
        transpose: bool = False,
        counts: bool = False,
    ) -> Judgments:
        """Judgments from any Arrow, pandas, Polars or DuckDB table with item, judge and label.

        ``columns`` names the column of a role where its header does not: ``{"label": "stars"}``.
        ``skip_bad`` leaves out rows without a label, and others that cannot be read. An ordered
        categorical column of labels gives the scale its order. ``repeats``: rows that repeat judge
        and item are judgments each. ``drop_labels`` are left out. Of a wide table, ``judges_are``
        or ``questions_are`` name the columns of judges or of questions (``*`` matches any
        letters), ``transpose`` says that a row is a judge, ``counts`` that columns count votes.
        What was left out, merged or guessed is warned of (``ReadingWarning``) and kept in
        ``notes``.
        """
        given = {name: value for name, value in locals().items() if name not in ("cls", "table")}
        loaded, _, notes, bad = _load(table, **{**given, "columns": columns or {}})
        name = source.name if isinstance(source, Source) else source
        return replace(loaded, notes=warn_of(name, notes, bad))

    @classmethod
    def read(cls, path: str | Path | Sequence[str | Path], **options: Any) -> Judgments:
        """Judgments from a file of any known format; see ``adjudge.data.formats``.

        Several files of a kind, a folder, a pattern and an address are taken too. ``columns`` names
        the column of a role where its header does not: ``{"label": "stars"}``; ``skip_bad`` leaves
        bad rows out; the other options of ``from_table`` are taken too. What was left out, merged
        or guessed is warned of (``ReadingWarning``) and kept in ``notes``.
        """
        from adjudge.data.formats import read_part

        found: Judgments = read_part(path, "judgments", **options)
        return found

    def __len__(self) -> int:
        return len(self.judge)

    def __repr__(self) -> str:
        topics = f", {count_of(self.topic_count, 'topic')}" if self.topics is not None else ""
        return (
            f"Judgments({count_of(len(self), 'judgment')}, {count_of(self.item_count, 'item')}, "
            f"{count_of(self.judge_count, 'judge')}{topics}, scale {self.scale})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: counts, shares of labels, the first judgments."""
        from adjudge.data.html import show

        share = np.bincount(self.label, minlength=len(self.scale.labels)) / max(len(self), 1)
        few = self.select(items=np.arange(self.item_count) < _SHOWN)
        bars = list(zip(self.scale.labels, share.tolist(), strict=True))
        facts = repr(self).removeprefix("Judgments(").removesuffix(")")
        return show("Judgments", facts, bars, few.to_table(), len(self), self.notes)

    @classmethod
    def concat(cls, parts: Sequence[Judgments | Any], *, scale: Scale | None = None) -> Judgments:
        """All judgments of several parts, each Judgments, a table or a file.

        Items and judges of one name are one; a judgment in two parts counts twice.
        """
        return _reshaping.join_judgments([take_judgments(part) for part in parts], scale=scale)

    @property
    def item_columns(self) -> dict[str, Any]:
        """Columns that name each item: item, and topic and document where known, as text."""
        columns = {"item": self.items}
        if self.topics is not None and self.topic is not None:
            columns["topic"] = self.topics.take(pa.array(self.topic))
        if self.documents is not None:
            columns["document"] = self.documents
        return columns

    @property
    def own_columns(self) -> dict[str, Any]:
        """``item_columns`` in the types that they had in the table."""
        return {name: restore(c, self.types.get(name)) for name, c in self.item_columns.items()}

    @property
    def counts_per_item(self) -> NDArray[np.int64]:  # (item,)
        """How many judgments each item has."""
        return np.diff(self.offsets)

    @property
    def counts_per_judge(self) -> NDArray[np.int64]:  # (judge,)
        """How many judgments each judge gave."""
        counts = np.zeros(self.judge_count, dtype=np.int64)
        for begin in range(0, len(self), _BLOCK):  # of all at once a wider copy would be made
            counts += np.bincount(self.judge[begin : begin + _BLOCK], minlength=self.judge_count)
        return counts

    @property
    def item(self) -> Codes:  # (judgment,)
        """The item of each judgment, spelt out."""
        return np.repeat(np.arange(self.item_count, dtype=np.int32), self.counts_per_item)

    def rows_of(self, items: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the judgments of some items, and the place of each one's item in these."""
        many = self.offsets[items + 1] - self.offsets[items]
        begins = np.cumsum(many) - many
        rows = np.repeat(self.offsets[items] - begins, many) + np.arange(int(many.sum()))
        return rows, np.repeat(np.arange(len(items)), many)

    def select(
        self,
        *,
        judgments: NDArray[np.bool_] | None = None,  # (judgment,)
        items: NDArray[np.bool_] | None = None,  # (item,)
        keep_empty: bool = False,
    ) -> Judgments:
        """The judgments under both masks; items and judges left with none are dropped.

        With ``keep_empty`` the chosen items and every judge stay, with or without judgments.
        """
        return _reshaping.select(self, judgments, items, keep_empty=keep_empty)

    def without_labels(self, *labels: object) -> Judgments:
        """The judgments that did not give any of ``labels``, on the scale without them."""
        return _reshaping.drop_labels(self, {canonical(label) for label in labels})

    def in_bins(self, bins: int) -> Judgments:
        """Numeric labels as so many grades of equal width, each by the number in its middle."""
        return _reshaping.put_into_bins(self, bins)[0]

    def with_scale(self, scale: Scale) -> Judgments:
        """The same judgments on another scale that has every label they use."""
        table = np.array([scale.label_code(label) for label in self.scale.labels])
        used = np.bincount(self.label, minlength=len(table)) > 0
        missing = np.flatnonzero(used & (table < 0))
        if missing.size:
            name = self.scale.labels[int(missing[0])]
            raise BadData(f"label {shown(name)} is not on the scale {scale}", value=name)
        return replace(self, scale=scale, label=table.astype(scale.label_dtype)[self.label])

    def collapse(self) -> Judgments:
        """The judgments on the binary scale 0 < 1, by the scale's binary collapse."""
        binary, codes = self.scale.collapsed()
        return replace(self, scale=binary, label=codes.astype(np.int8)[self.label])

    def with_families(self, names: Sequence[str | None]) -> Judgments:
        """The same judgments, each judge with the family named for them, in their order."""
        if len(names) != self.judge_count:
            expected = f"a name for each of {self.judge_count} judges"
            raise BadSetting("families", len(names), expected)
        families, family = _reshaping.code_families(names)
        return replace(self, families=families, family=family)

    def with_family_rule(self, pattern: str) -> Judgments:
        """Judges whose names share what a pattern finds are one family.

        What it finds is its first group, or all of it: ``(.*)-run[0-9]`` makes ``gpt-run1`` and
        ``gpt-run2`` the family ``gpt``. With an empty group all judges that match are one family:
        ``^(?:ann|bob)()$``. Judges in whose names it finds nothing keep the family they have.
        """
        return self.with_families(_reshaping.name_families(self, pattern))

    def with_kind_rule(self, pattern: str, kind: str) -> Judgments:
        """Judges in whose names a pattern is found are people ("person") or LLMs ("model")."""
        return _reshaping.put_kind(self, pattern, kind)

    def with_items(
        self, items: Names, *, topics: Names | None = None, documents: Names | None = None
    ) -> Judgments:
        """The same judgments with more items, which have none yet; known items are left alone.

        An added item whose topic or document is not given gets an empty one.
        """
        return _reshaping.add_items(self, items, topics, documents)

    def to_table(self) -> Any:
        """One row per judgment: item, topic and document if known, judge, label, time, seconds."""
        return _reshaping.tabulate(self)


def _load(
    table: Any, source: str | Source = "table", **reading: Any
) -> tuple[Judgments, Gold | None, list[str], tuple[BadRow, ...]]:
    """Return the judgments and the gold of a table, with the notes and bad rows of its reading."""
    from adjudge.data.build import load_judgments
    from adjudge.data.formats.format import Options

    options = Options(**reading)
    place = source if isinstance(source, Source) else options.source(source)
    loaded, gold = load_judgments(table, options, place)
    if options.drop_labels:
        loaded = loaded.without_labels(*options.drop_labels)
    return loaded, gold, place.notes, place.skipped


JudgmentsLike: TypeAlias = Judgments | Any  # a file, or a table of any library
GoldLike: TypeAlias = Gold | Any  # or a mapping
_Function = TypeVar("_Function", bound=Callable[..., Any])


def take_judgments(given: JudgmentsLike) -> Judgments:
    """Judgments from a file, a table of any dataframe library, or as they are."""
    return take_both(given)[0]


def take_both(given: JudgmentsLike, **reading: Any) -> tuple[Judgments, Gold | None]:
    """Return the judgments and the gold of a file or a table; Judgments as they are.

    ``reading`` are settings of ``Judgments.read`` or ``Judgments.from_table``.
    """
    if isinstance(given, Judgments):
        if reading:
            name, value = next(iter(reading.items()))
            raise BadSetting(name, value, "a file or a table to read; these are Judgments")
        return given, None
    reader: Any = Judgments.read if isinstance(given, str | Path) else Judgments.from_table
    try:
        if isinstance(given, str | Path):
            from adjudge.data.formats import read_content

            content: Any = read_content(given, "judgments", depth=5, **reading)
            return content.judgments, content.gold
        loaded, gold, notes, bad = _load(given, **reading)
        return replace(loaded, notes=warn_of("table", notes, bad, depth=4)), gold
    except BadData as fault:
        if fault.remedies:
            fault.add_note(f"These are settings of {reader.__qualname__}.")
        raise


def _take_comparisons(given: Any) -> Any:
    """Return comparisons as they are, or those of a table."""
    from adjudge.data.comparisons import Comparisons  # which needs this module

    return given if isinstance(given, Comparisons) else Comparisons.from_table(given)


_TAKEN: dict[str, Callable[[Any], Any]] = {
    "judgments": take_judgments,
    "comparisons": _take_comparisons,
    "gold": take_gold,
}


def takes_tables(function: _Function) -> _Function:
    """Let a function take tables of judgments, comparisons and gold, and True or False as progress.

    With ``progress=None`` a bar appears where a person watches.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        bound = signature.bind(*args, **named)
        for name, take in _TAKEN.items():
            if bound.arguments.get(name) is not None:
                bound.arguments[name] = take(bound.arguments[name])
        if "progress" not in signature.parameters:
            return function(*bound.args, **bound.kwargs)
        with progress_bar(function.__name__, bound.arguments.get("progress")) as on_step:
            bound.arguments["progress"] = on_step
            return function(*bound.args, **bound.kwargs)

    return called  # type: ignore[return-value]  # the same signature
