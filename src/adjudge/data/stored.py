"""Judgments as integers on disk: a folder of plain arrays that are mapped, not read.

    manifest.json           scale, sizes, and the parts with the checksum of each of their files
    offsets.i8              where the judgments of each item begin; one more than there are items
    judge.i4, label.i1      the judgments, grouped by item (label.i2, .i4 where labels are many)
    topic.i4                the topic of each item, if topics are known
    items.ends, items.utf8  names: where each ends, and their text, as Arrow holds a large_string
    judges.*, topics.*      the same; documents.* if they are known
    gold.parquet            gold, if the judgments came with some

Numbers are little-endian. A part is a run of items, written at once and checked at once.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.mapped import even_cuts, map_array, releaser
from adjudge.data.names import Names, as_names
from adjudge.data.scale import Scale
from adjudge.errors import BadData

MANIFEST, GOLD = "manifest.json", "gold.parquet"
_MARK, _VERSION = "adjudge encoded judgments", 1
_BLOCK = 1 << 24  # bytes checked at a time
_PER_PART = 4_000_000  # judgments of a part that is cut from judgments in memory


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredPart:
    """A run of items in the files: which bytes of each file it has, and their checksums."""

    items: tuple[int, int]
    judgments: tuple[int, int]
    spans: dict[str, tuple[int, int]]  # by file: bytes from and to
    checksums: dict[str, int]  # by file: CRC-32


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a folder of encoded judgments says of itself."""

    scale: Scale
    items: int
    judgments: int
    judges: int
    topics: int | None
    documents: bool
    gold: bool
    parts: tuple[_StoredPart, ...]
    checksums: dict[str, int]  # of the files that have no parts

    @property
    def label_file(self) -> str:
        """The file of the labels, by the size of one."""
        return f"label.i{np.dtype(self.scale.label_dtype).itemsize}"

    def check_sizes(self, folder: Path) -> None:
        """Refuse a file that is missing or has not the size that the manifest says."""
        for name, wanted in self._sizes():
            path = folder / name
            found = path.stat().st_size if path.is_file() else -1
            if found != wanted:
                problem = "is not there" if found < 0 else f"has {found:,} bytes; wanted {wanted:,}"
                raise BadData(problem, source=f"{folder.name}/{name}", wanted="a whole file")

    def _sizes(self) -> Iterator[tuple[str, int]]:
        """The files that are to be there, with their sizes as far as parts tell them."""
        if self.parts:
            for name, (_, stop) in self.parts[-1].spans.items():
                yield name, stop

    def check_part(self, folder: Path, number: int, *, names: bool = True) -> None:
        """Refuse a part whose bytes are not those that were written; names may be left out."""
        part = self.parts[number]
        for name, (start, stop) in part.spans.items():
            if not names and name.startswith(("items.", "documents.")):
                continue
            data: Any = map_array(folder / name, np.uint8)
            release = releaser(data)
            checksum = 0
            for at in range(start, stop, _BLOCK):
                end = min(at + _BLOCK, stop)
                checksum = zlib.crc32(data[at:end], checksum)
                if release is not None:
                    release((at, end))
            if checksum != part.checksums[name]:
                first, last = part.items
                raise BadData(
                    f"part {number} of {len(self.parts)} (items {first:,} to {last:,}) is damaged: "
                    f"the checksum of {name} is {checksum:08x}, and was "
                    f"{part.checksums[name]:08x}; "
                    "encode the judgments again, or bring the file back",
                    source=folder.name,
                    wanted="whole files",
                )


