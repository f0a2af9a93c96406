"""Runs: what a search system returned for each topic, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.names import Names, as_names, encode
from adjudge.data.source import count_of
from adjudge.errors import BadData


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """A system's ranking of documents for each topic.

    The documents of topic t are ``documents[offsets[t]:offsets[t + 1]]``, in the order that
    trec_eval gives them: by score, which is compared in single precision, highest first, and equal
    scores by document id from Z to A. The rank column of a file decides nothing.
    """

    name: str
    source: str  # the file, for messages
    topics: Names  # (topic,) unique
    offsets: NDArray[np.int64]  # (topic + 1,)
    documents: Names  # (row,)
    score: NDArray[np.float64]  # (row,)
    line: NDArray[np.int64]  # (row,) of the file
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return (
            f"Run({self.name}: {count_of(len(self), 'document')} of "
            f"{count_of(len(self.topics), 'topic')})"
        )

    @property
    def topic(self) -> NDArray[np.int32]:  # (row,)
        """The topic of each row, spelt out."""
        return np.repeat(np.arange(len(self.topics), dtype=np.int32), np.diff(self.offsets))

    @classmethod
    def read(cls, path: str | Path, **options: Any) -> Run:
        """A run from a file of TREC's six columns; its name is its tag, or else the file's."""
        from adjudge.data.formats import read

        place = Path(path)
        return cls.from_table(
            read(place, format="run", kind="run", **options).run, source=place.name
        )

    @classmethod
    def from_table(cls, table: Any, *, name: str | None = None, source: str = "run") -> Run:
        """A run from a table with topic, document and score, and perhaps rank, tag and line.

        Without a name it is called by its tag, if it has just one, else by its source.
        """
        rows = pa.table(table)
        code, topics = encode(as_names(rows["topic"]))
        columns = {
            "topic": pa.array(code),
            "score": rows["score"].cast(pa.float32(), safe=False),
            "document": as_names(rows["document"]),
        }
        order = pc.sort_indices(
            pa.table(columns),
            sort_keys=[("topic", "ascending"), ("score", "descending"), ("document", "descending")],
        )
        counts = np.bincount(code, minlength=len(topics))
        line = np.arange(1, len(rows) + 1)
        if "line" in rows.column_names:
            line = np.asarray(rows["line"], dtype=np.int64)
        found = cls(
            name=name if name is not None else _name(rows, source),
            source=source,
            topics=topics,
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            documents=columns["document"].take(order),
            score=np.asarray(rows["score"].cast(pa.float64()))[np.asarray(order)],
            line=line[np.asarray(order)],
        )
        if "rank" not in rows.column_names:
            return found
        rank = np.asarray(rows["rank"].cast(pa.float64()))[np.asarray(order)]
        return replace(found, notes=_disagreement(found, rank))


def _name(rows: Any, source: str) -> str:
    """The tag of a run that has just one, else the name of its file without the ending."""
    if "tag" in rows.column_names and len(rows):
        tags = pc.unique(rows["tag"])
        if len(tags) == 1 and tags[0].as_py():
            return str(tags[0].as_py())
    return _stem(source)


def _stem(source: str) -> str:
    name = source.removesuffix(".gz")
    return Path(name).stem or name


def _disagreement(run: Run, rank: NDArray[np.float64]) -> tuple[str, ...]:
    """A word on ranks that go down where the score does not, which trec_eval would ignore too."""
    same = run.topic[1:] == run.topic[:-1]
    lower = run.score[1:] < run.score[:-1]
    wrong = int((same & lower & (rank[1:] < rank[:-1])).sum())
    if not wrong:
        return ()
    return (
        f"ranks and scores of {wrong:,} neighbours disagree; the scores decide, as in trec_eval",
    )


def distinct_names(runs: Sequence[Run]) -> list[Run]:
    """The runs with names that distinguish them: tags if they differ, else the names of files."""
    if not runs:
        raise BadData("there is no run")
    for names in (
        [run.name for run in runs],
        [_stem(run.source) for run in runs],
        [run.source for run in runs],
        [f"{run.source} ({number})" for number, run in enumerate(runs, start=1)],
    ):
        if len(set(names)) == len(names):
            break
    return [replace(run, name=name) for run, name in zip(runs, names, strict=True)]
