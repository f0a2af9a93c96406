"""Reading files in a process of its own, so that whoever asks for it can do other things meanwhile.

``python -m adjudge.collect.importing.beside`` takes what ``ask`` writes to it and answers with what
``hear`` reads: items and gold in small pieces, since a large one would be taken in without a pause.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import IO, Any

from adjudge.collect import importing
from adjudge.collect.importing._preview import Preview
from adjudge.collect.importing._upload import ImportLimits, Upload
from adjudge.errors import BadData

_LARGE = 1_000_000  # bytes that are read without anybody noticing
_PIECE = 500  # items, or gold
_MANY = ("known", "topics")  # of what is to be known, as many as there are items
_MEMORY = 2_000_000_000  # bytes for the interpreter and its libraries, and what is known
_TIMES = 30  # the largest upload, beside it: readers keep to ten times what they read


def is_large(files: Iterable[Upload], limits: ImportLimits) -> bool:
    """Whether reading the files, unpacked, may take long."""
    sizes = (len(file.body) * (limits.ratio if file.is_packed else 1) for file in files)
    return sum(sizes) > _LARGE


def ask(child: IO[bytes], files: Iterable[Upload], wanted: dict[str, Any]) -> None:
    """Send the files to the process, and how they are to be read (see ``importing.read``).

    What is large goes in small pieces.
    """
    sent = {name: list(wanted.get(name) or ()) for name in _MANY}
    sent["topics"] = list((wanted.get("topics") or {}).items())
    counts = {name: len(values) for name, values in sent.items()}
    rest = {name: value for name, value in wanted.items() if name not in _MANY}
    pickle.dump((rest, counts), child)
    for values in sent.values():
        for at in range(0, len(values), _PIECE):
            pickle.dump(values[at : at + _PIECE], child)
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
    wanted, counts = pickle.load(parent)  # noqa: S301 - from the process that began this one
    taken: dict[str, list[Any]] = {name: [] for name in _MANY}
    for name, count in counts.items():
        while len(taken[name]) < count:
            taken[name] += pickle.load(parent)  # noqa: S301
    wanted |= {"known": frozenset(taken["known"]), "topics": dict(taken["topics"])}
    return list(_take_files(parent)), wanted


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


def _limit_memory(limits: ImportLimits) -> None:
    """Let this process take no more memory than reading an upload ever should.

    Whatever a file does to a reader, it is the reader that ends, and not the server.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # not on every system

        most = _MEMORY + _TIMES * limits.bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _main() -> None:
    """Read what the process that began this one sends."""
    if hasattr(os, "nice"):
        os.nice(5)  # judges come first
    files, wanted = _take(sys.stdin.buffer)
    _limit_memory(wanted.get("limits") or ImportLimits())
    with sys.stdout.buffer as parent:
        try:
            try:
                found = importing.read(files, **wanted)
            except MemoryError:
                fault = BadData("takes more memory to read than there is", source="what was sent")
                found = Preview(errors=(fault,))
            _say(parent, found)
        except Exception:  # noqa: BLE001 - whatever it is, it is told where there is a log
            pickle.dump(("fault", traceback.format_exc()), parent)


if __name__ == "__main__":
    _main()
