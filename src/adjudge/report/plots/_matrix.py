"""Who gave which item which label: judges across, items down, both sorted by their means.

Figure 6(a) of C. Liu and Y.-M. Wang (2012), "TrueLabel + Confusions". Of many judges and items the
busiest are shown, since a picture has only so many cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.source import count_of
from adjudge.report.plots import drawing
from adjudge.report.plots._layout import add_title, tooltip

_JUDGES = 150
_ITEMS = 60
_LABELS = 12  # colours that can still be told apart


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Block:
    """The judgments of some judges on some items, as cells of a picture."""

    judges: NDArray[np.int64]  # (column,) codes, from the lowest mean to the highest
    items: NDArray[np.int64]  # (row,) codes, likewise
    column: NDArray[np.int64]  # (cell,)
    row: NDArray[np.int64]  # (cell,)
    label: NDArray[np.int64]  # (cell,)


def _busiest_block(judgments: Judgments, judges: int = _JUDGES, items: int = _ITEMS) -> _Block:
    """The judges with most judgments, and the items that most of these judged."""
    item, judge = judgments.item, judgments.judge
    value = judgments.scale.values[judgments.label]
    chosen = _most(judgments.counts_per_judge, judges)
    kept = chosen[judge]
    counts = np.bincount(item[kept], minlength=judgments.item_count)
    kept &= _most(counts, items)[item]
    # A repeat stands in the same cell: the last one is seen.
    columns = _by_mean(judge[kept], value[kept], judgments.judge_count)
    rows = _by_mean(item[kept], value[kept], judgments.item_count)
    return _Block(
        judges=columns,
        items=rows,
        column=_places(columns, judgments.judge_count)[judge[kept]],
        row=_places(rows, judgments.item_count)[item[kept]],
        label=judgments.label[kept].astype(np.int64),
    )


def _most(counts: NDArray[np.int64], wanted: int) -> NDArray[np.bool_]:
    chosen = np.zeros(len(counts), dtype=np.bool_)
    chosen[np.argsort(-counts, kind="stable")[:wanted]] = True
    return chosen & (counts > 0)


def _by_mean(
    code: NDArray[Any], value: NDArray[np.float64], size: int
) -> NDArray[np.int64]:  # (present,)
    count = np.bincount(code, minlength=size)
    mean = np.bincount(code, value, size) / np.maximum(count, 1)
    present = np.flatnonzero(count)
    return np.asarray(present[np.argsort(mean[present], kind="stable")])


def _places(order: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    places = np.zeros(size, dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


def judge_item_matrix(judgments: Judgments) -> Any:
    """The chart: a cell a judgment, coloured by its label."""
    block = _busiest_block(judgments)
    labels, names = judgments.scale.labels, judgments.judges
    colour: dict[str, Any] = {"domain": list(labels)} if len(labels) <= _LABELS else {}
    if judgments.scale.ordinal:
        colour["scheme"] = "viridis"
    data = drawing.table(
        column=block.column,
        row=block.row,
        label=[labels[code] for code in block.label],
        judge=[names[int(block.judges[place])].as_py() for place in block.column],
        item=[judgments.items[int(block.items[place])].as_py() for place in block.row],
    )
    wide, high = max(len(block.judges), 1), max(len(block.items), 1)
    step = max(3, min(16, 460 // wide))
    chart = (
        alt.Chart(data, name="matrix")
        .mark_rect(aria=False)
        .encode(
            x=alt.X(
                "column:O", title="judges, by mean label", axis=alt.Axis(labels=False, ticks=False)
            ),
            y=alt.Y(
                "row:O", title="items, by mean label", axis=alt.Axis(labels=False, ticks=False)
            ),
            color=alt.Color("label:N", title="label", scale=alt.Scale(**colour)),
            tooltip=tooltip({"judge": "judge", "item": "item", "label": "label"}),
        )
        .properties(width=step * wide, height=max(3, min(12, 360 // high)) * high)
    )
    all_shown = wide == judgments.judge_count and high == judgments.item_count
    which = (
        f"{count_of(wide, 'judge')} and {count_of(high, 'item')}"
        if all_shown
        else f"{wide:,} of {count_of(judgments.judge_count, 'judge')}, and the {high:,} of "
        f"{count_of(judgments.item_count, 'item')} that the busiest judged most"
    )
    return add_title(chart, "Judges and items", which)
