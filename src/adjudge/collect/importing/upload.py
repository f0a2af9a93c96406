"""Files as they come in, from disk or from a form, and how much they may hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from adjudge.data.formats.opening import File
from adjudge.errors import BadData


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLimits:
    """How much an import may hold; an upload from a browser gets less than a file on disk."""

    bytes: int = 20_000_000  # of all files together, unpacked
    rows: int = 200_000
    field: int = 100_000  # characters of one cell
    files: int = 1_000  # of an archive
    ratio: int = 200  # of what a packed file unpacks to and its size, above a megabyte
    columns: int = 1_000  # of a table
    errors: int = 100  # kept; the rest is counted

    @property
    def lines(self) -> int:
        """Lines of one file: more than any file of that size has that is worth reading."""
        return max(1_000_000, self.bytes // 20)

    @property
    def line(self) -> int:
        """Characters of a line of a table: every field as long as it may be."""
        return 20 * self.field


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One file: its name, with folders where it stood in one, and what is in it."""

    name: str
    body: bytes

    @property
    def base(self) -> str:
        """The name without folders and without .gz or .bz2."""
        name = PurePosixPath(self.name).name
        return name.removesuffix(".gz").removesuffix(".bz2")

    @property
    def suffix(self) -> str:
        """``.csv`` and the like, in small letters."""
        return PurePosixPath(self.base).suffix.lower()

    def text(self) -> str:
        """The file as text; a byte that is none is named by its line."""
        try:
            return self.body.decode().removeprefix("\ufeff")
        except UnicodeDecodeError as fault:
            if b"\0" in self.body:
                raise BadData(
                    "is no text in UTF-8; wanted a table such as a spreadsheet saves as CSV UTF-8",
                    source=self.name,
                    wanted="UTF-8",
                ) from None
            raise BadData(
                f"byte 0x{self.body[fault.start]:02x} is not UTF-8; wanted UTF-8 (CSV UTF-8 in the "
                "list where a spreadsheet saves)",
                source=self.name,
                line=self.body.count(b"\n", 0, fault.start) + 1,
                wanted="UTF-8",
            ) from None

    def file(self) -> File:
        """The file as the readers of formats take it, once it is known to be text."""
        self.text()
        return File.of(self.name, self.body)


def from_paths(paths: Iterable[Path], limits: ImportLimits) -> list[Upload]:
    """Files on disk, and the files in folders."""
    found: list[Upload] = []
    for path in paths:
        if not path.exists():
            raise BadData("there is no such file", source=str(path), wanted="a file or folder")
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file())
        for file in files:
            check_size(file.name, file.stat().st_size, limits)
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            found.append(Upload(name=name, body=file.read_bytes()))
    return found


def check_size(name: str, size: int, limits: ImportLimits) -> None:
    """Refuse a file that is larger than all files together may be."""
    if size > limits.bytes:
        raise BadData(
            f"is larger than the limit of {limits.bytes:,} bytes",
            source=name,
            wanted="a smaller file",
        )
