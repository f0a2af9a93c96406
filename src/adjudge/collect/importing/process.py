"""Reading files in a process of its own, so that whoever asks for it can do other things meanwhile.

``python -m adjudge.collect.importing.process`` takes what ``ask`` writes to it and answers with
what ``hear`` reads: items and gold in small pieces, since reading a large one would block.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import traceback
from collections.abc import Iterable
from dataclasses import replace
from typing import IO, Any

from adjudge.collect import importing
from adjudge.collect.importing._preview import Preview
from adjudge.collect.importing._upload import ImportLimits, Upload
from adjudge.errors import BadData

_LARGE = 1_000_000  # bytes that are read without anybody noticing
_PIECE = 500  # items, or gold
_MEMORY = 2_000_000_000  # bytes for the interpreter and its libraries, and what is known
_TIMES = 30  # times the largest upload, as well: readers keep to ten times what they read


def is_large(files: Iterable[Upload], limits: ImportLimits) -> bool:
    """Whether reading the files, unpacked, may take long."""
    sizes = (len(file.body) * (limits.ratio if file.is_packed else 1) for file in files)
    return sum(sizes) > _LARGE


def ask(child: IO[bytes], files: Iterable[Upload], settings: dict[str, Any]) -> None:
    """Send the files to the process, and how they are to be read (see ``importing.read``)."""
    pickle.dump((list(files), settings), child)
    child.close()


def hear(child: IO[bytes]) -> Preview:
    """What the process found; EOFError where it ended before it could say it."""
    many: dict[str, list[Any]] = {"items": [], "golds": []}
    while not isinstance(found := pickle.load(child), Preview | str):  # noqa: S301 - ours
        name, piece = found
        many[name] += piece
    if isinstance(found, str):
        raise RuntimeError(f"a reader of files failed:\n{found}")
    return replace(found, items=tuple(many["items"]), golds=tuple(many["golds"]))


def _answer(parent: IO[bytes], found: Preview) -> None:
    """Send what was found: items and gold in small pieces, and then the rest."""
    for name in ("items", "golds"):
        things = getattr(found, name)
        for at in range(0, len(things), _PIECE):
            pickle.dump((name, things[at : at + _PIECE]), parent)
    pickle.dump(replace(found, items=(), golds=()), parent)


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
    files, settings = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the server
    _limit_memory(settings.get("limits") or ImportLimits())
    with sys.stdout.buffer as parent:
        try:
            try:
                found = importing.read(files, **settings)
            except MemoryError:
                problem = "takes more memory to read than there is"
                fault = BadData(problem, source="what was sent", code="too-large")
                found = Preview(errors=(fault,))
            _answer(parent, found)
        except Exception:  # noqa: BLE001 - whatever it is, it belongs in the log of the server
            pickle.dump(traceback.format_exc(), parent)


if __name__ == "__main__":
    _main()
