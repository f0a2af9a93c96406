"""Several rows of one judge on one item: copies of a row, true repeats, or an incomplete item.

A copy says nothing new and counts once. A judge who is asked again, or a model that is sampled,
mostly agrees with themselves, and every row counts. Where the labels of one judge on one item
contradict each other as often as those of different items, the item has a further part.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.columns import as_text, letters_of, words_of
from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes, encode
from adjudge.data.source import Source, count_of
from adjudge.data.synonyms import NOT_A_LABEL, SYNONYMS
from adjudge.errors import Remedy, name_columns

_COPIES = 0.05  # share of repeated judgments that contradict, below which repeats are copies
_TORN = 0.03  # share of all judgments that contradict, above which the item may be incomplete
_LEAST = 3  # contradictions before anything is concluded
_AGREES = 0.5  # agreement with oneself beyond chance that true repeats have
_BETTER = 0.7  # share of the contradictions that a further part of the item may leave
_PARTS = 3  # further parts of an item that are looked for
_LENGTH = 40  # characters of an id
_FEW = 100_000  # rows, for which it is not worth importing a library
# Words in the name of a column that numbers repeats, of one that says when a row came about, and of
# one that is not part of an item.
_NUMBERS = """
sample samples run repetition repetitions repeat rep replicate seed trial attempt try iteration
epoch session round wave phase pass
"""
_OTHERS = """
time timestamp date day hour minute created updated submitted severity comment comments reason
rationale explanation accept assignment
"""
# Words of columns with the text of the item: named only where no shorter column is a part.
_WORDS = "text source target sentence content body snippet passage title hypothesis"
_AGAIN, _TEXTS = frozenset(_NUMBERS.split()), frozenset(_WORDS.split())
_NO_PART = _AGAIN.union(_OTHERS.split(), SYNONYMS["label"], set(NOT_A_LABEL) - {"id"})


@dataclass(frozen=True, slots=True, eq=False)
class _Again:
    """The judgments of which the judge gave another on the same item."""

    rows: NDArray[np.int64]  # (repeated judgment,) which judgment, by judge and item
    group: NDArray[np.int64]  # (repeated judgment,) that of the judge and item, from 0
    label: NDArray[np.int64]  # (repeated judgment,)
    pairs: int  # of judge and item, among all judgments

    @property
    def groups(self) -> int:
        """How many pairs of judge and item are repeated."""
        return int(self.group[-1]) + 1

    @property
    def torn(self) -> int:
        """How many pairs of judge and item have several labels."""
        return _count_torn(self.group, self.label)


def settle_repeats(
    judgments: Judgments, by_row: Codes, rows: Any, where: dict[str, str], place: Source
) -> Judgments:
    """Return the judgments without copies; true repeats are remarked, a torn item is asked about.

    ``by_row`` is the item of each row of the table, whose columns ``where`` names.
    """
    again = _find_again(judgments)
    if again is None:
        return judgments
    extra = _Columns(again, by_row, rows, where, place)
    torn, repeated = again.torn, again.rows.size - again.groups
    if torn >= _LEAST and torn > _TORN * again.pairs:
        _refuse_incomplete(again, extra, judgments)
    dated = judgments.time is not None or bool(extra.numbering)
    copies = _find_copies(again, judgments, extra, dated=dated)
    if copies.size:
        kept = np.ones(len(judgments), dtype=np.bool_)
        kept[copies] = False
        judgments = judgments.select(judgments=kept, keep_empty=True)
        place.remark(
            f"{count_of(copies.size, 'row', 'is a copy', 'are copies')} of another (the same item, "
            "judge and label) and left out",
            Remedy("repeats"),
        )
    left = repeated - copies.size
    if torn:
        alone = "document" in where and where.get("item") == where["document"]
        place.remark(
            f"{count_of(left, 'judgment', 'repeats', 'repeat')} an item for the same judge; "
            f"{count_of(torn, 'pair', 'of item and judge has', 'of item and judge have')} "
            "different labels (all are kept)"
            + (", or the documents were judged for several topics" * alone),
            *([name_columns("topic")] if alone else []),
        )
    elif left and not dated:
        place.remark(
            f"{count_of(left, 'judgment', 'repeats', 'repeat')} judge, item and label of another "
            "but differ in other columns (all are kept)"
        )
    return judgments


def _find_again(judgments: Judgments) -> _Again | None:
    """Return the judgments that a judge repeats on an item; None where nobody does."""
    item, ends, order = _sort_by_judge(judgments.offsets, judgments.judge)
    same = item[1:] == item[:-1]
    same[ends[(ends > 0) & (ends < item.size)] - 1] = False
    if not same.any():
        return None
    repeated = np.append(same, False) | np.append(False, same)
    first = ~np.append(False, same)[repeated]
    rows = order[repeated].astype(np.int64)
    pairs = item.size - int(np.count_nonzero(same))
    label = judgments.label[rows].astype(np.int64)
    return _Again(rows, np.cumsum(first) - 1, label, pairs)


def _sort_by_judge(
    offsets: NDArray[np.int64],  # (item + 1,)
    judge: Codes,  # (judgment,) by item
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return items by judge and then item, where each judge ends, and which judgments these are."""
    items, judges = len(offsets) - 1, int(judge.max(initial=0)) + 1
    if judge.size <= _FEW:
        order = np.argsort(judge, kind="stable")
        item = np.repeat(np.arange(items, dtype=np.int32), np.diff(offsets))
        return item[order], np.cumsum(np.bincount(judge)), order
    from scipy.sparse import csr_array

    place = np.arange(judge.size, dtype=np.int32 if judge.size < 2**31 else np.int64)
    matrix = csr_array((place, judge, offsets), shape=(items, judges)).tocsc()
    return matrix.indices, matrix.indptr[1:], matrix.data


