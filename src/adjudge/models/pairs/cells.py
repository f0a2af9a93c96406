"""Comparisons counted once into cells, so that a sweep costs pairs and not comparisons.

What comparisons weigh where judges are copies, and whether they link all items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from adjudge.data.comparisons import CANNOT_SAY, Comparisons
from adjudge.data.consensus import Families
from adjudge.data.judgments import Judgments
from adjudge.data.source import count_of
from adjudge.engines.threads import ThreadsEngine
from adjudge.errors import BadData, shown
from adjudge.kernels import pairs as kernels
from adjudge.models._families import find_families
from adjudge.models._notes import describe_families

_Floats = NDArray[np.float64]
_LONGEST = 2**62  # of a key


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairCells:
    """Counted comparisons: the arrays of ``adjudge.kernels.pairs``."""

    a: NDArray[np.int64]  # (cell,)
    b: NDArray[np.int64]
    judge: NDArray[np.int64]
    side: NDArray[np.int64]
    wins: _Floats  # (cell, 3) a won, b won, ties
    items: int
    judges: int

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The cells as sweeps take them: wins by columns."""
        return (self.a, self.b, self.judge, self.side, *self.wins.T)

    def select(self, rows: NDArray[np.bool_]) -> PairCells:
        """Some of the cells, as a copy."""
        kept = {name: getattr(self, name)[rows] for name in ("a", "b", "judge", "side")}
        return replace(self, **kept, wins=self.wins.T[:, rows].copy().T)

    @property
    def many(self) -> _Floats:  # (cell,)
        """What the comparisons of each cell weigh together."""
        return np.asarray(self.wins[:, 0] + self.wins[:, 1] + self.wins[:, 2])


def count_cells(
    comparisons: Comparisons,
    *,
    judges: bool = False,
    sides: bool = False,
    weight: _Floats | None = None,
) -> PairCells:
    """The cells of comparisons: by judge and by who was shown first, as asked for."""
    items, none = comparisons.item_count, np.empty(0, dtype=np.int32)
    first = comparisons.shown_first if sides else none
    judge = comparisons.judge if judges else none
    by_judge = comparisons.judge_count if judges else 1
    if items * items * (3 if sides else 1) * by_judge * 3 > _LONGEST:
        raise BadData(
            f"{items:,} items by {comparisons.judge_count:,} judges are too many to be counted; "
            "use fewer items, or a model without judges"
        )
    given = np.empty(0) if weight is None else weight
    key, heavy = np.empty(len(comparisons), dtype=np.int64), np.empty(len(given))
    answered = kernels.key_comparisons(
        comparisons.left,
        comparisons.right,
        comparisons.outcome,
        first,
        judge,
        items,
        by_judge,
        CANNOT_SAY,
        given,
        key,
        heavy,
    )
    key, heavy = key[:answered], heavy[:answered]
    if weight is not None:
        order = np.argsort(key, kind="stable")
        key, heavy = key[order], heavy[order]
    else:
        key.sort()
    size_limit = len(key)
    a, b, by, side = (np.empty(size_limit, dtype=np.int64) for _ in range(4))
    counts = np.zeros((3, size_limit)).T  # so that sweeps have each outcome in one piece
    size = kernels.count_cells(
        *(key, heavy, items, 3 if sides else 1, by_judge, a, b, by, side, counts)
    )
    a, b, by, side, counts = (_cut(each, size) for each in (a, b, by, side, counts))
    return PairCells(a=a, b=b, judge=by, side=side, wins=counts, items=items, judges=by_judge)


def _cut(values: NDArray[Any], size: int) -> NDArray[Any]:
    """The first that many; a copy only where that gives much memory back."""
    return values[:size].copy("K") if 2 * size < len(values) else values[:size]


class Copies(NamedTuple):
    """Judges who are copies of each other, and what follows."""

    weight: _Floats | None  # (comparison,) None where every comparison weighs 1
    family: NDArray[np.int64]  # (judge,) judges of one family have one number
    notes: tuple[str, ...]

    @classmethod
    def none(cls, comparisons: Comparisons, notes: tuple[str, ...] = ()) -> Copies:
        """Every judge is their own family."""
        return cls(None, np.arange(comparisons.judge_count), notes)


