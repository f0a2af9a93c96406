"""Comparisons: which of two items a judge found better, stored as integers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._reshaping import code_families, name_families
from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes, Named, Names, as_names, look_up
from adjudge.data.scale import Scale
from adjudge.data.source import count_of, warn_of
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.data.source import Source

LEFT, RIGHT, TIE, CANNOT_SAY = range(4)
OUTCOMES = ("left", "right", "tie", "cannot say")  # by code


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparisons(Named):
    """Every comparison as integers: two items, who judged, what they said.

    ``first`` says which of the two was shown first: 0 the left one, 1 the right one, -1 unknown;
    where it is None, the left one was. A judge may compare two items never, once or often.
    """

    items: Names  # (item,) unique
    judges: Names  # (judge,) unique
    left: Codes  # (comparison,)
    right: Codes  # (comparison,)
    judge: Codes  # (comparison,)
    outcome: NDArray[np.int8]  # (comparison,) by OUTCOMES
    topics: Names | None = None  # (topic,) unique
    topic: Codes | None = None  # (comparison,)
    first: NDArray[np.int8] | None = None  # (comparison,)
    families: Names | None = None  # (family,) unique: declared sources of several judges
    family: Codes | None = None  # (judge,) -1 where none is declared
    kind: NDArray[np.int8] | None = None  # (judge,) 0 a person, 1 a model, -1 unknown
    notes: tuple[str, ...] = ()  # what was left out or guessed in reading

    @classmethod
    def from_table(
        cls, table: Any, *, judge: str = "judge", source: str | Source = "table"
    ) -> Comparisons:
        """Comparisons from any Arrow, pandas, Polars or DuckDB table.

        Its columns are left, right and label (or winner and loser), judge, topic and first, or what
        others call them. Without a column of judges there is one, called ``judge``.
        """
        from adjudge.data._comparison_table import load_comparisons

        return load_comparisons(table, judge=judge, source=source)

    @classmethod
    def read(cls, *paths: str | Path, **options: Any) -> Comparisons:
        """Comparisons from files of any known format; the judge of one without judges is its name.

        With several files, a judge of one file is the judge of that name in another. What was left
        out or guessed is warned of (``ReadingWarning``) and kept in ``notes``.
        """
        from adjudge.data.formats import read

        found = []
        for path in paths:
            content = read(path, wanted="comparisons", **options)
            if content.comparisons is None:
                raise BadData(
                    f"there are no comparisons in this file: it is read as {content.format}",
                    source=str(path),
                    expected="comparisons",
                )
            notes = warn_of(Path(path).name, content.notes, content.bad)
            found.append(replace(content.comparisons, notes=notes))
        return cls.join(found)

    @classmethod
    def join(cls, parts: Sequence[Comparisons]) -> Comparisons:
        """Several comparisons as one: the same name is the same item, judge or topic."""
        if not parts:
            raise BadSetting("files", None, "one file of comparisons at least")
        if len(parts) == 1:
            return parts[0]
        items, (left, right) = _united(parts, "items", "left", "right")
        judges, (judge,) = _united(parts, "judges", "judge")
        topics = topic = None
        if all(part.topics is not None for part in parts):
            topics, (topic,) = _united(parts, "topics", "topic")
        first = None
        if any(part.first is not None for part in parts):
            first = np.concatenate([part.shown_first for part in parts])
        families, family = _of_judges(parts, judges)
        kind = None
        if any(part.kind is not None for part in parts):
            kind = np.full(len(judges), -1, dtype=np.int8)
            for part in parts:
                if part.kind is not None:
                    at = look_up(part.judges, judges)
                    kind[at] = np.where(part.kind >= 0, part.kind, kind[at])
        outcome = np.concatenate([part.outcome for part in parts])
        return cls(
            items=items,
            judges=judges,
            left=left,
            right=right,
            judge=judge,
            outcome=outcome,
            topics=topics,
            topic=topic,
            first=first,
            families=families,
            family=family,
            kind=kind,
            notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        )

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        topics = f", {count_of(len(self.topics), 'topic')}" if self.topics is not None else ""
        return (
            f"Comparisons({count_of(len(self), 'comparison')}, "
            f"{count_of(self.item_count, 'item')}, "
            f"{count_of(self.judge_count, 'judge')}{topics})"
        )

    @property
    def shown_first(self) -> NDArray[np.int8]:  # (comparison,)
        """Which of the two was shown first: 0 the left one, 1 the right one, -1 unknown."""
        return np.zeros(len(self), dtype=np.int8) if self.first is None else self.first

    @property
    def outcome_counts(self) -> dict[str, int]:
        """How many comparisons had each outcome."""
        counts = np.bincount(self.outcome, minlength=len(OUTCOMES))
        return dict(zip(OUTCOMES, counts.tolist(), strict=True))

    @property
    def counts_per_judge(self) -> NDArray[np.int64]:  # (judge,)
        """How many comparisons each judge made."""
        return np.bincount(self.judge, minlength=self.judge_count)

    @property
    def counts_per_item(self) -> NDArray[np.int64]:  # (item,)
        """In how many comparisons each item stands, those without an answer too."""
        left = np.bincount(self.left, minlength=self.item_count)
        return left + np.bincount(self.right, minlength=self.item_count)

    def select(self, chosen: NDArray[np.bool_] | NDArray[np.integer]) -> Comparisons:
        """Some of the comparisons, of all items by all judges; an index may name one twice."""
        return replace(
            self,
            left=self.left[chosen],
            right=self.right[chosen],
            judge=self.judge[chosen],
            outcome=self.outcome[chosen],
            topic=None if self.topic is None else self.topic[chosen],
            first=None if self.first is None else self.first[chosen],
        )

    def with_family_rule(self, pattern: str) -> Comparisons:
        """Judges whose names share what a pattern finds are one family, as among judgments."""
        families, family = code_families(name_families(self, pattern))
        return replace(self, families=families, family=family)

    def as_judgments(self) -> Judgments:
        """The comparisons as judgments: an item a pair (of a topic), labels which was better.

        So what is known of judges on grades, such as who copies whom, is known of them here too.
        What nobody could say is left out. Items have numbers for names.
        """
        told = self.outcome != CANNOT_SAY
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        pair = low.astype(np.int64) * self.item_count + high
        if self.topic is not None:
            pair = pair * max(1, self.topic_count) + self.topic
        pairs, place = np.unique(pair[told], return_inverse=True)
        order = np.argsort(place, kind="stable")
        turned = (self.left > self.right) & (self.outcome < TIE)
        label = np.where(turned, 1 - self.outcome, self.outcome)[told][order]
        return Judgments(
            scale=Scale(labels=("lower", "higher", "tie"), ordinal=False),
            items=pa.array(np.arange(len(pairs))).cast(pa.large_string()),
            judges=self.judges,
            offsets=np.append(0, np.cumsum(np.bincount(place, minlength=len(pairs)))),
            judge=self.judge[told][order],
            label=label.astype(np.int8),
            families=self.families,
            family=self.family,
            kind=self.kind,
        )

    def to_table(self) -> Any:
        """One row a comparison: left, right, judge, label, and topic and first where known."""
        columns: dict[str, Any] = {
            "left": self.items.take(pa.array(self.left)),
            "right": self.items.take(pa.array(self.right)),
            "judge": self.judges.take(pa.array(self.judge)),
            "label": pa.array(OUTCOMES, pa.large_string()).take(pa.array(self.outcome)),
        }
        if self.topics is not None and self.topic is not None:
            columns["topic"] = self.topics.take(pa.array(self.topic))
        if self.first is not None:
            sides = pa.array(OUTCOMES[:2], pa.large_string())
            columns["first"] = sides.take(pa.array(self.first, mask=self.first < 0))
        if self.families is not None and self.family is not None:
            code = self.family[self.judge]
            columns["family"] = self.families.take(pa.array(code, mask=code < 0))
        if self.kind is not None:
            kind = self.kind[self.judge]
            kinds = pa.array(("person", "model"), pa.large_string())
            columns["kind"] = kinds.take(pa.array(kind, mask=kind < 0))
        return pa.table(columns)


def _united(
    parts: Sequence[Comparisons], names: str, *codes: str
) -> tuple[Names, list[NDArray[np.int32]]]:
    """The names of all parts once each, and codes that are of them."""
    own = [getattr(part, names) for part in parts]
    every = as_names(pc.unique(pa.concat_arrays([as_names(name) for name in own])))
    places = [look_up(name, every) for name in own]
    moved = [
        np.concatenate([at[getattr(p, code)] for p, at in zip(parts, places, strict=True)])
        for code in codes
    ]
    return every, [np.asarray(code, dtype=np.int32) for code in moved]


def _of_judges(parts: Sequence[Comparisons], judges: Names) -> tuple[Names | None, Codes | None]:
    """The families of the judges of all parts."""
    if not any(part.families is not None for part in parts):
        return None, None
    named: list[str | None] = [None] * len(judges)
    for part in parts:
        if part.families is None or part.family is None:
            continue
        own = part.families.to_pylist()
        for place, code in zip(look_up(part.judges, judges), part.family, strict=True):
            named[int(place)] = own[code] if code >= 0 else named[int(place)]
    return code_families(named)


_WORDS = {
    LEFT: "left a x 1 first modela model1 answera responsea itema optiona systema assistanta",
    RIGHT: "right b y 2 second modelb model2 answerb responseb itemb optionb systemb assistantb",
    TIE: "tie ties tied draw equal same both bothgood tiebothgood tiebothbad bothbad neither",
    CANNOT_SAY: "cannotsay cantsay unsure unknown dontknow idontknow skip skipped na error",
}
_CODES = {word: code for code, words in _WORDS.items() for word in words.split()}


def outcome_named(text: str) -> int:
    """The outcome that a word names, as ``model_a`` names left; -1 where it names none."""
    return _CODES.get(re.sub(r"[^a-z0-9]", "", text.casefold()), -1)
