"""The pool: the documents whose truth bears on the runs, and where each run ranks them.

Of each topic these are all judged documents, whether a run has them or not, since measures ask how
many relevant ones there are; and, where unjudged documents are to have a truth too, those that a
run returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, encode, look_up
from adjudge.data.runs import Run
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, shown

Unjudged = Literal["not-relevant", "condensed", "prevalence", "filled"]
DRAWN = ("prevalence", "filled")  # ways in which unjudged documents have a truth
_HOW: dict[Unjudged, str] = {
    "not-relevant": "taken as not relevant",
    "condensed": "taken out of the runs (condensed lists)",
    "prevalence": "as relevant as their topic's judged documents",
    "filled": "filled in: as relevant as judged documents of their topic in such places",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """The topics and documents in play, and each run's ranking of them.

    Entries are documents of a topic, those of topic t from ``begins[t]`` on, judged ones first.
    The ranking of topic t by system s is ``entry`` and ``place`` from ``starts[s * topics + t]``
    on: the entry counted from its topic's first, and the place in the run from 1. Documents that
    are not in the pool are worth nothing, and are left out.
    """

    systems: tuple[str, ...]
    topics: Names  # (topic,)
    topic_code: NDArray[np.int32]  # (topic,) in the judgments
    begins: NDArray[np.int64]  # (topic + 1,)
    item: NDArray[np.int64]  # (entry,) in the judgments, -1 where it is not judged
    documents: Names  # (entry,)
    starts: NDArray[np.int64]  # (system * topics + topic + 1,)
    entry: NDArray[np.int32]  # (row,)
    place: NDArray[np.int32]  # (row,)
    unjudged: Unjudged
    notes: tuple[str, ...]

    @property
    def topic(self) -> NDArray[np.int32]:  # (entry,)
        """The topic of each entry, spelt out."""
        return np.repeat(np.arange(len(self.topics), dtype=np.int32), np.diff(self.begins))

    def fused(self) -> NDArray[np.float64]:  # (entry,)
        """How high the runs rank each entry together: the sum of 1 / (60 + place); 0 if none does.

        Reciprocal rank fusion, Cormack, Clarke and Buettcher (2009), doi:10.1145/1571941.1572114.
        """
        begins = np.repeat(np.tile(self.begins[:-1], len(self.systems)), np.diff(self.starts))
        return np.bincount(
            begins + self.entry, weights=1 / (60.0 + self.place), minlength=len(self.item)
        ).astype(np.float64)

    def ranking(self, system: int, topic: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The entries that a system ranks in a topic, counted from its first, and their places."""
        at = system * len(self.topics) + topic
        part = slice(self.starts[at], self.starts[at + 1])
        return self.entry[part], self.place[part]


def check_unjudged(unjudged: str) -> None:
    """Refuse a way with unjudged documents that does not exist."""
    if unjudged not in get_args(Unjudged):
        raise BadSetting("unjudged", unjudged, f"one of {', '.join(get_args(Unjudged))}")


