"""Known truth for some items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.names import Codes, Names, as_names, encode, keep_rows, look_up
from adjudge.data.scale import MISSING, Scale, canonical
from adjudge.data.source import Source, count_of, warn_of
from adjudge.errors import BadData, shown

if TYPE_CHECKING:
    from adjudge.data.judgments import Judgments


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gold:
    """Items whose truth is known, as text, so that it fits any scale that has those labels.

    ``honeypot`` marks the items that were planted to test judges; ``reasons`` say why the truth
    is what it is. ``sampling`` is the chance that each item had to be drawn, where that is known,
    in ``round`` 1 or, among those not drawn before, in a later one; ``stratum`` is the part of the
    round that it was drawn in, where there were parts. Build one with ``Gold.of``,
    ``Gold.from_table`` or ``Gold.read``.
    """

    items: Names  # (gold,)
    value: Codes  # (gold,) codes into values
    values: tuple[str, ...]
    topics: Names | None = None  # (gold,)
    documents: Names | None = None  # (gold,)
    reasons: Names | None = None  # (gold,)
    honeypot: NDArray[np.bool_] | None = None  # (gold,)
    sampling: NDArray[np.float64] | None = None  # (gold,) above 0, at most 1; NaN unknown
    round: NDArray[np.int64] | None = None  # (gold,) from 1
    stratum: NDArray[np.int64] | None = None  # (gold,) from 1
    source: str = "gold"
    notes: tuple[str, ...] = ()  # what was left out, merged or guessed in reading

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"Gold({count_of(len(self), 'item')}, {', '.join(sorted(self.values))})"

    def _repr_html_(self) -> str:
        """What a notebook shows: counts, shares of truths, the first rows."""
        from adjudge.data.html import show

        share = np.bincount(self.value, minlength=len(self.values)) / max(len(self), 1)
        bars = sorted(zip(self.values, share.tolist(), strict=True))
        return show(
            "Gold", count_of(len(self), "item"), bars, self.to_table(), len(self), self.notes
        )

    @classmethod
    def of(cls, truths: Mapping[Any, object]) -> Gold:
        """Gold from a mapping: ``Gold.of({"q1/d1": 2, "q1/d2": 0})``; None and NaN are no gold."""
        known = {
            item if isinstance(item, str) else canonical(item): value
            for item, value in truths.items()
            if _is_known(value)
        }
        codes, names = encode(pa.array(list(map(canonical, known.values())), pa.string()))
        values = tuple(names.to_pylist())
        return cls(items=as_names(pa.array(list(known), pa.string())), value=codes, values=values)

    @classmethod
    def from_table(cls, table: Any, *, source: str | Source = "gold") -> Gold:
        """Gold from any Arrow, pandas or Polars table with ``item`` and ``gold`` (or ``label``)."""
        from adjudge.data._gold_table import gold_from_table

        place = source if isinstance(source, Source) else Source(source)
        gold = gold_from_table(table, source=place)
        return replace(gold, notes=warn_of(place.name, place.notes, place.skipped))

    @classmethod
    def read(cls, path: str | Path | Sequence[str | Path], **options: Any) -> Gold:
        """Gold from a file of any format that carries it; see ``adjudge.data.formats``.

        What was left out, merged or guessed is warned of (``ReadingWarning``) and kept in
        ``notes``.
        """
        from adjudge.data.formats import read_part

        found: Gold = read_part(path, "gold", **options)
        return found

    def texts(self) -> list[str]:
        """The truth of each gold item, as text."""
        return [self.values[code] for code in self.value]

    def codes(self, scale: Scale) -> NDArray[np.int16]:  # (gold,)
        """The truth of each gold item on a scale; a value that is not on it is an error."""
        values: Sequence[str] = self.values
        if any(scale.truth_code(value) < 0 for value in values):
            from adjudge.data.oddities import settle_oddities

            place = Source(self.source)
            given = {"gold": (np.arange(len(values), dtype=np.int32), as_names(values))}
            settled, _ = settle_oddities(given, {"gold": "gold"}, place, scale)
            warn_of(place.name, place.notes)
            values = settled["gold"][1].to_pylist()
        table = np.array([scale.truth_code(value) for value in values] or [0], dtype=np.int16)
        codes = table[self.value] if len(self) else np.empty(0, dtype=np.int16)
        if (codes < 0).any():
            first = int(np.argmax(codes < 0))
            raise BadData(
                f"gold {shown(self.values[self.value[first]])} of item "
                f"{shown(self.items[first].as_py())} is not on the scale "
                f"{' < '.join(scale.truths) if scale.ordinal else ', '.join(scale.truths)}",
                source=self.source,
                column="gold",
                value=self.values[self.value[first]],
            )
        return codes

    def align(self, judgments: Judgments) -> NDArray[np.int16]:  # (item,)
        """The known truth of each item of ``judgments``, -1 where there is none."""
        if self.honeypot is not None and self.honeypot.any():
            # A honeypot's label may be no truth at all (a broken link): it says nothing here.
            table = [judgments.scale.truth_code(value) < 0 for value in self.values]
            strange = self.honeypot & np.array(table, dtype=np.bool_)[self.value]
            if strange.any():
                return self.select(~strange).align(judgments)
        aligned = np.full(judgments.item_count, -1, dtype=np.int16)
        where = look_up(self.items, judgments.items)
        known = where >= 0
        aligned[where[known]] = self.codes(judgments.scale)[known]
        return aligned

    def honeypots(self, judgments: Judgments) -> NDArray[np.bool_]:  # (item,)
        """Which items of ``judgments`` are honeypots."""
        marked = np.zeros(judgments.item_count, dtype=np.bool_)
        if self.honeypot is not None:
            where = look_up(self.items, judgments.items)
            marked[where[(where >= 0) & self.honeypot]] = True
        return marked

    def without_honeypots(self, judgments: Judgments) -> tuple[Judgments, Gold]:
        """Both without the items that this gold marks as honeypots; an error if it marks none."""
        if self.honeypot is None or not self.honeypot.any():
            raise BadData(
                "no gold item is marked as a honeypot",
                source=self.source,
                column="honeypot",
                code="no-honeypots",
            )
        kept = judgments.select(items=~self.honeypots(judgments))
        return kept, self.select(~self.honeypot)

    def without_judgments(self, judgments: Judgments) -> NDArray[np.bool_]:  # (gold,)
        """Which gold items have no judgment at all."""
        where = look_up(self.items, judgments.items)
        counts = np.append(judgments.counts_per_item, 0)
        return np.asarray(counts[where] == 0, dtype=np.bool_)

    def tell_unjudged(self, judgments: Judgments, *, needed: bool = False) -> tuple[str, ...]:
        """A note on the gold items without judgments; an error if all are, and one is needed."""
        alone = self.without_judgments(judgments)
        if not alone.any():
            return ()
        first = shown(self.items[int(np.argmax(alone))].as_py())
        judged = np.flatnonzero(judgments.counts_per_item)
        if not (alone.all() and judged.size):
            return (
                f"{int(alone.sum()):,} of {count_of(len(self), 'gold item')} "
                f"{'has' if alone.sum() == 1 else 'have'} no judgments "
                f"(first: {first}); their labels are their gold",
            )
        strange = (
            f"no gold item (of {len(self):,}) has a judgment: gold has {first}, the judgments have "
            f"{shown(judgments.items[int(judged[0])].as_py())}"
        )
        if needed:
            raise BadData(f"{strange}; check the names of the items", source=self.source)
        return (f"{strange}: the fit learns nothing from this gold; check the names of the items",)

    def select(self, mask: NDArray[np.bool_]) -> Gold:  # (gold,)
        """The gold items under the mask."""
        names = ("items", "topics", "documents", "reasons")
        arrays = ("value", "honeypot", "sampling", "round", "stratum")
        left = {name: keep_rows(getattr(self, name), mask) for name in (*names, *arrays)}
        return replace(self, **left, notes=())

    def relabel(self, mapping: dict[str, str]) -> Gold:
        """The same items with each value replaced by its entry in ``mapping``, if it has one."""
        texts = [mapping.get(value, value) for value in self.values]
        values = tuple(dict.fromkeys(texts))
        table = np.array([values.index(text) for text in texts] or [0], dtype=np.int32)
        value = table[self.value] if len(self) else self.value
        return replace(self, value=value, values=values, notes=())

    def collapse(self, scale: Scale) -> Gold:
        """Gold on the binary scale 0 < 1 into which ``scale`` collapses."""
        binary, codes = scale.collapsed()
        return self.relabel(
            {label: binary.labels[code] for label, code in zip(scale.labels, codes, strict=True)}
        )

    def to_table(self) -> Any:
        """The gold as an Arrow table: item, topic and document if known, gold, reason, honeypot."""
        columns = {
            "item": self.items,
            "topic": self.topics,
            "document": self.documents,
            "gold": pa.array(self.values, pa.large_string()).take(pa.array(self.value)),
            "reason": self.reasons,
            "honeypot": self.honeypot,
            "sampling_probability": self.sampling,
            "sampling_round": self.round,
            "sampling_stratum": self.stratum,
        }
        return pa.table({name: v for name, v in columns.items() if v is not None})


def take_gold(given: Gold | Any) -> Gold:
    """Gold from a file, a table, a mapping of items to truths, or as it is."""
    if isinstance(given, Gold):
        return given
    if isinstance(given, str | Path):
        return Gold.read(given)
    if isinstance(given, Mapping) and not {"item", "document"} & given.keys():
        return Gold.of(given)
    if hasattr(given, "index") and hasattr(given, "to_dict") and not hasattr(given, "columns"):
        return Gold.of(given.to_dict())  # a Series: its index names the items
    if isinstance(given, np.ndarray) and given.ndim == 2 and given.shape[1] == 2:
        return Gold.of(dict(given.tolist()))
    pairs = isinstance(given, list | tuple) and len(given) > 0
    if pairs and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in given):
        return Gold.of(dict(given))
    records = pairs and all(isinstance(row, Mapping) for row in given)
    if isinstance(given, np.ndarray | list | tuple | set | bool | int | float) and not records:
        shape = f" of shape {given.shape}" if isinstance(given, np.ndarray) else ""
        kind = f"{type(given).__name__}{shape}"
        expected = "a file, a table, pairs of item and label, or a mapping of items to labels"
        raise BadData(f"expected {expected}; got {kind}", source="gold")
    return Gold.from_table(given)


def _is_known(value: object) -> bool:
    return value is not None and canonical(value).casefold() not in MISSING