def _count_torn(group: NDArray[np.int64], label: NDArray[np.int64]) -> int:
    """Return in how many groups there is more than one label."""
    pair = np.unique(group * (int(label.max()) + 1) + label) // (int(label.max()) + 1)
    return int(np.count_nonzero(np.unique(pair, return_counts=True)[1] > 1))


def _count_against(group: NDArray[np.int64], label: NDArray[np.int64]) -> int:
    """Return how many judgments differ from the commonest label of their group."""
    pair, counts = np.unique(group * (int(label.max()) + 1) + label, return_counts=True)
    of_group = pair // (int(label.max()) + 1)
    begins = np.flatnonzero(np.append(True, of_group[1:] != of_group[:-1]))
    return int(counts.sum() - np.maximum.reduceat(counts, begins).sum())


def _finer(group: NDArray[np.int64], codes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the groups divided by the codes of another column."""
    key = group * (int(codes.max(initial=0)) + 2) + codes + 1
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def _find_copies(
    again: _Again, judgments: Judgments, extra: _Columns, *, dated: bool
) -> NDArray[np.int64]:
    """Return the judgments that are copies of an earlier one: the same in every column.

    Where neither a time nor a number distinguishes repeats, rows that agree are copies if hardly
    any repeat contradicts another, or if every row of the table was copied as often.
    """
    key = _finer(again.group, again.label)
    if judgments.time is not None:
        key = _finer(key, np.unique(judgments.time[again.rows], return_inverse=True)[1])
    for codes in extra.others:
        key = _finer(key, codes)
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    times = int(np.gcd.reduce(counts))
    kept = np.ones(key.size, dtype=np.bool_)
    if dated or again.torn <= _COPIES * again.groups:
        kept[:] = False
        kept[first] = True
    elif times > 1 and again.rows.size == len(judgments):
        order = np.argsort(key, kind="stable")
        place = np.empty(key.size, dtype=np.int64)
        place[order] = np.arange(key.size) - np.repeat(np.cumsum(counts) - counts, counts)
        kept = place < (counts // times)[key]
    return again.rows[~kept]


class _Columns:
    """The columns of the file for the judgments that repeat; read when needed."""

    def __init__(
        self, again: _Again, by_row: Codes, rows: Any, where: dict[str, str], place: Source
    ) -> None:
        self.where, self.place = where, place
        self._again, self._by_row, self._rows = again, by_row, rows

    @cached_property
    def _table(self) -> Any:
        """All columns of the file, one row per row of the table."""
        if self.place.every is None:
            return self._rows
        table, kept = self.place.every()
        rows = self.place.row_of
        if rows is not None:
            table = table.take(pa.array(rows if kept is None else np.searchsorted(kept, rows)))
        return table

    @cached_property
    def _codes(self) -> dict[str, NDArray[np.int64]]:
        """The codes of each column that plays no role, for the judgments that repeat."""
        order = pa.array(np.argsort(self._by_row, kind="stable")[self._again.rows])
        found = {}
        for name in self._table.column_names:
            if name not in self.where.values():
                try:
                    codes = encode(as_text(self._table[name]).take(order))[0]
                except pa.ArrowException:
                    continue
                found[name] = codes.astype(np.int64)
        return found

    @property
    def others(self) -> list[NDArray[np.int64]]:
        """Every column that plays no role."""
        return list(self._codes.values())

    @property
    def numbering(self) -> list[NDArray[np.int64]]:
        """The columns that number the samples or rounds of a judge."""
        return [codes for name, codes in self._codes.items() if _AGAIN & set(words_of(name))]

    def parts(self, *, texts: bool) -> dict[str, NDArray[np.int64]]:
        """Return the columns that may be a part of the item: shared by several rows, and short.

        With ``texts``, those with the text of the item.
        """
        people = set(SYNONYMS["judge"]) - {"model"}
        found = {}
        for name, codes in self._codes.items():
            words = set(words_of(name))
            if words & (_NO_PART | people) or bool(words & _TEXTS) is not texts or not codes.any():
                continue
            _, names = encode(as_text(self._table[name]))
            some = names.slice(0, 100).to_pylist()
            short = texts or sum(map(len, some)) <= _LENGTH * len(some)
            if short and 2 * len(names) <= len(self._table):
                found[name] = codes
        return found


def _refuse_incomplete(again: _Again, extra: _Columns, judgments: Judgments) -> None:
    """Ask for the other parts of the item, where columns of the file explain the contradictions."""
    left = _count_against(again.group, again.label)
    for codes in extra.numbering:
        if 2 * _count_against(_finer(again.group, codes), again.label) < left:
            return
    if judgments.time is not None and _self_agreement(again, judgments) >= _AGREES:
        return
    ids = extra.parts(texts=False)
    found = _explain(again, ids) or _explain(again, extra.parts(texts=True))
    if not found:
        return
    where, place = extra.where, extra.place
    own = [where["item"]] if "item" in where else [where["topic"], where["document"]]
    every = ",".join(dict.fromkeys([*own, *found]))
    raise place.error(
        None,
        f"one judge has several labels for one item in {again.torn:,} of {again.pairs:,} cases: "
        f"{' and '.join(own)} may be only a part of what names an item, and "
        f"{' and '.join(found)} another",
        value=found,
        code="incomplete-item",
        remedies=[name_columns(item=every), Remedy("repeats")],
    )


def _explain(again: _Again, parts: dict[str, NDArray[np.int64]]) -> list[str]:
    """Return the columns that explain the contradictions: one by one, or at first two together."""
    found: list[str] = []
    group, left = again.group, _count_against(again.group, again.label)
    while left and len(found) < _PARTS:
        for size in (1,) if found else (1, 2):
            finer = {
                names: reduce(_finer, (parts[name] for name in names), group)
                for names in combinations(parts, size)
            }
            counts = {names: _count_against(own, again.label) for names, own in finer.items()}
            best = min(
                counts, key=lambda n: (counts[n], letters_of(n[-1])[-2:] != "id"), default=()
            )
            if best and counts[best] <= _BETTER * left:
                break
        else:
            break
        group, left = finer[best], counts[best]
        found += best
        parts = {name: codes for name, codes in parts.items() if name not in best}
    return found


def _self_agreement(again: _Again, judgments: Judgments) -> float:
    """Return how far judges agree with themselves beyond chance, from 0 to 1."""
    pair = np.unique(_finer(again.group, again.label), return_counts=True)[1].astype(np.float64)
    size = np.bincount(again.group).astype(np.float64)
    agreed = float((pair * (pair - 1)).sum() / (size * (size - 1)).sum())
    share = np.bincount(judgments.label) / len(judgments)
    chance = float((share**2).sum())
    return (agreed - chance) / max(1.0 - chance, 1e-9)
