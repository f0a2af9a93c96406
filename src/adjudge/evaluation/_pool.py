"""The pool: the documents whose truth bears on the runs, and where each run ranks them.

Of each topic these are all judged documents, whether a run has them or not, since measures depend
on the number of relevant ones; and, if unjudged documents get a truth too, those that a run
returned.
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
DRAWN = ("prevalence", "filled")  # ways that give unjudged documents a truth
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
        """The topic of each entry."""
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
    """Refuse an unknown way with unjudged documents."""
    if unjudged not in get_args(Unjudged):
        raise BadSetting("unjudged", unjudged, f"one of {', '.join(get_args(Unjudged))}")


def build_pool(
    judgments: Judgments,
    judged: NDArray[np.bool_],  # (item,)
    runs: Sequence[Run],
    unjudged: Unjudged = "not-relevant",
) -> Pool:
    """Build the pool of runs under judgments; notes count what of a run is not judged.

    Topics are those that have a judged document and that some run has. A run without one of them
    returns nothing there.
    """
    check_unjudged(unjudged)
    rows = _match(judgments, judged, runs)
    topics = judgments.topic_count
    in_play = np.bincount(rows.item_topic[judged], minlength=topics) > 0
    in_play &= np.bincount(rows.topic[rows.topic >= 0], minlength=topics) > 0
    known = np.append(in_play, False)[rows.topic]  # (row,)
    notes = _notes(runs, rows, known, in_play, judged, unjudged)
    items = np.flatnonzero(judged & in_play[rows.item_topic])
    extra = np.unique(rows.key[known & (rows.item < 0)]) if unjudged in DRAWN else rows.key[:0]
    keys = np.concatenate([rows.item_key[items], extra])
    topic = (np.cumsum(in_play) - 1)[keys >> 32]
    order = np.argsort(topic, kind="stable")
    codes = np.flatnonzero(in_play).astype(np.int32)
    begins = np.append(0, np.cumsum(np.bincount(topic, minlength=len(codes))))
    entry = _find(rows.key, keys[order])
    kept = known & (entry >= 0)
    place = np.arange(len(entry)) - rows.begin
    if unjudged == "condensed":
        before = np.append(0, np.cumsum(kept))  # kept rows before each row
        place = before[:-1] - before[rows.begin]
    topic_of_row = (np.cumsum(in_play) - 1)[rows.topic[kept]]
    ranking = rows.run[kept] * len(codes) + topic_of_row
    sizes = np.bincount(ranking, minlength=len(runs) * len(codes))
    by = np.argsort(ranking, kind="stable")  # as ranked within a topic
    documents = rows.documents.take(pa.array(keys[order] & _CODE))
    return Pool(
        systems=tuple(run.name for run in runs),
        topics=judgments.topics.take(pa.array(codes)),  # type: ignore[union-attr]
        topic_code=codes,
        begins=begins.astype(np.int64),
        item=np.append(items, np.full(len(extra), -1))[order],
        documents=documents,
        starts=np.append(0, np.cumsum(sizes)).astype(np.int64),
        entry=(entry[kept] - begins[topic_of_row])[by].astype(np.int32),
        place=(place[kept] + 1)[by].astype(np.int32),
        unjudged=unjudged,
        notes=notes,
    )


_CODE = (1 << 32) - 1  # the part of a key that is the code of the document


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of all runs next to the items; keys are pairs of topic and document code."""

    documents: Names  # (document,) of the judgments and the runs
    item_topic: NDArray[np.int32]  # (item,)
    item_key: NDArray[np.int64]  # (item,)
    run: NDArray[np.int64]  # (row,)
    topic: NDArray[np.int32]  # (row,) in the judgments, -1 where it is not known
    begin: NDArray[np.int64]  # (row,) the first row of the same run and topic
    key: NDArray[np.int64]  # (row,) below 0 where the topic is not known
    item: NDArray[np.int64]  # (row,) in the judgments, -1 where nobody judged it


