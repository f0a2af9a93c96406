"""Reading files in a process of its own, so that whoever asks for it can do other things meanwhile.

``python -m adjudge.collect.importing.beside`` takes what ``ask`` writes to it and answers with what
``hear`` reads: items and gold in small pieces, since a large one would be taken in without a pause.
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import IO, Any

from adjudge.collect import importing
from adjudge.collect.importing.preview import Preview
from adjudge.collect.importing.unpacking import is_packed
from adjudge.collect.importing.upload import ImportLimits, Upload
from adjudge.data.scale import Scale

_LARGE = 1_000_000  # bytes that are read without anybody noticing
_PIECE = 500  # items, or gold


def is_large(files: Iterable[Upload], limits: ImportLimits) -> bool:
    """Whether reading the files, unpacked, may take long."""
    sizes = (len(file.body) * (limits.ratio if is_packed(file) else 1) for file in files)
    return sum(sizes) > _LARGE


def ask(
    child: IO[bytes],
    files: Iterable[Upload],
    scale: Scale,
    known: frozenset[str],
    limits: ImportLimits,
) -> None:
    """Send the files to the process."""
    names = list(known)
    pickle.dump((scale, len(names), limits), child)
    for at in range(0, len(names), _PIECE):
        pickle.dump(names[at : at + _PIECE], child)
    for file in files:
        pickle.dump(file, child)
    child.close()


def hear(child: IO[bytes]) -> Preview:
    """What the process found; EOFError where it ended before it could say it."""
    items: list[Any] = []
    golds: list[Any] = []
    while True:
        kind, piece = pickle.load(child)  # noqa: S301 - from a process of ours
        if kind == "items":
            items += piece
        elif kind == "golds":
            golds += piece
        elif kind == "fault":
            raise RuntimeError(f"a reader of files failed:\n{piece}")
        else:
            found: Preview = piece
            return replace(found, items=tuple(items), golds=tuple(golds))


def _take(parent: IO[bytes]) -> tuple[list[Upload], dict[str, Any]]:
    """What ``ask`` sent: the files, and how they are to be read."""
    scale, count, limits = pickle.load(parent)  # noqa: S301 - from the process that began this one
    known: set[str] = set()
    while len(known) < count:
        known.update(pickle.load(parent))  # noqa: S301
    files = list(_take_files(parent))
    return files, {"scale": scale, "known": frozenset(known), "limits": limits}


def _take_files(parent: IO[bytes]) -> Iterator[Upload]:
    while True:
        try:
            yield pickle.load(parent)  # noqa: S301
        except EOFError:
            return


def _say(parent: IO[bytes], found: Preview) -> None:
    for kind, things in (("items", found.items), ("golds", found.golds)):
        for at in range(0, len(things), _PIECE):
            pickle.dump((kind, things[at : at + _PIECE]), parent)
    pickle.dump(("rest", replace(found, items=(), golds=())), parent)


def main() -> None:
    """Read what the process that began this one sends."""
    if hasattr(os, "nice"):
        os.nice(5)  # judges come first
    files, wanted = _take(sys.stdin.buffer)
    with sys.stdout.buffer as parent:
        try:
            _say(parent, importing.read(files, **wanted))
        except Exception:  # noqa: BLE001 - whatever it is, it is told where there is a log
            pickle.dump(("fault", traceback.format_exc()), parent)


if __name__ == "__main__":
    main()