class Writer:
    """A folder of encoded judgments in the making: parts are appended, then it is finished."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stack = ExitStack()
        self.files: dict[str, Any] = {}
        self.sizes: dict[str, int] = {}
        self.parts: list[_StoredPart] = []
        self.items = self.judgments = 0

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stack.close()

    def append(self, part: Judgments) -> None:
        """Write the items of a part after those that are there; its judges and topics are all."""
        count, base = part.item_count, self.judgments
        ends = part.offsets[1:] + (base - int(part.offsets[0]))
        label = f"label.i{part.label.dtype.itemsize}"
        pieces: dict[str, list[Any]] = {
            "offsets.i8": [ends] if self.items else [np.array([0]), ends],
            "judge.i4": [part.judge],
            label: [part.label],
            **self._names("items", part.items),
        }
        if part.topic is not None:
            pieces["topic.i4"] = [part.topic]
        if part.documents is not None:
            pieces |= self._names("documents", part.documents)
        spans, checksums = {}, {}
        for name, arrays in pieces.items():
            spans[name], checksums[name] = self._put(name, arrays)
        self.parts.append(
            _StoredPart(
                items=(self.items, self.items + count),
                judgments=(base, base + len(part)),
                spans=spans,
                checksums=checksums,
            )
        )
        self.items, self.judgments = self.items + count, base + len(part)

    def _names(self, name: str, names: Names) -> dict[str, list[Any]]:
        """The pieces of two files that hold names."""
        ends, text = buffers_of(names)
        before = self.sizes.get(f"{name}.utf8", 0)
        shifted = ends[1:] + (before - int(ends[0]))
        first = [] if f"{name}.ends" in self.sizes else [np.array([0])]
        return {
            f"{name}.ends": [*first, shifted],
            f"{name}.utf8": [text[int(ends[0]) : int(ends[-1])]],
        }

    def _put(self, name: str, arrays: list[Any]) -> tuple[tuple[int, int], int]:
        """Append arrays to a file: the bytes they take there, and their checksum."""
        if name not in self.files:
            self.files[name] = self.stack.enter_context((self.folder / name).open("wb"))
            self.sizes[name] = 0
        start, checksum = self.sizes[name], 0
        for array in arrays:
            whole = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
            for at in range(0, len(whole), _BLOCK):
                data: Any = whole[at : at + _BLOCK]
                checksum = zlib.crc32(data, checksum)
                self.files[name].write(data)
            self.sizes[name] += len(whole)
        return (start, self.sizes[name]), checksum

    def finish(
        self, scale: Scale, judges: Names, topics: Names | None, gold: Gold | None = None
    ) -> None:
        """Write names, gold and the manifest, which makes the folder one of judgments."""
        checksums: dict[str, int] = {}
        for name, names in (("judges", judges), ("topics", topics)):
            if names is not None:
                for file, arrays in self._names(name, names).items():
                    checksums[file] = self._put(file, arrays)[1]
        self.stack.close()
        if gold is not None:
            pa.parquet.write_table(gold.to_table(), self.folder / GOLD)
            checksums[GOLD] = zlib.crc32((self.folder / GOLD).read_bytes())
        manifest = {
            "format": _MARK,
            "version": _VERSION,
            "scale": {
                "labels": scale.labels,
                "ordinal": scale.ordinal,
                "truths": scale.truths,
                "truth_of": scale.truth_of,
                "relevant": scale.relevant,
                "grades": scale.grades,
            },
            "items": self.items,
            "judgments": self.judgments,
            "judges": len(judges),
            "topics": None if topics is None else len(topics),
            "documents": "documents.ends" in self.sizes,
            "gold": gold is not None,
            "checksums": checksums,
            "parts": [
                {
                    "items": part.items,
                    "judgments": part.judgments,
                    "spans": part.spans,
                    "checksums": part.checksums,
                }
                for part in self.parts
            ],
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=False)
        (self.folder / MANIFEST).write_text(text, encoding="utf-8")


def buffers_of(names: Names) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Where each name ends and the next begins, and the text that they point into."""
    _, offsets, data = names.buffers()
    ends = np.zeros(1, dtype=np.int64)
    if offsets is not None and len(names):
        ends = np.frombuffer(offsets, dtype=np.int64)[names.offset : names.offset + len(names) + 1]
    return ends, np.frombuffer(data or b"", dtype=np.uint8)


