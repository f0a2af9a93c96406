"""Comparisons: which of two items a judge found better, stored as integers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data._items import family_column, id_faults, kind_column
from adjudge.data._reshaping import (
    code_families,
    join_families,
    join_kinds,
    join_names,
    name_families,
)
from adjudge.data.columns import comparison_roles, need_columns, roles_of, take_in, text_of
from adjudge.data.judgments import Judgments
from adjudge.data.names import Coded, Codes, Named, Names, encode
from adjudge.data.scale import Scale
from adjudge.data.source import Fault, Source, count_of, warn_of
from adjudge.data.synonyms import PAIR_SYNONYMS
from adjudge.errors import BadSetting, shown

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
        cls,
        table: Any,
        *,
        judge: str = "judge",
        source: str | Source = "table",
        skip_bad: bool = False,
    ) -> Comparisons:
        """Comparisons from any Arrow, pandas, Polars or DuckDB table.

        Its columns are left, right and label (or winner and loser), judge, topic and first, or what
        others call them. Without a column of judges there is one, called ``judge``. ``skip_bad``
        leaves out rows that cannot be read.
        """
        place = source if isinstance(source, Source) else Source(source, skip_bad=skip_bad)
        found = load_comparisons(table, judge=judge, source=place)
        return replace(found, notes=warn_of(place.name, place.notes, place.skipped))

    @classmethod
    def read(cls, *paths: str | Path, **options: Any) -> Comparisons:
        """Comparisons from files of any known format; the judge of one without judges is its name.

        With several files, a judge of one file is the judge of that name in another. What was left
        out or guessed is warned of (``ReadingWarning``) and kept in ``notes``.
        """
        from adjudge.data.formats import read_part

        found = []
        for path in paths:
            found.append(read_part(path, "comparisons", **options))  # noqa: PERF401 - a frame less
        return cls.join(found)

    @classmethod
    def join(cls, parts: Sequence[Comparisons]) -> Comparisons:
        """Several comparisons as one: the same name is the same item, judge or topic."""
        if not parts:
            raise BadSetting("files", None, "one file of comparisons at least")
        if len(parts) == 1:
            return parts[0]
        items, item_codes = join_names([part.items for part in parts])
        judges, judge_codes = join_names([part.judges for part in parts])
        topics = topic = None
        if all(part.topics is not None for part in parts):
            topics, topic_codes = join_names([part.topics for part in parts])
            topic = _recode(parts, "topic", topic_codes)
        first = None
        if any(part.first is not None for part in parts):
            first = np.concatenate([part.shown_first for part in parts])
        families, family = join_families(parts, len(judges), judge_codes)
        return cls(
            items=items,
            judges=judges,
            left=_recode(parts, "left", item_codes),
            right=_recode(parts, "right", item_codes),
            judge=_recode(parts, "judge", judge_codes),
            outcome=np.concatenate([part.outcome for part in parts]),
            topics=topics,
            topic=topic,
            first=first,
            families=families,
            family=family,
            kind=join_kinds(parts, len(judges), judge_codes),
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
        """In how many comparisons each item is, those without an answer too."""
        left = np.bincount(self.left, minlength=self.item_count)
        return left + np.bincount(self.right, minlength=self.item_count)

    def select(self, chosen: NDArray[np.bool_] | NDArray[np.integer]) -> Comparisons:
        """Some of the comparisons, of all items by all judges; an index may name one twice."""
        names = ("left", "right", "judge", "outcome", "topic", "first")
        held = {name: getattr(self, name) for name in names}
        parts: dict[str, Any] = {n: None if v is None else v[chosen] for n, v in held.items()}
        return replace(self, **parts)

    def with_family_rule(self, pattern: str) -> Comparisons:
        """Judges whose names share what a pattern finds are one family, as among judgments."""
        families, family = code_families(name_families(self, pattern))
        return replace(self, families=families, family=family)

    def as_judgments(self) -> Judgments:
        """The comparisons as judgments: one item per pair (of a topic), labels which was better.

        So what is known of judges on grades, such as who copies whom, is known of them here too.
        What nobody could say is left out. Items have numbers for names.
        """
        answered = self.outcome != CANNOT_SAY
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        pair = low.astype(np.int64) * self.item_count + high
        if self.topic is not None:
            pair = pair * max(1, self.topic_count) + self.topic
        pairs, place = np.unique(pair[answered], return_inverse=True)
        order = np.argsort(place, kind="stable")
        turned = (self.left > self.right) & (self.outcome < TIE)
        label = np.where(turned, 1 - self.outcome, self.outcome)[answered][order]
        return Judgments(
            scale=Scale(labels=("lower", "higher", "tie"), ordinal=False),
            items=pa.array(np.arange(len(pairs))).cast(pa.large_string()),
            judges=self.judges,
            offsets=np.append(0, np.cumsum(np.bincount(place, minlength=len(pairs)))),
            judge=self.judge[answered][order],
            label=label.astype(np.int8),
            families=self.families,
            family=self.family,
            kind=self.kind,
        )

    def to_table(self) -> Any:
        """One row per comparison: left, right, judge, label, and topic and first where known."""
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


def _recode(parts: Sequence[Comparisons], name: str, codes: Sequence[Codes]) -> Codes:
    """The codes of all parts, renumbered."""
    moved = [code[getattr(part, name)] for part, code in zip(parts, codes, strict=True)]
    return np.concatenate(moved).astype(np.int32)


_WORDS = {
    LEFT: "left a x 1 first modela model1 answera responsea itema optiona systema assistanta",
    RIGHT: "right b y 2 second modelb model2 answerb responseb itemb optionb systemb assistantb",
    TIE: "tie ties tied draw equal same both bothgood tiebothgood tiebothbad bothbad neither",
    CANNOT_SAY: "cannotsay cantsay unsure unknown dontknow idontknow skip skipped na error",
}
_VERDICT = re.compile(r"([ab]|[12])\s*(>{1,3}|<{1,3}|={1,2}|~)\s*([ab]|[12])")
_CODES = {word: code for code, words in _WORDS.items() for word in words.split()}


def outcome_named(text: str) -> int:
    """The outcome that a word names, as ``model_a`` or ``A>>B`` names left; -1 for none."""
    if verdict := _VERDICT.fullmatch(text.strip(" []").casefold()):
        first, sign, second = verdict.groups()
        if first != second:
            return (
                TIE
                if sign[0] in "=~"
                else (LEFT if (first < second) == (sign[0] == ">") else RIGHT)
            )
    if text.strip().casefold() == "[[c]]":  # of prompts that ask for [[A]], [[B]] or [[C]]
        return TIE
    return _CODES.get(re.sub(r"[^a-z0-9]", "", text.casefold()), -1)


_SIDES = (("left", "left", "won"), ("right", "right", "lost"))  # side, and roles of its column
_WANTED = "left, right, tie, cannot say, or the name of one of the two"


def load_comparisons(
    table: Any,
    *,
    judge: str = "judge",
    source: str | Source = "table",
    roles: dict[str, str] | None = None,
) -> Comparisons:
    """Comparisons from any table that Arrow can take in.

    ``judge`` names the judge where no column does; ``roles`` names the column of each role where
    the header does not speak for itself.
    """
    place = source if isinstance(source, Source) else Source(source)
    rows = take_in(table, place)
    where = comparison_roles(rows.column_names) if roles is None else dict(roles)
    if not where:
        known = PAIR_SYNONYMS | {"label": PAIR_SYNONYMS["outcome"]}
        where = roles_of(rows.column_names, known)
        need_columns(where, rows.column_names, place, ("left", "right", "label"), known)
    if len(rows) == 0:
        raise place.error(None, "there are no comparisons: the table has a header and no rows")
    coded, items, outcome = _coded(rows, where, place, judge)
    good = place.sift(_list_faults(coded, where, items, outcome))
    if good is not None:
        if good.size == 0:
            raise place.error(None, f"every one of the {len(rows):,} rows is bad")
        rows = rows.take(pa.array(good))
        coded, items, outcome = _coded(rows, where, place, judge)
    first = None
    if "won" in where:  # which side each was on is unknown
        first = np.full(len(outcome), -1, dtype=np.int8)
    elif "first" in coded:
        first = _sides(coded["first"], coded["left"][0], coded["right"][0], items)
    families, family = family_column(coded, where, place)
    topic, topics = coded.get("topic", (None, None))
    return Comparisons(
        items=items,
        judges=coded["judge"][1],
        left=coded["left"][0],
        right=coded["right"][0],
        judge=coded["judge"][0],
        outcome=outcome,
        topics=topics,
        topic=topic,
        first=first,
        families=families,
        family=family,
        kind=kind_column(coded, where, place),
    )


def _coded(
    rows: Any, where: dict[str, str], place: Source, judge: str
) -> tuple[Coded, Names, NDArray[np.int8]]:
    """The columns as codes, the items that both sides share, and the outcome of each row."""
    sides = ("won", "lost") if "won" in where else ("left", "right")
    texts = [text_of(rows, where[side], place) for side in sides]
    plain = [text.cast(pa.large_string()) for text in texts]
    both = pa.chunked_array([chunk for text in plain for chunk in text.chunks], pa.large_string())
    codes, items = encode(both)
    many = len(rows)
    coded: Coded = {"left": (codes[:many], items), "right": (codes[many:], items)}
    for role in ("judge", "topic", "first", "family", "kind"):
        if role in where:
            coded[role] = encode(text_of(rows, where[role], place))
    if "judge" not in coded:
        name = pa.array([judge], pa.large_string())
        coded["judge"] = (np.zeros(many, dtype=np.int32), name)
    if "won" in where:
        return coded, items, np.full(many, LEFT, dtype=np.int8)
    said = encode(text_of(rows, where["outcome"], place))
    coded["outcome"] = said
    return coded, items, _sides(said, codes[:many], codes[many:], items, last=CANNOT_SAY)


def _sides(
    said: tuple[Codes, Names],
    left: Codes,
    right: Codes,
    items: Names,
    last: int = RIGHT,
) -> NDArray[np.int8]:  # (row,)
    """Which side, or outcome up to ``last``, each row names, by a word or the item; -1 if neither.

    Where each row that names a side names one of its two items, items are meant, whatever they are
    called. Else a word for one side that is the name of the item on the other is -2.
    """
    codes, names = said
    texts = names.to_pylist()
    word = np.array([outcome_named(text) for text in texts] + [-1], dtype=np.int8)
    word[word > last] = -1
    place = {name: code for code, name in enumerate(items.to_pylist())}
    item = np.array([place.get(text, -9) for text in texts] + [-9], dtype=np.int32)
    by_word, by_item = word[codes], item[codes]
    named = np.where(by_item == left, LEFT, np.where(by_item == right, RIGHT, -1)).astype(np.int8)
    found = np.where(named >= 0, named, by_word)
    if ((named >= 0) | (by_word >= TIE)).all():
        return found.astype(np.int8)
    return np.where((named >= 0) & (by_word >= 0) & (named != by_word), -2, found).astype(np.int8)


def _list_faults(
    coded: Coded, where: dict[str, str], items: Names, outcome: NDArray[np.int8]
) -> list[Fault]:
    """What makes rows unusable, in the order of the columns."""
    left, right = coded["left"][0], coded["right"][0]
    names = [*items.to_pylist(), ""]
    columns = {side: where.get(plain, where.get(won)) for side, plain, won in _SIDES}
    faults: list[Fault] = []

    def said(row: int) -> str:
        codes, texts = coded["outcome"]
        return str(texts[int(codes[row])]).strip() if codes[row] >= 0 else ""

    def describe_outcome(row: int) -> str:
        problem = f"{shown(said(row))} is not an outcome" if said(row) else "there is no outcome"
        if outcome[row] == -2:
            problem = f"{shown(said(row))} is a side here and the name of the item on the other"
        pair = f"({shown(names[left[row]])}, {shown(names[right[row]])})"
        return f"{problem}; expected {_WANTED} {pair}"

    for side, column in columns.items():
        faults += id_faults("item", column, *coded[side])
    faults.append(
        Fault(
            left == right,
            columns["right"],
            lambda row: f"{shown(names[right[row]])} is compared with itself; expected two items",
            lambda row: names[right[row]],
            "another item",
        )
    )
    column = where.get("outcome")
    faults.append(Fault(outcome < 0, column, describe_outcome, said, "an outcome", "bad-outcome"))
    for role in ("judge", "topic"):
        if role in coded:
            faults += id_faults(role, where.get(role), *coded[role])
    return faults
