"""What a format is: how it is recognised, read and perhaps written; and what a file holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data.comparisons import Comparisons
from adjudge.data.formats.opening import AUTO, File
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import pair_names
from adjudge.data.scale import Scale, canonical
from adjudge.data.source import BadRow, Source
from adjudge.errors import BadData

Kind = Literal["judgments", "comparisons", "gold", "labels", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a file holds, or is to hold: any of judgments, comparisons, gold, labels, a run.

    ``labels`` is a consensus table (the columns of ``Consensus.labels``); ``run`` is a ranking
    (topic, document, rank, score, tag, line); ``texts`` are the words of topics and documents
    (columns topic, document, query, title, text, ... as the format has them). ``answers``
    are the rows of the judgments, where they name models, costs or confidences. ``bad`` are the
    faulty rows that were skipped; ``notes`` say what was left out because it is not a judgment, and
    how much.
    """

    judgments: Judgments | None = None
    comparisons: Comparisons | None = None
    gold: Gold | None = None
    labels: Any = None  # Arrow table
    run: Any = None  # Arrow table
    texts: Any = None  # Arrow table
    answers: Any = None  # Arrow table
    scale: Scale | None = None
    format: str = ""
    bad: tuple[BadRow, ...] = ()
    notes: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)  # role: the column taken for it
    options: tuple[str, ...] = ()  # of a question where several may be chosen: each is an item

    @property
    def known_scale(self) -> Scale | None:
        """The scale of the judgments, or the one that came with the labels."""
        return self.judgments.scale if self.judgments is not None else self.scale

    def to_table(self) -> Any:
        """The plain table of it: judgments with their gold, comparisons, or gold alone."""
        kind, part = self.first("plain", "judgments", "comparisons", "gold")
        table = part.to_table()
        if kind != "judgments":
            return table
        if self.gold is not None:
            gold = self.gold.to_table()
            found = pc.index_in(table["item"], value_set=gold["item"].combine_chunks())
            table = table.append_column("gold", gold["gold"].combine_chunks().take(found))
        if {"topic", "document"} <= set(table.column_names):
            pairs = pair_names(table["topic"], table["document"])
            if pa.chunked_array([pairs]).equals(table["item"]):
                table = table.drop_columns(["item"])  # the pair says it, and is what people know
        return table

    def need(self, kind: Kind, format_name: str) -> Any:
        """Return the part of the content that a writer wants, or raise an error that says which."""
        return self.first(format_name, kind)[1]

    def first(self, format_name: str, *kinds: Kind) -> tuple[Kind, Any]:
        """Return the first of several kinds that the content holds, and that part."""
        held = [kind for kind in get_args(Kind) if getattr(self, kind) is not None]
        for kind in kinds:
            if kind in held:
                return kind, getattr(self, kind)
        expected = " or ".join(kinds)
        problem = f"{format_name} holds {expected}, and there are none to write"
        problem += f" (only {', '.join(held) or 'nothing'})"
        raise BadData.at(None, "nothing-to-write", problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a person may say about how to read a file."""

    scale: Scale | None = None
    encoding: str = AUTO
    skip_bad: bool = False
    question: str | None = None  # which answer, in formats that may hold several
    kind: Kind | None = None  # what the caller is after, where a file could be either
    truths: Scale | None = None  # the scale that gold in a file of its own has to be on
    columns: Mapping[str, str] = field(default_factory=dict)  # role: the column that plays it
    header: bool | None = None  # whether the first line names the columns; None to find out
    judges_are: str | Sequence[str] = ()  # columns that are one judge each; * matches any letters
    questions_are: str | Sequence[str] = ()  # columns that are a question each
    transpose: bool = False  # whether a row is a judge, and a column an item
    counts: bool = False  # whether columns count the votes for a label
    named: bool = False  # whether a person named the format
    repeats: bool = False  # whether rows that repeat judge and item are judgments each
    drop_labels: Sequence[str] = ()  # labels to leave out
    notes: list[str] = field(default_factory=list)  # what readers remark on the way

    @property
    def are_wide(self) -> bool:
        """Whether an option says how to read a wide table."""
        return bool(self.judges_are or self.questions_are or self.transpose or self.counts)

    def source(self, name: str, **more: Any) -> Source:
        """Return the source of a file's rows, which are treated as the options say."""
        return Source(
            name,
            skip_bad=self.skip_bad,
            notes=self.notes,
            repeats=self.repeats,
            dropped=tuple(map(canonical, self.drop_labels)),
            **more,
        )


@dataclass(frozen=True, slots=True)
class Format:
    """One format. ``fits`` recognises a file by its beginning; without it, a name selects it."""

    name: str
    title: str
    fits: Callable[[File], bool] | None = None
    _: KW_ONLY
    asks: bool = False  # whether it may hold several questions, of which one is the label
    reads: tuple[Kind, ...] = ("judgments",)
    writes: tuple[Kind, ...] = ()
    extension: str = ".csv"
    read: Callable[[File, Options], Content] | None = None
    write: Callable[[Content, IO[bytes]], None] | None = None
    write_folder: Callable[[Content, Path], None] | None = None
