"""Check that a folder has one wheel and one source archive, with the package and nothing else."""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIZE = 2_000_000  # bytes that either may have
_ABOUT = re.compile(
    r"adjudge-[^/]+\.dist-info/(METADATA|WHEEL|RECORD|entry_points\.txt|licenses/LICENSE)"
)
_BESIDES = {"PKG-INFO", "LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml"}


def list_sources() -> set[str]:
    """The files of the package in the working tree, as a wheel names them."""
    source = ROOT / "src"
    files = (path for path in source.rglob("*") if path.is_file())
    return {
        path.relative_to(source).as_posix()
        for path in files
        if "__pycache__" not in path.parts and not path.name.startswith(".")
    }


def main(folder: Path) -> None:
    """Exit with a list of what is missing or too much."""
    (wheel,) = folder.glob("*.whl")
    (archive,) = folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as opened:
        in_wheel = {name for name in opened.namelist() if not _ABOUT.fullmatch(name)}
    with tarfile.open(archive) as opened_archive:
        names = {member.name.partition("/")[2] for member in opened_archive if member.isfile()}
    in_archive = {name.removeprefix("src/") for name in names - _BESIDES - {".gitignore"}}
    expected = list_sources()
    faults = [
        f"{path.name}: {what} {', '.join(sorted(files)[:10])}"
        for path, found in ((wheel, in_wheel), (archive, in_archive))
        for what, files in (("has no", expected - found), ("should not have", found - expected))
        if files
    ]
    faults += [
        f"{path.name}: {path.stat().st_size:,} bytes, more than {SIZE:,}"
        for path in (wheel, archive)
        if path.stat().st_size > SIZE
    ]
    if faults:
        sys.exit("\n".join(faults))
    for path in (wheel, archive):
        print(f"{path.name}: {path.stat().st_size:,} bytes, {len(expected)} files of the package")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
