"""What a person may name in place of a file: a folder, a pattern, an address, a pipe.

Readers look at a file more than once, so what comes from elsewhere is first kept in a file.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adjudge.cli._console import progress
from adjudge.cli._files import is_here, read_content
from adjudge.errors import BadData

if TYPE_CHECKING:
    from adjudge.cli._options import Reading
    from adjudge.data.runs import Run


@contextmanager
def keep_files(path: Path | list[str]) -> Iterator[list[Path]]:
    """Files that can be read twice: those named, or copies of what comes from elsewhere."""
    from adjudge.data.formats.uris import expand_patterns, fetch_file, is_uri

    with ExitStack() as stack:
        if isinstance(path, Path):
            yield [stack.enter_context(_keep_one(path))]
            return
        found = []
        for place in expand_patterns(path):
            if is_uri(place):
                with show_fetching(place) as on_part:
                    found.append(stack.enter_context(fetch_file(place, progress=on_part)))
            else:
                found.append(stack.enter_context(_keep_one(Path(place))))
        yield found


@contextmanager
def show_fetching(place: str) -> Iterator[Any]:
    """A bar while a file comes from elsewhere: what to call with bytes that came, and all."""
    from adjudge.data.formats.uris import name_of
    from adjudge.models.model import Step

    with progress(f"fetching {name_of(place)}") as on_step:

        def tell(done: int, total: int) -> None:
            if on_step is not None:
                on_step(Step("fetching", done, max(total, done), f"{done / 1e6:,.1f} MB"))

        yield tell


@contextmanager
def _keep_one(path: Path) -> Iterator[Path]:
    """A file that can be read twice: the one named, or a copy of what comes through a pipe."""
    is_input = str(path) == "-"
    if is_here(str(path)):
        yield path
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / ("standard input" if is_input else path.name)
        with copy.open("wb") as file:
            if is_input:
                shutil.copyfileobj(sys.stdin.buffer, file)
            else:
                with path.open("rb") as pipe:
                    shutil.copyfileobj(pipe, file)
        yield copy


def list_files(places: list[str]) -> list[str]:
    """Every file that is named, fits a pattern or stands in a folder, where each counts by itself.

    Hidden files of a folder are left out.
    """
    from adjudge.data.formats.uris import expand_patterns, is_uri

    found: list[str] = []
    for place in expand_patterns(places):
        if not is_uri(place) and Path(place).is_dir():
            inside = sorted(Path(place).iterdir())
            found += [str(p) for p in inside if p.is_file() and not p.name.startswith(".")]
        else:
            found.append(place)
    return found


def place_of(judgments: list[str]) -> str:
    """What the files that were named are called in a message."""
    from adjudge.data.formats.uris import name_of

    return name_of(judgments[0]) if len(judgments) == 1 else f"{len(judgments):,} files"


def fetch_first(command: Callable[..., None]) -> Callable[..., None]:
    """The command on copies of what comes from an address or through a pipe, fetched once.

    For commands that look at their files to know whether these hold judgments or comparisons.
    """

    @wraps(command)
    def run(judgments: list[str], **given: Any) -> None:
        if all(is_here(place) for place in judgments):
            command(judgments, **given)
            return
        with keep_files(judgments) as files:
            command([str(file) for file in files], **given)

    return run


def read_runs(places: list[str], reading: Reading) -> list[Run]:
    """Runs, one a file; what was left out of them is told."""
    from adjudge.data.runs import Run

    runs = []
    for place in list_files(places):
        name = place_of([place])
        content = read_content([place], replace(reading, format="run", question=None), wanted="run")
        if content.run is None:
            raise BadData("there is no run in this file", source=name)
        runs.append(Run.from_table(content.run, source=name))
    return runs
