"""Judgments cut into runs of items, to be sent to the processes of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.blocks import even_cuts
from adjudge.data.judgments import Judgments
from adjudge.data.mapped import path_of
from adjudge.data.stored import Manifest, read_manifest
from adjudge.engines.part import cut
from adjudge.engines.remote import Piece, Sampling, Sent, Source, Stored

_MOST = 8_000_000  # judgments in a part at most
_SPARE = 4  # parts a process, so that one that joins can take some over


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Judgments and where they are cut: part n has the items from ``ends[n]`` to ``ends[n + 1]``.

    How many parts there are changes no result: sums are whole numbers.
    """

    judgments: Judgments
    known: NDArray[np.int16] | None  # (item,)
    by_topic: bool
    ends: tuple[int, ...]

    @classmethod
    def of(
        cls,
        judgments: Judgments,
        known: NDArray[np.int16] | None,
        by_topic: bool,
        processes: int,
    ) -> Cuts:
        """Judgments cut into a few parts for each process, with about as many judgments each."""
        count = max(_SPARE * processes, -(-len(judgments) // _MOST))
        ends = even_cuts(judgments.offsets, count)
        folder = folder_of(judgments)
        if folder is not None:
            ends = _on_parts(ends, read_manifest(folder))
        return cls(judgments, known, by_topic, tuple(ends))

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
        part: Source = Sent(cut(self.judgments, where.start, where.stop))
        folder = folder_of(self.judgments)
        if folder is not None:
            part = Stored(str(folder), where.start, where.stop, self.judgments.scale)
        known = None if self.known is None else self.known[where]
        return Piece(number, where.start, part, known, self.by_topic, sampling)


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
