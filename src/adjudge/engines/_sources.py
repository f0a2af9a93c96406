"""Judgments as integers, all of them or a part, and where a process of a cluster finds a part."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.data.mapped import map_array
from adjudge.data.scale import Scale
from adjudge.data.stored import read_manifest
from adjudge.engines._shared import Window


class Coded(Protocol):
    """Judgments as integers grouped by item, all of them or a part: what a sweep has to know."""

    @property
    def scale(self) -> Scale:
        """The labels and the truths."""

    @property
    def offsets(self) -> NDArray[np.int64]:  # (item + 1,)
        """Where the judgments of each item begin and end."""

    @property
    def judge(self) -> NDArray[np.int32]:  # (judgment,)
        """Who gave each judgment."""

    @property
    def label(self) -> NDArray[np.signedinteger]:  # (judgment,)
        """The label of each judgment."""

    @property
    def topic(self) -> NDArray[np.int32] | None:  # (item,)
        """The topic of each item, where topics are known."""

    @property
    def item_count(self) -> int:
        """How many items there are, judged or not."""

    @property
    def judge_count(self) -> int:
        """How many judges there are."""

    @property
    def topic_count(self) -> int:
        """How many topics there are."""

    @property
    def counts_per_item(self) -> NDArray[np.int64]:  # (item,)
        """How many judgments each item has."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Slice:
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


def cut(judgments: Coded, start: int, stop: int) -> _Slice:
    """The judgments of the items from ``start`` to ``stop``; judges and labels are not copied."""
    first, last = int(judgments.offsets[start]), int(judgments.offsets[stop])
    topic = judgments.topic
    return _Slice(
        scale=judgments.scale,
        offsets=judgments.offsets[start : stop + 1] - first,
        judge=judgments.judge[first:last],
        label=judgments.label[first:last],
        topic=None if topic is None else topic[start:stop],
        judge_count=judgments.judge_count,
        topic_count=judgments.topic_count,
    )


class PartSource(Protocol):
    """Where the judgments of a part come from."""

    def open(self) -> Coded:
        """The judgments, as integers."""


@dataclass(frozen=True, slots=True, eq=False)
class SentPart:
    """Judgments that came with the message."""

    judgments: _Slice

    def open(self) -> Coded:
        """The judgments in memory of their own: what a message brings is read-only."""
        given = self.judgments
        return _Slice(
            scale=given.scale,
            offsets=given.offsets.copy(),
            judge=given.judge.copy(),
            label=given.label.copy(),
            topic=None if given.topic is None else given.topic.copy(),
            judge_count=given.judge_count,
            topic_count=given.topic_count,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Lent:
    """Judgments in the memory of the one who asks, shared with processes of their machine."""

    offsets: Window  # (item + 1,) of all items
    judge: Window  # (judgment,)
    label: Window  # (judgment,)
    topic: Window | None  # (item,)
    start: int  # item
    stop: int
    scale: Scale
    judge_count: int
    topic_count: int

    def open(self) -> Coded:
        """The judgments as they lie there."""
        offsets = _reached(self.offsets)[self.start : self.stop + 1]
        rows = slice(int(offsets[0]), int(offsets[-1]))
        topic = None if self.topic is None else _reached(self.topic)[self.start : self.stop]
        return _Slice(
            scale=self.scale,
            offsets=offsets - offsets[0],
            judge=_reached(self.judge)[rows],
            label=_reached(self.label)[rows],
            topic=topic,
            judge_count=self.judge_count,
            topic_count=self.topic_count,
        )


def _reached(window: Window) -> NDArray[Any]:
    array = window.open()
    if array is None:
        raise RuntimeError("the judgments are shared on another machine than this process runs on")
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """Judgments in a folder that every process can read: see ``adjudge.data.stored``.

    ``checked`` says that whoever asks has found them whole, on this very machine: they are then
    mapped as they are. Elsewhere they are checked, since what was read there need not be what is
    read here, and read into memory, since a folder that is mounted may go away.
    """

    folder: str
    start: int  # item
    stop: int
    scale: Scale
    checked: bool = False

    def open(self) -> Coded:
        """The judgments, mapped, or checked and read into memory."""
        folder = Path(self.folder)
        manifest = read_manifest(folder)
        manifest.check_sizes(folder)
        if not self.checked:
            for number, part in enumerate(manifest.parts):
                if part.items[0] < self.stop and part.items[1] > self.start:
                    manifest.check_part(folder, number, names=False)
        offsets = map_array(folder / "offsets.i8", np.int64)[self.start : self.stop + 1]
        rows = slice(int(offsets[0]), int(offsets[-1]))
        judge = map_array(folder / "judge.i4", np.int32)[rows]
        label = map_array(folder / manifest.label_file, manifest.scale.label_dtype)[rows]
        topic = None
        if manifest.topics is not None:
            topic = map_array(folder / "topic.i4", np.int32)[self.start : self.stop].copy()
        return _Slice(
            scale=self.scale,
            offsets=offsets - offsets[0],
            judge=judge if self.checked else judge.copy(),
            label=label if self.checked else label.copy(),
            topic=topic,
            judge_count=manifest.judges,
            topic_count=manifest.topics or 0,
        )
