"""What comparisons weigh where judges are copies, and whether they link all items."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from adjudge.data.comparisons import Comparisons
from adjudge.data.consensus import Families
from adjudge.data.judgments import Judgments
from adjudge.data.source import count_of
from adjudge.engines.threads import ThreadsEngine
from adjudge.errors import BadData, shown
from adjudge.models._families import find_families
from adjudge.models._notes import describe_families
from adjudge.models.pairs.cells import PairCells

_Floats = NDArray[np.float64]
_ENOUGH = 30  # cells an item that nearly always link everybody


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
    judgments = comparisons.as_judgments()
    sweeps = ThreadsEngine().load(judgments, None, by_topic=False, shared=False)
    families: Families = find_families(judgments, sweeps, search=search)
    notes = describe_families(families, judgments)
    if not families.any:
        return Copies.none(comparisons, notes)
    low = np.minimum(comparisons.left, comparisons.right).astype(np.int64)
    high = np.maximum(comparisons.left, comparisons.right)
    pair = low * comparisons.item_count + high
    if comparisons.topic is not None:
        pair = pair * comparisons.topic_count + comparisons.topic
    weight = _voices(families, pair, comparisons.judge)
    return Copies(weight, families.family.astype(np.int64), notes)


def weigh_grades(judgments: Judgments) -> tuple[_Floats | None, tuple[str, ...]]:
    """What each judgment weighs where judges are copies, in the same way."""
    if judgments.judge_count < 2:
        return None, ()
    sweeps = ThreadsEngine().load(judgments, None, by_topic=False, shared=False)
    families = find_families(judgments, sweeps)
    notes = describe_families(families, judgments)
    if not families.any:
        return None, notes
    return _voices(families, judgments.item.astype(np.int64), judgments.judge), notes


def _voices(families: Families, asked: NDArray[np.int64], judge: Any) -> _Floats:
    """What each answer weighs, if those of a family to one question have a voice between them."""
    judges = np.int64(len(families.family))
    _, place = np.unique(asked * judges + families.family[judge], return_inverse=True)
    count = np.bincount(np.unique(place * judges + judge) // judges)  # judges, however often each
    several = np.bincount(families.family, minlength=judges) > 1
    company = np.where(several[families.family[judge]], count[place] - 1.0, 0.0)
    return np.asarray(1.0 / (1.0 + company * families.share[judge]))


def _won_against(cells: PairCells) -> Any:  # (item, item)
    """The graph of who won against whom."""
    won = cells.wins[:, 0] + cells.wins[:, 2] > 0
    lost = cells.wins[:, 1] + cells.wins[:, 2] > 0
    row = np.concatenate([cells.a[won], cells.b[lost]])
    column = np.concatenate([cells.b[won], cells.a[lost]])
    return coo_array((np.ones(len(row)), (row, column)), shape=(cells.items, cells.items)).tocsr()


def _parts(graph: Any) -> int:
    """How many groups there are of items that are linked to each other both ways."""
    return int(connected_components(graph, directed=True, connection="strong")[0])


def check_connected(cells: PairCells, comparisons: Comparisons, prior: float) -> tuple[str, ...]:
    """Say where only the prior ranks items; without a prior that is an error.

    Strengths are finite if nobody can split the items into two groups of which one never lost to
    the other (Ford 1957): the graph of who won against whom is strongly connected.
    """
    items = comparisons.items
    few = len(cells.a) // (_ENOUGH * cells.items)
    if few > 1 and _parts(_won_against(cells.every(few))) == 1:  # more wins part nobody
        return ()
    graph = _won_against(cells)
    parts = _parts(graph)
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
            f"{what}, so that their strengths are not finite; wanted regularisation above 0",
            expected="regularisation above 0",
        )
    return (f"{what}: how far apart they are is the prior's word, and their intervals are wide",)
