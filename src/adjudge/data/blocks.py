"""Runs of items: where to cut between them, and the judgments of one run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments


def even_cuts(offsets: NDArray[np.int64], count: int) -> list[int]:
    """Cuts between items that give each of ``count`` runs about as many judgments."""
    items = len(offsets) - 1
    if items == 0:
        return [0, 0]
    wanted = np.linspace(0, offsets[-1], count + 1)[1:-1]
    cuts = np.searchsorted(offsets, wanted)
    return sorted({0, *np.clip(cuts, 0, items).tolist(), items})


def run_of(judgments: Judgments, start: int, stop: int) -> Judgments:
    """The judgments of the items from ``start`` to ``stop``, every judge kept; nothing is copied.

    Columns that came along (time, seconds, fields) are left out.
    """
    first, last = int(judgments.offsets[start]), int(judgments.offsets[stop])
    topic, documents = judgments.topic, judgments.documents
    return replace(
        judgments,
        items=judgments.items.slice(start, stop - start),
        offsets=judgments.offsets[start : stop + 1] - first,
        judge=judgments.judge[first:last],
        label=judgments.label[first:last],
        topic=None if topic is None else topic[start:stop],
        documents=None if documents is None else documents.slice(start, stop - start),
        time=None,
        seconds=None,
        fields=None,
    )
