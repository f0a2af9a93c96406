"""The answers that the report by arm counts: first answers in work, and which truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.collect.store.snapshot import ProjectSnapshot

if TYPE_CHECKING:
    from adjudge.data.gold import Gold
    from adjudge.data.scale import Scale

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FirstAnswers:
    """First answers in work: all of them in a table, and those of known truth in arrays."""

    table: Any  # item, judge, label, arm (code), trusted
    scale: Scale
    arm: _Ints  # (judge,)
    judge: _Ints  # (answer,)
    item: _Ints  # (answer,) places in names
    label: _Ints  # (answer,) truths
    trusted: NDArray[np.bool_]  # (answer,)
    accepted: NDArray[np.bool_]  # (item, truth)
    first: _Ints  # (item,)
    names: Any  # (item,)
    others: int  # answers of known truth that give none

    @classmethod
    def of(
        cls,
        table: Any,
        rows: Sequence[Any],
        arms: Sequence[str],
        snapshot: ProjectSnapshot,
        test: Gold | None,
    ) -> FirstAnswers:
        """The answers that count, from all of a project's."""
        scale = snapshot.scale
        people = pa.array([row.public for row in rows], pa.large_string())
        who = find_places(table["judge"], people)
        item = table["item"].combine_chunks().dictionary_encode()
        code = item.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, once = np.unique(who * (len(item.dictionary) + 1) + code, return_index=True)
        first = np.zeros(len(table), dtype=np.bool_)
        first[once] = True
        work = np.asarray(table["kind"].to_numpy() == "work") if len(table) else first
        kept = pa.array(first & work & (who >= 0))
        table, who = table.filter(kept), who[kept.to_numpy(zero_copy_only=False)]
        names, accepted, chosen = _known(snapshot, test)
        where = find_places(table["item"], names)
        if test is None and len(table):
            where = np.where(table["gold"].to_numpy(), where, -1)
        label = _truths(table["label"], scale)
        use = (where >= 0) & (label >= 0)
        arm = np.array([list(arms).index(row.arm) for row in rows], dtype=np.int64)
        standing = table["standing"].to_numpy() if len(table) else np.empty(0, dtype=object)
        trusted = np.asarray(standing != "untrusted", dtype=np.bool_)
        columns = {name: table[name] for name in ("item", "judge", "label")}
        columns |= {"arm": pa.array(arm[who]), "usable": pa.array(trusted & (label >= 0))}
        return cls(
            table=pa.table(columns),
            scale=scale,
            arm=arm,
            judge=who[use],
            item=where[use],
            label=label[use],
            trusted=trusted[use],
            accepted=accepted,
            first=chosen,
            names=names,
            others=int(((where >= 0) & (label < 0)).sum()),
        )

    def truth(self, item: _Ints, label: _Ints) -> _Ints:
        """The truth that a label is held against: itself where it is accepted, else the first."""
        return np.where(self.accepted[item, label], label, self.first[item])


def find_places(texts: Any, among: Any) -> _Ints:
    """Where each text stands among others; -1 where it does not."""
    found = pc.index_in(texts.cast(pa.large_string()), value_set=among.cast(pa.large_string()))
    places = pc.fill_null(found, -1).to_numpy()
    return np.asarray(places, dtype=np.int64)


def _truths(labels: Any, scale: Scale) -> _Ints:
    """Labels as the truths they stand for; -1 for those that stand for none."""
    coded = labels.combine_chunks().dictionary_encode()
    known = [
        scale.truth_of[scale.labels.index(text)] if text in scale.labels else -1
        for text in coded.dictionary.to_pylist()
    ]
    codes: _Ints = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return np.asarray(np.array([*known, -1], dtype=np.int64)[codes])


def _known(snapshot: ProjectSnapshot, test: Gold | None) -> tuple[Any, NDArray[np.bool_], _Ints]:
    """Items of known truth: names, which truths are accepted, and the first of them."""
    scale = snapshot.scale
    if test is not None:
        first = test.codes(scale).astype(np.int64)
        accepted = np.zeros((len(first), len(scale.truths)), dtype=np.bool_)
        accepted[np.arange(len(first)), first] = True
        return test.items, accepted, first
    names, rows, firsts = [], [], []
    for gold in snapshot.golds.values():
        codes = [scale.truth_code(label) for label in gold.accepted if label in scale.labels]
        codes = [code for code in codes if code >= 0]
        if gold.active and codes:
            names.append(gold.name)
            rows.append([code in codes for code in range(len(scale.truths))])
            firsts.append(codes[0])
    shape = (len(names), len(scale.truths))
    accepted = np.array(rows, dtype=np.bool_).reshape(shape)
    return pa.array(names, pa.large_string()), accepted, np.array(firsts, dtype=np.int64)