def store(judgments: Judgments, folder: Path, gold: Gold | None = None) -> None:
    """Judgments that are in memory, written as a folder; it has to be there and be empty."""
    ends = even_cuts(judgments.offsets, -(-len(judgments) // _PER_PART) or 1)
    with Writer(folder) as writer:
        for start, stop in pairwise(ends):
            writer.append(judgments.run(start, stop))
        writer.finish(judgments.scale, judgments.judges, judgments.topics, gold)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder, or an error that says what is wrong with it."""
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if told["format"] != _MARK or told["version"] != _VERSION:
            raise BadData(
                f"is {told['format']!r}, version {told['version']}; "
                f"wanted {_MARK!r}, version {_VERSION}",
                source=f"{folder.name}/{MANIFEST}",
            )
        given = told["scale"]
        return Manifest(
            scale=Scale(
                labels=tuple(given["labels"]),
                ordinal=given["ordinal"],
                truths=tuple(given["truths"]),
                truth_of=tuple(given["truth_of"]),
                relevant=tuple(given["relevant"]),
                grades=tuple(given.get("grades", ())),
            ),
            items=told["items"],
            judgments=told["judgments"],
            judges=told["judges"],
            topics=told["topics"],
            documents=told["documents"],
            gold=told["gold"],
            checksums=told["checksums"],
            parts=tuple(
                _StoredPart(
                    items=tuple(part["items"]),
                    judgments=tuple(part["judgments"]),
                    spans={name: tuple(span) for name, span in part["spans"].items()},
                    checksums=part["checksums"],
                )
                for part in told["parts"]
            ),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise BadData(
            f"is no manifest of encoded judgments ({type(fault).__name__}: {fault})",
            source=f"{folder.name}/{MANIFEST}",
            wanted="a folder that 'adjudge encode' wrote",
        ) from None


def open_stored(folder: Path, *, check: bool = True) -> tuple[Judgments, Gold | None]:
    """The judgments of a folder, mapped, with their gold; damage is found and named."""
    if sys.byteorder != "little":
        raise BadData("encoded judgments are little-endian, and this machine is not")
    manifest = read_manifest(folder)
    manifest.check_sizes(folder)
    if check:
        for number in range(len(manifest.parts)):
            manifest.check_part(folder, number)
        for file, wanted in manifest.checksums.items():
            if zlib.crc32((folder / file).read_bytes()) != wanted:
                raise BadData("is damaged: its checksum differs", source=f"{folder.name}/{file}")
    topics = None if manifest.topics is None else _names_in(folder, "topics", manifest.topics)
    judgments = Judgments(
        scale=manifest.scale,
        items=_names_in(folder, "items", manifest.items),
        judges=_names_in(folder, "judges", manifest.judges),
        offsets=map_array(folder / "offsets.i8", np.int64),
        judge=map_array(folder / "judge.i4", np.int32),
        label=map_array(folder / manifest.label_file, manifest.scale.label_dtype),
        topics=topics,
        topic=None if topics is None else map_array(folder / "topic.i4", np.int32),
        documents=_names_in(folder, "documents", manifest.items) if manifest.documents else None,
    )
    gold = None
    if manifest.gold:
        gold = Gold.from_table(pa.parquet.read_table(folder / GOLD), source=folder.name)
    return judgments, gold


def _names_in(folder: Path, name: str, count: int) -> Names:
    """Names mapped from two files."""
    ends, text = (map_array(folder / f"{name}.{kind}", np.uint8) for kind in ("ends", "utf8"))
    if not len(ends) or not count:
        return as_names(pa.array([], pa.large_string()))
    letters = pa.py_buffer(text)
    return pa.LargeStringArray.from_buffers(count, pa.py_buffer(ends), letters)
