"""Files that are not in a folder of this machine: named by a URI that Arrow has a file system for.

``s3://bucket/folder/*.parquet``, ``gs://...``, ``hdfs://...``, ``file:///folder/x.csv``: what
``pyarrow.fs.FileSystem.from_uri`` takes, options after a question mark included, with ``*`` for any
letters of a name and ``**`` for folders too. A file is copied to this machine before it is read,
since readers look at a file more than once.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from glob import glob, has_magic
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.fs

from adjudge.data.formats.opening import is_uri as is_uri  # noqa: PLC0414 - part of it
from adjudge.errors import BadData

_BLOCK = 1 << 22  # bytes copied at a time
_WEB_BLOCK = 1 << 18
_FETCHED = 2_000_000_000  # bytes that are fetched from the Web at most
_PATIENCE = 30.0  # seconds without a byte


def _hide_key(uri: str) -> str:
    """A URI as it may be printed: without a key in it, and without options."""
    return _hide_keys(uri.partition("?")[0])


def _hide_keys(text: str) -> str:
    """A text without the keys of the URIs in it: Arrow's errors repeat what they were given."""
    return re.sub(r"//[^/@\s]*@", "//", text)


def name_of(place: str) -> str:
    """The last part of a path or a URI."""
    return unquote(PurePosixPath(_hide_key(place)).name) if is_uri(place) else Path(place).name


def expand_patterns(places: Iterable[str]) -> list[str]:
    """Places with every pattern replaced by the files that fit it, in the order of their names.

    A pattern in a path is for those whose shell has not replaced it.
    """
    found: list[str] = []
    for place in places:
        if is_uri(place):
            found += _fitting(place) if "*" in place.partition("?")[0] else [place]
        elif has_magic(place) and not Path(place).exists():
            found += sorted(glob(place, recursive=True)) or _nothing(place)
        else:
            found.append(place)
    return found


def _nothing(place: str) -> list[str]:
    name = _hide_key(place)
    raise BadData.at(name, "missing-file", "no file fits this pattern")


def _fitting(uri: str) -> list[str]:
    """Return the files that fit a pattern, as URIs."""
    plain, mark, options = uri.partition("?")
    above = plain[: plain.index("*")].rindex("/")
    folder, pattern = plain[:above], unquote(plain[above + 1 :])
    system, path = _system(folder + mark + options, uri)
    with _explain_faults(uri):
        files = system.get_file_info(pa.fs.FileSelector(path, recursive="/" in pattern))
    root = path.rstrip("/") + "/"
    names = [file.path[len(root) :] for file in files if file.type == pa.fs.FileType.File]
    fit = sorted(filter(_as_regex(pattern).fullmatch, names))
    return [f"{folder}/{quote(name)}{mark}{options}" for name in fit] or _nothing(uri)


def _as_regex(pattern: str) -> re.Pattern[str]:
    """Return what fits a pattern: ``*`` matches letters of a name, ``**/`` for any folders."""
    parts = {"**/": "(?:.*/)?", "*": "[^/]*"}
    pieces = re.split(r"(\*\*/|\*)", pattern)
    return re.compile("".join(parts.get(piece, re.escape(piece)) for piece in pieces))


def _system(uri: str, named: str) -> tuple[Any, str]:
    """The file system of a URI, and the path there."""
    with _explain_faults(named):
        system, path = pa.fs.FileSystem.from_uri(uri)
        return system, path


@contextmanager
def _explain_faults(uri: str) -> Iterator[None]:
    """Raise what Arrow says against a URI as an error that names the file."""
    try:
        yield
    except (OSError, ValueError, HTTPException, pa.ArrowException) as fault:
        if isinstance(fault, HTTPError):
            fault.close()
        reason, _, _ = _hide_keys(str(fault)).partition("\n")
        raise BadData.at(_hide_key(uri), "unreadable-file", f"cannot be read ({reason})") from None


def is_web(place: str) -> bool:
    """Whether a place is an address of the Web."""
    return place.startswith(("http://", "https://"))


@contextmanager
def local_files(places: Iterable[str | Path]) -> Iterator[list[Path]]:
    """Every file that is named or fits a pattern, those from elsewhere copied for the block."""
    with ExitStack() as stack:
        found = expand_patterns(str(place) for place in places)
        yield [stack.enter_context(fetch_file(place)) for place in found]


@contextmanager
def fetch_file(place: str, progress: Callable[[int, int], None] | None = None) -> Iterator[Path]:
    """A file as a path on this machine: itself, or a copy for the block."""
    if not is_uri(place):
        yield Path(place)
        return
    with TemporaryDirectory(prefix="adjudge-") as folder:
        copy = Path(folder) / (name_of(place) or "download")
        with _explain_faults(place), copy.open("wb") as file:
            if is_web(place):
                _copy_from_web(place, file, progress)
            else:
                system, path = _system(place, place)
                with system.open_input_stream(path, compression=None) as source:
                    shutil.copyfileobj(source, file, _BLOCK)
        yield copy


def _copy_from_web(
    place: str, file: IO[bytes], progress: Callable[[int, int], None] | None
) -> None:
    """Copy a file of the Web, unless it is larger than the limit."""
    from urllib.request import Request, urlopen

    limit, done = _limit(), 0
    request = Request(place, headers={"User-Agent": "adjudge"})  # noqa: S310 - http(s) only
    with urlopen(request, timeout=_PATIENCE) as source:  # noqa: S310
        total = int(source.headers.get("Content-Length") or 0)
        while block := source.read(_WEB_BLOCK):
            done += len(block)
            if max(done, total) > limit:
                problem = f"is larger than {limit / 1e6:,.0f} MB, the limit of ADJUDGE_FETCH_MB"
                raise BadData.at(_hide_key(place), "too-large", problem)
            file.write(block)
            if progress is not None:
                progress(done, total)


def _limit() -> int:
    """The most bytes that are fetched from the Web."""
    given = os.environ.get("ADJUDGE_FETCH_MB", "")
    return int(given) * 1_000_000 if given.isdecimal() else _FETCHED


def open_uri(place: str) -> Any:
    """A file of a URI to read from here and there, as Arrow's file system opens it."""
    system, path = _system(place, place)
    with _explain_faults(place):
        return system.open_input_file(path)