def weigh_copies(comparisons: Comparisons, *, search: bool = True) -> Copies:
    """Find families of judges, and weight their comparisons so that a family counts as one judge.

    Families are found and declared as among grades, an item being a pair within its topic.
    """
    if comparisons.judge_count < 2 or (comparisons.family is None and not search):
        return Copies.none(comparisons)
    families, notes = _families_of(comparisons.as_judgments(), search=search)
    if not families.any:
        return Copies.none(comparisons, notes)
    low = np.minimum(comparisons.left, comparisons.right).astype(np.int64)
    high = np.maximum(comparisons.left, comparisons.right)
    pair = low * comparisons.item_count + high
    if comparisons.topic is not None:
        pair = pair * comparisons.topic_count + comparisons.topic
    weight = _weigh_answers(families, pair, comparisons.judge)
    return Copies(weight, families.family.astype(np.int64), notes)


def weigh_grades(judgments: Judgments) -> tuple[_Floats | None, tuple[str, ...]]:
    """What each judgment weighs where judges are copies, in the same way."""
    if judgments.judge_count < 2:
        return None, ()
    families, notes = _families_of(judgments)
    if not families.any:
        return None, notes
    return _weigh_answers(families, judgments.item.astype(np.int64), judgments.judge), notes


def _families_of(judgments: Judgments, *, search: bool = True) -> tuple[Families, tuple[str, ...]]:
    sweeps = ThreadsEngine().load(judgments, None, by_topic=False, shared=False)
    families = find_families(judgments, sweeps, search=search)
    return families, describe_families(families, judgments)


def _weigh_answers(families: Families, asked: NDArray[np.int64], judge: Any) -> _Floats:
    """What each answer weighs, if those of a family to one question count as one."""
    judges = np.int64(len(families.family))
    _, place = np.unique(asked * judges + families.family[judge], return_inverse=True)
    count = np.bincount(np.unique(place * judges + judge) // judges)  # judges, however often each
    several = np.bincount(families.family, minlength=judges) > 1
    from_family = np.where(several[families.family[judge]], count[place] - 1.0, 0.0)
    return np.asarray(1.0 / (1.0 + from_family * families.share[judge]))


def _won_against(cells: PairCells) -> Any:  # (item, item)
    """The graph of who won against whom."""
    won = cells.wins[:, 0] + cells.wins[:, 2] > 0
    lost = cells.wins[:, 1] + cells.wins[:, 2] > 0
    row = np.concatenate([cells.a[won], cells.b[lost]])
    column = np.concatenate([cells.b[won], cells.a[lost]])
    return coo_array((np.ones(len(row)), (row, column)), shape=(cells.items, cells.items)).tocsr()


def check_connected(cells: PairCells, comparisons: Comparisons, prior: float) -> tuple[str, ...]:
    """Say where only the prior ranks items; without a prior that is an error.

    Strengths are finite if nobody can split the items into two groups of which one never lost to
    the other (Ford 1957): the graph of who won against whom is strongly connected.
    """
    items = comparisons.items
    graph = _won_against(cells)
    parts = int(connected_components(graph, directed=True, connection="strong")[0])
    if parts == 1:
        return ()
    groups, group = connected_components(graph, directed=False)
    if groups > 1:
        at = int(np.flatnonzero(group != group[0])[0])
        what = (
            f"the comparisons fall into {groups:,} groups that were never compared with each other "
            f"(such as {shown(items[0].as_py())} and {shown(items[at].as_py())})"
        )
    else:
        what = (
            f"{count_of(parts - 1, 'item')} or group{'' if parts == 2 else 's'} of them only "
            f"won, or only "
            "lost, against the others"
        )
    if prior == 0:
        raise BadData(
            f"{what}, so that their strengths are not finite; set regularisation above 0",
            expected="regularisation above 0",
        )
    return (f"{what}: only the prior says how far apart they are, and their intervals are wide",)
