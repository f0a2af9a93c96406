"""Judgments: who gave which item which label, stored once, grouped by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.names import Codes, Named, Names, as_names, look_up
from adjudge.data.scale import Scale, canonical
from adjudge.data.source import Source, count_of
from adjudge.errors import BadData, BadSetting, shown

_BLOCK = 1_000_000  # judgments counted at a time
_SHOWN = 10  # items whose judgments a notebook looks at


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgments(Named):
    """Every judgment as integers, grouped by item; names and topics beside them.

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
    fields: Any = None  # Arrow table, one row an item: query, title, url, ... as read
    families: Names | None = None  # (family,) unique: declared sources of several judges
    family: Codes | None = None  # (judge,) -1 where none is declared
    kind: NDArray[np.int8] | None = None  # (judge,) 0 a person, 1 a model, -1 unknown
    notes: tuple[str, ...] = ()  # what was left out, merged or guessed in reading

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        scale: Scale | None = None,
        source: str | Source = "table",
        columns: Mapping[str, str] | None = None,
        skip_bad: bool = False,
    ) -> Judgments:
        """Judgments from any Arrow, pandas, Polars or DuckDB table with item, judge and label.

        ``columns`` names the column of a role where its header does not: ``{"label": "stars"}``.
        ``skip_bad`` leaves out rows without a label, and others that cannot be read. An ordered
        categorical column of labels gives the scale its order. What was left out, merged or guessed
        is warned of (``ReadingWarning``) and kept in ``notes``.
        """
        from adjudge.data.build import load_judgments
        from adjudge.data.telling import tell, told_in_python

        place = source if isinstance(source, Source) else Source(source, skip_bad=skip_bad)
        with told_in_python(skips=not place.skip_bad):
            loaded = load_judgments(table, scale=scale, source=place, named=columns or {})
        return replace(loaded, notes=tell(place.name, place.notes, place.skipped))

    @classmethod
    def read(cls, path: str | Path | Sequence[str | Path], **options: Any) -> Judgments:
        """Judgments from a file of any known format; see ``adjudge.data.formats``.

        Several files of a kind, a folder, a pattern and an address are taken too. ``columns`` names
        the column of a role where its header does not: ``{"label": "stars"}``; ``skip_bad`` leaves
        bad rows out. What was left out, merged or guessed is warned of (``ReadingWarning``) and
        kept in ``notes``.
        """
        from adjudge.data.formats import read
        from adjudge.data.telling import tell, told_in_python

        name = Path(path).name if isinstance(path, str | Path) else f"{len(path):,} files"
        with told_in_python():
            loaded = read(path, wanted="judgments", **options)
        if loaded.judgments is None:
            raise BadData(
                f"there are no judgments in this file: it is read as {loaded.format}",
                source=str(path),
                wanted="judgments",
            )
        return replace(loaded.judgments, notes=tell(name, loaded.notes, loaded.bad))

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

        Items and judges of one name are one; a judgment that stands in two parts counts twice.
        """
        from adjudge.data.given import judgments_given
        from adjudge.data.joining import join_judgments

        return join_judgments([judgments_given(part) for part in parts], scale=scale)

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
        chosen = np.ones(self.item_count, dtype=np.bool_) if items is None else items
        kept = np.repeat(chosen, self.counts_per_item)
        counts = np.where(chosen, self.counts_per_item, 0)
        if judgments is not None:
            kept &= judgments
            counts = np.bincount(self.item[kept], minlength=self.item_count)
        if not keep_empty:
            chosen = chosen & (counts > 0)
        judges, judge, family, kind = self.judges, self.judge[kept], self.family, self.kind
        if not keep_empty:
            present = np.bincount(judge, minlength=self.judge_count) > 0
            judge = (np.cumsum(present) - 1).astype(np.int32)[judge]
            judges = judges.filter(pa.array(present))
            family = None if family is None else family[present]
            kind = None if kind is None else kind[present]
        topics, topic = self.topics, self.topic
        if topics is not None and topic is not None:
            topic = topic[chosen]
            present = np.bincount(topic, minlength=len(topics)) > 0
            topic = (np.cumsum(present) - 1).astype(np.int32)[topic]
            topics = topics.filter(pa.array(present))
        mask = pa.array(chosen)
        return replace(
            self,
            items=self.items.filter(mask),
            judges=judges,
            family=family,
            kind=kind,
            offsets=np.concatenate([[0], np.cumsum(counts[chosen])]).astype(np.int64),
            judge=judge,
            label=self.label[kept],
            topics=topics,
            topic=topic,
            documents=None if self.documents is None else self.documents.filter(mask),
            time=None if self.time is None else self.time[kept],
            seconds=None if self.seconds is None else self.seconds[kept],
            fields=None if self.fields is None else self.fields.filter(mask),
        )

    def without_labels(self, *labels: object) -> Judgments:
        """The judgments that did not give any of ``labels``, on the scale without them."""
        dropped = {canonical(label) for label in labels}
        strange = dropped - set(self.scale.labels)
        if strange:
            raise BadData(f"label {shown(min(strange))} is not on the scale {self.scale}")
        gone = np.array([label in dropped for label in self.scale.labels])
        left = self.select(judgments=~gone[self.label])
        return left.with_scale(
            Scale(
                labels=tuple(name for name in self.scale.labels if name not in dropped),
                ordinal=self.scale.ordinal,
                relevant=tuple(name for name in self.scale.relevant if name not in dropped),
                grades=tuple(np.array(self.scale.grades)[~gone].tolist())
                if self.scale.grades
                else (),
            )
        )

    def in_bins(self, bins: int) -> Judgments:
        """Numeric labels as so many grades of equal width, each by the number in its middle."""
        from adjudge.data.binning import put_into_bins

        return put_into_bins(self, bins)[0]

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
            raise BadSetting(
                "families", len(names), f"a name for each of {self.judge_count} judges"
            )
        given = pa.array(names, pa.large_string()).dictionary_encode()
        code = np.asarray(pc.fill_null(given.indices, -1), dtype=np.int32)
        return replace(self, families=as_names(given.dictionary), family=code)

    def with_family_rule(self, pattern: str) -> Judgments:
        """Judges whose names share what a pattern finds are one family.

        What it finds is its first group, or all of it: ``(.*)-run[0-9]`` makes ``gpt-run1`` and
        ``gpt-run2`` the family ``gpt``. Judges in whose names it finds nothing stay as they are.
        """
        import re

        try:
            rule = re.compile(pattern)
        except re.error as fault:
            raise BadSetting("family", pattern, f"a regular expression ({fault})") from None
        found = [rule.search(name) for name in self.judges.to_pylist()]
        names = [
            None if match is None else (match[1] if rule.groups else match[0]) for match in found
        ]
        if all(name is None for name in names):
            first = self.judges[0].as_py() if self.judge_count else ""
            raise BadSetting(
                "family", pattern, f"a pattern found in the name of a judge, such as {first!r}"
            )
        return self.with_families(names)

    def with_items(
        self, items: Names, *, topics: Names | None = None, documents: Names | None = None
    ) -> Judgments:
        """The same judgments with more items, which have none yet; known items are left alone.

        An added item whose topic or document is not given gets an empty one.
        """
        new = pa.array(look_up(items, self.items) < 0)
        added = as_names(items).filter(new)
        if not len(added):
            return self

        def more(given: Names | None) -> Names:
            blank = pa.array([""] * len(added), pa.large_string())
            return blank if given is None else pc.fill_null(as_names(given).filter(new), "")

        all_topics, topic = self.topics, self.topic
        if all_topics is not None and topic is not None:
            given = more(topics)
            all_topics = as_names(pc.unique(pa.concat_arrays([all_topics, given])))
            topic = np.concatenate([topic, look_up(given, all_topics)])
        all_documents, fields = self.documents, self.fields
        if all_documents is not None:
            all_documents = pa.concat_arrays([all_documents, more(documents)])
        if fields is not None:
            empty = {name: pa.nulls(len(added), fields[name].type) for name in fields.column_names}
            fields = pa.concat_tables([fields, pa.table(empty)])
        last = np.full(len(added), self.offsets[-1], dtype=np.int64)
        return replace(
            self,
            items=pa.concat_arrays([self.items, added]),
            offsets=np.concatenate([self.offsets, last]),
            topics=all_topics,
            topic=topic,
            documents=all_documents,
            fields=fields,
        )

    def to_table(self) -> Any:
        """One row a judgment: item, topic and document if known, judge, label, time, seconds."""
        item = pa.array(self.item)
        columns: dict[str, Any] = {"item": self.items.take(item)}
        if self.topics is not None and self.topic is not None:
            columns["topic"] = self.topics.take(pa.array(self.topic[self.item]))
        if self.documents is not None:
            columns["document"] = self.documents.take(item)
        columns["judge"] = self.judges.take(pa.array(self.judge))
        labels = pa.array(self.scale.labels, pa.large_string())
        columns["label"] = labels.take(pa.array(self.label))
        if self.time is not None:
            micro = np.rint(np.where(np.isnan(self.time), 0, self.time * 1e6)).astype(np.int64)
            columns["time"] = pa.array(
                micro, pa.timestamp("us", tz="UTC"), mask=np.isnan(self.time)
            )
        if self.seconds is not None:
            columns["seconds"] = pa.array(self.seconds, mask=np.isnan(self.seconds))
        return pa.table(columns)
