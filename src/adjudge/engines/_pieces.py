"""Judgments cut into runs of items, to be sent to the processes of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.mapped import even_cuts, path_of
from adjudge.data.stored import Manifest, read_manifest
from adjudge.engines._remote import Piece, Sampling
from adjudge.engines._shared import Shared, share
from adjudge.engines._sources import Lent, PartSource, SentPart, Stored, cut

_MOST = 8_000_000  # judgments in a part at most
_SPARE = 4  # parts a process, so that one that joins can take some over
_WORTH = 1_000_000  # judgments from which sharing is worth it


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Judgments and where they are cut: part n has the items from ``ends[n]`` to ``ends[n + 1]``.

    How many parts there are changes no result: sums are whole numbers.
    """

    judgments: Judgments
    known: NDArray[np.signedinteger] | None  # (item,)
    by_topic: bool
    ends: tuple[int, ...]
    local: bool = False  # all processes are on this machine
    lent: dict[str, Shared] = field(default_factory=dict)  # arrays they read here, by name

    @classmethod
    def of(
        cls,
        judgments: Judgments,
        known: NDArray[np.signedinteger] | None,
        by_topic: bool,
        processes: int,
        *,
        local: bool = False,
    ) -> Cuts:
        """Judgments cut into a few parts for each process, with about as many judgments each."""
        count = max(_SPARE * processes, -(-len(judgments) // _MOST))
        ends = even_cuts(judgments.offsets, count)
        folder = folder_of(judgments)
        if folder is not None:
            ends = _on_parts(ends, read_manifest(folder))
        lent = _lent(judgments) if local and folder is None and len(judgments) >= _WORTH else {}
        return cls(judgments, known, by_topic, tuple(ends), local, lent)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def items(self, number: int) -> slice:
        """The items of a part."""
        return slice(self.ends[number], self.ends[number + 1])

    def items_of(self) -> NDArray[np.int64]:  # (topic,)
        """How many items each topic has, or all have together."""
        if not self.by_topic or self.judgments.topic is None:
            return np.array([self.judgments.item_count])
        return np.bincount(self.judgments.topic, minlength=self.judgments.topic_count)

    def piece(self, number: int, sampling: Sampling | None = None) -> Piece:
        """A part as it is sent."""
        where = self.items(number)
        known = None if self.known is None else self.known[where]
        return Piece(number, where.start, self._source(where), known, self.by_topic, sampling)

    def _source(self, where: slice) -> PartSource:
        """Where a process is to take the judgments of some items from."""
        given, folder = self.judgments, folder_of(self.judgments)
        if folder is not None:
            return Stored(str(folder), where.start, where.stop, given.scale, self.local)
        if not self.lent:
            return SentPart(cut(given, where.start, where.stop))
        windows = {name: shared.window for name, shared in self.lent.items()}
        return Lent(
            windows["offsets"],
            windows["judge"],
            windows["label"],
            windows.get("topic"),
            where.start,
            where.stop,
            given.scale,
            given.judge_count,
            given.topic_count,
        )


def _lent(judgments: Judgments) -> dict[str, Shared]:
    """The arrays of judgments in memory that is shared; none, where none can be."""
    arrays: dict[str, NDArray[Any] | None] = {
        "offsets": judgments.offsets,
        "judge": judgments.judge,
        "label": judgments.label,
        "topic": judgments.topic,
    }
    found = {name: share(array) for name, array in arrays.items() if array is not None}
    made = {name: shared for name, shared in found.items() if shared is not None}
    return made if len(made) == len(found) else {}


def _on_parts(ends: list[int], manifest: Manifest) -> list[int]:
    """Cuts moved to where a part begins, if there are enough parts: each is then checked once."""
    if len(manifest.parts) < len(ends):
        return ends
    begins = np.array([part.items[0] for part in manifest.parts])
    near = begins[np.searchsorted(begins, ends[:-1], side="right") - 1]
    return sorted({*near.tolist(), ends[-1]})


def folder_of(judgments: Judgments) -> Path | None:
    """The folder of encoded judgments that these are the whole of, unchanged; None if they are not.

    Judgments that were changed since they were mapped have arrays of their own.
    """
    arrays: list[NDArray[Any]] = [judgments.offsets, judgments.judge, judgments.label]
    arrays += [] if judgments.topic is None else [judgments.topic]
    folders = {None if (path := path_of(array)) is None else path.parent for array in arrays}
    return folders.pop() if len(folders) == 1 else None