def build_pool(
    judgments: Judgments,
    judged: NDArray[np.bool_],  # (item,)
    runs: Sequence[Run],
    unjudged: Unjudged = "not-relevant",
) -> Pool:
    """The pool of runs under judgments; what of a run is not judged is counted and told.

    Topics are those that have a judged document and that some run has. A run without one of them
    returns nothing there.
    """
    check_unjudged(unjudged)
    finder = _Finder.of(judgments, judged)
    found = [_matched(run, finder) for run in runs]
    in_play = np.zeros(judgments.topic_count, dtype=np.bool_)
    for rows in found:
        in_play[rows.topic[rows.topic >= 0]] = True
    in_play &= np.bincount(finder.topic[judged], minlength=in_play.size) > 0
    notes = _notes(runs, found, in_play, finder, unjudged)
    codes = np.flatnonzero(in_play).astype(np.int32)
    at = np.cumsum(in_play) - 1  # (topic of the judgments,)
    items = np.flatnonzero(judged & in_play[finder.topic])
    extra_topic, extra_document, extra_names = _extra(runs, found, in_play, unjudged)
    topic = np.concatenate([at[finder.topic[items]], at[extra_topic]])
    order = np.argsort(topic, kind="stable")
    documents = pa.concat_arrays(
        [finder.documents.take(pa.array(items)), extra_names.take(pa.array(extra_document))]
    )
    begins = np.concatenate([[0], np.cumsum(np.bincount(topic, minlength=len(codes)))])
    number = np.empty(order.size, dtype=np.int64)
    number[order] = np.arange(order.size)
    entry_of_item = np.full(judgments.item_count + 1, -1, dtype=np.int64)
    entry_of_item[items] = number[: items.size]
    rankings = _Rankings(
        begins=begins,
        entry_of_item=entry_of_item,
        entry_of_extra=_Keyed.of(extra_topic, extra_document, number[items.size :]),
        names=extra_names,
        at=at,
        in_play=in_play,
        condensed=unjudged == "condensed",
    )
    starts, entry, place = rankings.of(runs, found)
    return Pool(
        systems=tuple(run.name for run in runs),
        topics=finder.topics.take(pa.array(codes)),
        topic_code=codes,
        begins=begins.astype(np.int64),
        item=np.concatenate([items, np.full(extra_topic.size, -1)])[order],
        documents=documents.take(pa.array(order)),
        starts=starts,
        entry=entry,
        place=place,
        unjudged=unjudged,
        notes=notes,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Keyed:
    """Numbers found by a pair of topic and document code."""

    key: NDArray[np.int64]
    number: NDArray[np.int64]

    @classmethod
    def of(
        cls, topic: NDArray[Any], document: NDArray[Any], number: NDArray[np.int64] | None = None
    ) -> _Keyed:
        """Pairs in any order; without numbers, each has its place."""
        key = _key(topic, document)
        order = np.argsort(key, kind="stable")
        return cls(key[order], order if number is None else number[order])

    def find(self, topic: NDArray[Any], document: NDArray[Any]) -> NDArray[np.int64]:
        """The number of each pair, -1 where there is none or a code is -1."""
        key = _key(topic, document)
        if not self.key.size:
            return np.full(key.size, -1)
        at = np.minimum(np.searchsorted(self.key, key), self.key.size - 1)
        fits = (self.key[at] == key) & (topic >= 0) & (document >= 0)
        return np.where(fits, self.number[at], -1)


def _key(topic: NDArray[Any], document: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray((topic.astype(np.int64) << 32) + document)


@dataclass(frozen=True, slots=True, eq=False)
class _Finder:
    """The items of judgments by topic and document."""

    topics: Names  # (topic,)
    topic: NDArray[np.int32]  # (item,)
    documents: Names  # (item,)
    names: Names  # (document,) unique
    items: _Keyed
    judged: NDArray[np.bool_]  # (item,)

    @classmethod
    def of(cls, judgments: Judgments, judged: NDArray[np.bool_]) -> _Finder:
        """Judgments with topics; where documents have no names, items are what runs return."""
        if judgments.topics is None or judgments.topic is None:
            raise BadData(
                "the judgments have no topics, so nothing can be matched with a run; wanted "
                "columns topic and document",
                expected="topics",
            )
        documents = judgments.items if judgments.documents is None else judgments.documents
        code, names = encode(documents)
        items = _Keyed.of(judgments.topic, code)
        twice = np.flatnonzero(items.key[1:] == items.key[:-1])
        if twice.size:
            first, second = items.number[twice[0]], items.number[twice[0] + 1]
            raise BadData(
                f"items {shown(judgments.items[int(first)].as_py())} and "
                f"{shown(judgments.items[int(second)].as_py())} are one document of one topic; "
                "wanted one item for each",
            )
        return cls(judgments.topics, judgments.topic, documents, names, items, judged)


@dataclass(frozen=True, slots=True, eq=False)
class _RunRows:
    """The rows of a run beside the judgments."""

    topic: NDArray[np.int32]  # (row,) in the judgments, -1 where it is not known
    item: NDArray[np.int64]  # (row,) in the judgments, -1 where nobody judged it


def _matched(run: Run, finder: _Finder) -> _RunRows:
    """The topic and the item of each row of a run."""
    topic = look_up(run.topics, finder.topics)[run.topic]
    item = finder.items.find(topic, look_up(run.documents, finder.names))
    return _RunRows(topic, np.where((item >= 0) & finder.judged[item], item, -1))


def _notes(
    runs: Sequence[Run],
    found: Sequence[_RunRows],
    in_play: NDArray[np.bool_],
    finder: _Finder,
    unjudged: Unjudged,
) -> tuple[str, ...]:
    """What of each run cannot be judged; a run of which nothing can is an error."""
    notes: list[str] = []
    for run, rows in zip(runs, found, strict=True):
        known = np.append(in_play, False)[rows.topic]  # (row,)
        missing = np.flatnonzero(known & (rows.item < 0))
        notes += [f"{run.source}: {note}" for note in run.notes]
        notes += _strange_topics(run, known)
        if missing.size == known.sum():
            row = _first(run, missing)
            raise BadData(
                f"document {shown(run.documents[row].as_py())} of topic "
                f"{shown(_topic_name(run, row))} is not in the judgments, nor is any other of this "
                f"run's {len(run):,}",
                source=run.source,
                line=int(run.line[row]),
                value=run.documents[row].as_py(),
                expected="documents that are judged",
            )
        if missing.size:
            row = _first(run, missing)
            notes.append(
                f"{run.source}: {missing.size:,} of {count_of(int(known.sum()), 'document')} "
                f"{'is' if missing.size == 1 else 'are'} not judged, "
                f"{_HOW[unjudged]} (first: line {run.line[row]}, "
                f"document {shown(run.documents[row].as_py())} of topic "
                f"{shown(_topic_name(run, row))})"
            )
        lacking = int(in_play.sum()) - np.unique(rows.topic[known]).size
        if lacking:
            notes.append(
                f"{run.source}: {lacking:,} of {count_of(int(in_play.sum()), 'topic')} "
                f"{'is' if lacking == 1 else 'are'} not in this run: "
                "it returns nothing there"
            )
    judged = np.bincount(finder.topic[finder.judged], minlength=in_play.size) > 0
    left = int((judged & ~in_play).sum())
    if left:
        notes.append(f"{count_of(left, 'judged topic', 'is', 'are')} in no run and left out")
    return tuple(notes)


def _strange_topics(run: Run, known: NDArray[np.bool_]) -> list[str]:
    """A word on the topics of a run that nobody judged; a run with no other is an error."""
    strange = np.flatnonzero(~known)
    if not strange.size:
        return []
    row = _first(run, strange)
    name = shown(_topic_name(run, row))
    if strange.size == len(known):
        raise BadData(
            f"topic {name} has no judgments, nor has any other of this run's {len(run.topics):,}",
            source=run.source,
            line=int(run.line[row]),
            value=_topic_name(run, row),
            expected="topics that are judged",
        )
    topics = np.unique(run.topic[strange]).size
    return [
        f"{run.source}: {topics:,} of {count_of(len(run.topics), 'topic')} "
        f"{'has no judgments and is' if topics == 1 else 'have no judgments and are'} left "
        f"out (first: line {run.line[row]}, topic {name})"
    ]


def _first(run: Run, rows: NDArray[np.int64]) -> int:
    """The row that comes first in the file."""
    return int(rows[np.argmin(run.line[rows])])


def _topic_name(run: Run, row: int) -> str:
    at = int(np.searchsorted(run.offsets, row, side="right")) - 1
    return str(run.topics[at].as_py())


def _extra(
    runs: Sequence[Run], found: Sequence[_RunRows], in_play: NDArray[np.bool_], unjudged: Unjudged
) -> tuple[NDArray[np.int64], NDArray[np.int64], Names]:
    """The unjudged documents that are to have a truth: topic, document code, and names."""
    none = np.empty(0, dtype=np.int64)
    if unjudged not in DRAWN:
        return none, none, pa.array([], pa.large_string())
    missing = [(rows.item < 0) & np.append(in_play, False)[rows.topic] for rows in found]
    texts = [run.documents.filter(pa.array(m)) for run, m in zip(runs, missing, strict=True)]
    topic = np.concatenate([rows.topic[m] for rows, m in zip(found, missing, strict=True)])
    code, names = encode(pa.concat_arrays(texts))
    _, first = np.unique(_key(topic, code), return_index=True)
    return topic[first].astype(np.int64), code[first].astype(np.int64), names


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rankings:
    """What turns the rows of runs into places of entries."""

    begins: NDArray[np.int64]  # (topic + 1,)
    entry_of_item: NDArray[np.int64]  # (item + 1,) -1 where it is not in play; so has -1
    entry_of_extra: _Keyed
    names: Names  # (extra document,)
    at: NDArray[np.int64]  # (topic of the judgments,)
    in_play: NDArray[np.bool_]  # (topic of the judgments,)
    condensed: bool

    def of(
        self, runs: Sequence[Run], found: Sequence[_RunRows]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Where each ranking begins, and entries and places of all."""
        topics = len(self.begins) - 1
        sizes, entries, places = [], [], []
        for run, rows in zip(runs, found, strict=True):
            topic, entry, place = self._one(run, rows)
            order = np.argsort(topic, kind="stable")  # as ranked within a topic
            sizes.append(np.bincount(topic, minlength=topics))
            entries.append((entry - self.begins[topic])[order])
            places.append(place[order])
        starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
        return (
            starts,
            np.concatenate(entries).astype(np.int32),
            np.concatenate(places).astype(np.int32),
        )

    def _one(
        self, run: Run, rows: _RunRows
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Topic, entry and place of the rows of a run that are in the pool."""
        entry = self.entry_of_item[rows.item]
        if len(self.names):
            extra = self.entry_of_extra.find(rows.topic, look_up(run.documents, self.names))
            entry = np.where(entry >= 0, entry, extra)
        entry = np.where(np.append(self.in_play, False)[rows.topic], entry, -1)
        kept = np.flatnonzero(entry >= 0)
        row = np.arange(len(run)) - run.offsets[run.topic]
        if self.condensed:
            before = np.concatenate([[0], np.cumsum(entry >= 0)])  # kept rows before each row
            row = before[:-1] - before[run.offsets[run.topic]]
        return self.at[rows.topic[kept]], entry[kept], row[kept] + 1


def judged_at(
    judgments: Judgments,
    judged: NDArray[np.bool_],  # (item,)
    runs: Sequence[Run],
    cutoff: int,
) -> NDArray[np.float64]:  # (system,)
    """Judged@k of each run: of its first k places in the topics in play, the share judged."""
    pool = build_pool(judgments, judged, runs)
    topics = len(pool.topics)
    found = np.zeros(len(runs))
    for s, run in enumerate(runs):
        sizes = np.append(np.diff(run.offsets), 0)[look_up(pool.topics, run.topics)]
        part = slice(int(pool.starts[s * topics]), int(pool.starts[(s + 1) * topics]))
        high = int((pool.place[part] <= cutoff).sum())
        found[s] = high / max(int(np.minimum(sizes, cutoff).sum()), 1)
    return found
