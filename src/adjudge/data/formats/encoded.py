"""Encoded judgments: the folder that ``adjudge encode`` writes, mapped into memory.

What the folder holds is drawn in ``adjudge.data.stored``.
"""

from __future__ import annotations

from pathlib import Path

from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.writing import written_folder
from adjudge.data.stored import GOLD, MANIFEST, open_stored, store

_LABELS = ("label.i1", "label.i2", "label.i4")
_NAMES = ("items", "judges", "topics", "documents")
_TEXTS = tuple(f"{name}.{kind}" for name in _NAMES for kind in ("ends", "utf8"))
FILES = frozenset((MANIFEST, GOLD, "offsets.i8", "judge.i4", "topic.i4", *_LABELS, *_TEXTS))


def _read(file: File, options: Options) -> Content:
    """The judgments, mapped; every part is checked, and a damaged one is named."""
    judgments, gold = open_stored(file.path)
    if options.scale is not None:
        judgments = judgments.with_scale(options.scale)
    return Content(judgments=judgments, gold=gold)


def _write_folder(content: Content, path: Path) -> None:
    """Judgments and their gold as a folder that appears whole or not at all."""
    judgments = content.need("judgments", "encoded")
    with written_folder(path, replaces=FILES) as folder:
        store(judgments, folder, content.gold)


FORMATS = (
    Format(
        name="encoded",
        title="encoded judgments: a folder of integers that is mapped, for files beyond memory",
        reads=("judgments",),
        writes=("judgments",),
        extension=".adjudge",
        read=_read,
        write_folder=_write_folder,
    ),
)
