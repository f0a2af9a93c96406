"""Judgments as integers grouped by item: all of them, or a run of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slice:
    """The judgments of a run of items, without their names."""

    scale: Scale
    offsets: NDArray[np.int64]  # (item + 1,), from 0
    judge: NDArray[np.int32]  # (judgment,)
    label: NDArray[np.signedinteger]  # (judgment,)
    topic: NDArray[np.int32] | None  # (item,)
    judge_count: int
    topic_count: int

    def __len__(self) -> int:
        return len(self.judge)

    @property
    def item_count(self) -> int:
        """How many items there are, judged or not."""
        return len(self.offsets) - 1

    @property
    def counts_per_item(self) -> NDArray[np.int64]:  # (item,)
        """How many judgments each item has."""
        return np.diff(self.offsets)


Coded: TypeAlias = Judgments | Slice


def cut(judgments: Coded, items: slice) -> Slice:
    """The judgments of a run of items; judges and labels are not copied."""
    first, last = int(judgments.offsets[items.start]), int(judgments.offsets[items.stop])
    topic = judgments.topic
    return Slice(
        scale=judgments.scale,
        offsets=judgments.offsets[items.start : items.stop + 1] - first,
        judge=judgments.judge[first:last],
        label=judgments.label[first:last],
        topic=None if topic is None else topic[items],
        judge_count=judgments.judge_count,
        topic_count=judgments.topic_count,
    )