def _match(judgments: Judgments, judged: NDArray[np.bool_], runs: Sequence[Run]) -> _Rows:
    """Match the rows of runs with items; without names of documents, items are what runs return."""
    if judgments.topics is None or judgments.topic is None:
        raise BadData(
            "the judgments have no topics, so runs cannot be matched; expected columns topic and "
            "document, or other columns named as these",
            expected="topics",
        )
    own = judgments.items if judgments.documents is None else judgments.documents
    code, documents = encode(pa.chunked_array([own, *(run.documents for run in runs)]))
    item_key = _key(judgments.topic, code[: len(own)])
    _check_twice(judgments, item_key)
    sizes = [len(run) for run in runs]
    first = np.cumsum([0, *sizes[:-1]])
    topic = np.concatenate([look_up(run.topics, judgments.topics)[run.topic] for run in runs])
    key = _key(topic, code[len(own) :])
    item = _find(key, item_key)
    return _Rows(
        documents=documents,
        item_topic=judgments.topic,
        item_key=item_key,
        run=np.repeat(np.arange(len(runs)), sizes),
        topic=topic,
        begin=np.concatenate(
            [at + run.offsets[run.topic] for at, run in zip(first, runs, strict=True)]
        ),
        key=key,
        item=np.where((item >= 0) & judged[item], item, -1),
    )


def _key(topic: NDArray[Any], document: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray((topic.astype(np.int64) << 32) + document)


def _find(key: NDArray[np.int64], among: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each key among others, -1 where there is none."""
    if not among.size:
        return np.full(key.size, -1)
    order = np.argsort(among, kind="stable")
    at = order[np.minimum(np.searchsorted(among[order], key), among.size - 1)]
    return np.where(among[at] == key, at, -1)


def _check_twice(judgments: Judgments, key: NDArray[np.int64]) -> None:
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(np.diff(key[order]) == 0)
    if twice.size:
        first, second = (shown(judgments.items[int(order[twice[0] + n])].as_py()) for n in (0, 1))
        raise BadData(
            f"items {first} and {second} are one document of one topic; expected one item for each"
        )


def _notes(
    runs: Sequence[Run],
    rows: _Rows,
    known: NDArray[np.bool_],
    in_play: NDArray[np.bool_],
    judged: NDArray[np.bool_],
    unjudged: Unjudged,
) -> tuple[str, ...]:
    """Count what of each run is not judged; a run of which nothing is judged is an error."""
    notes: list[str] = []
    for number, run in enumerate(runs):
        part = np.flatnonzero(rows.run == number)
        mine = known[part]
        missing = np.flatnonzero(mine & (rows.item[part] < 0))
        notes += [f"{run.source}: {note}" for note in run.notes]
        notes += _strange_topics(run, mine)
        if missing.size == mine.sum():
            row, topic, document = _first(run, missing)
            raise BadData(
                f"document {shown(document)} of topic {shown(topic)} is not in the judgments, nor "
                f"is any other of this run's {len(run):,}",
                source=run.source,
                line=int(run.line[row]),
                value=document,
                expected="documents that are judged",
            )
        if missing.size:
            row, topic, document = _first(run, missing)
            notes.append(
                f"{run.source}: {missing.size:,} of {count_of(int(mine.sum()), 'document')} "
                f"{'is' if missing.size == 1 else 'are'} not judged, {_HOW[unjudged]} (first: line "
                f"{run.line[row]}, document {shown(document)} of topic {shown(topic)})"
            )
        topics = int(in_play.sum())
        lacking = topics - np.unique(rows.topic[part][mine]).size
        if lacking:
            notes.append(
                f"{run.source}: {lacking:,} of {count_of(topics, 'topic')} "
                f"{'is' if lacking == 1 else 'are'} not in this run: it returns nothing there"
            )
    left = int((np.bincount(rows.item_topic[judged], minlength=len(in_play)) > 0)[~in_play].sum())
    if left:
        notes.append(f"{count_of(left, 'judged topic', 'is', 'are')} in no run and left out")
    return tuple(notes)


def _strange_topics(run: Run, known: NDArray[np.bool_]) -> list[str]:
    """Count the topics of a run that nobody judged; a run with no other is an error."""
    strange = np.flatnonzero(~known)
    if not strange.size:
        return []
    row, topic, _ = _first(run, strange)
    if strange.size == len(known):
        raise BadData(
            f"no topic of this run (of {len(run.topics):,}) has judgments (first: "
            f"{shown(topic)}); expected the topics of the judgments",
            source=run.source,
            line=int(run.line[row]),
            value=topic,
            expected="topics that are judged",
        )
    topics = np.unique(run.topic[strange]).size
    return [
        f"{run.source}: {topics:,} of {count_of(len(run.topics), 'topic')} "
        f"{'has no judgments and is' if topics == 1 else 'have no judgments and are'} left "
        f"out (first: line {run.line[row]}, topic {shown(topic)})"
    ]


def _first(run: Run, rows: NDArray[np.int64]) -> tuple[int, str, str]:
    """Return the row that comes first in the file, its topic and its document."""
    row = int(rows[np.argmin(run.line[rows])])
    return row, str(run.topics[int(run.topic[row])].as_py()), str(run.documents[row].as_py())


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
