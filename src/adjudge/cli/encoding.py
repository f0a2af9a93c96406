"""Plain files taken together: encoded into a folder before a fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.cli.console import progress, say
from adjudge.cli.engines import each_of
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.cli.options import Labelling, Reading
    from adjudge.engines.engine import Engine

_PLAIN = ("csv", "tsv", "jsonl", "parquet")


def is_plain(place: str, reading: Reading) -> bool:
    """Whether a file can be read a few rows at a time; a URI is judged by its ending."""
    from adjudge.data.formats import detect
    from adjudge.data.formats.uris import is_uri, name_of

    if is_uri(place):
        ending = name_of(place).lower().removesuffix(".gz").removesuffix(".bz2").rpartition(".")[2]
        return (reading.format or ending) in _PLAIN
    path = Path(place)
    if place == "-" or not path.is_file():
        return False
    name = reading.format or detect(path, encoding=reading.encoding).name
    return name in _PLAIN


def is_told(reading: Reading) -> bool:
    """Whether a person says how to read rows, which is not for files that are encoded."""
    from adjudge.cli.reading import columns_named

    return bool(columns_named(reading)) or reading.no_header or reading.skip_bad_rows


@contextmanager
def _fetched(places: list[str]) -> Iterator[list[str]]:
    """The places, those of the Web copied here for the block: Arrow has no file system for it."""
    from adjudge.cli.reading import fetching
    from adjudge.data.formats.uris import fetch_file, is_web

    with ExitStack() as stack:
        found = []
        for place in places:
            if is_web(place):
                with fetching(place) as on_part:
                    found.append(str(stack.enter_context(fetch_file(place, progress=on_part))))
            else:
                found.append(place)
        yield found


def encode_into(
    folder: Path,
    paths: list[str],
    engine: Engine | None,
    labelling: Labelling,
    reading: Reading,
    rows: int | None = None,
) -> None:
    """Encode plain files into a folder; what was made, and what left out, is told."""
    from adjudge.data.formats.format import Options
    from adjudge.data.formats.uris import name_of
    from adjudge.data.scale import Scale
    from adjudge.engines.encoding import ROWS, encode_files
    from adjudge.models.model import Step

    for path in paths:
        if not is_plain(path, reading):
            raise BadData(
                f"is not among {', '.join(_PLAIN)}; only these can be taken together",
                source=name_of(path),
            )
    if reading.skip_bad_rows:
        raise BadSetting(
            "--skip-bad-rows", True, "one file; 'adjudge convert' leaves out the bad rows of each"
        )
    scale = None
    if labelling.labels is not None:
        scale = Scale.parse(labelling.labels, relevant=labelling.named_relevant)
    options = Options(scale=scale, encoding=reading.encoding)
    with _fetched(paths) as files, progress("encoding") as on_step:

        def tell(stage: str, done: int, total: int) -> None:
            if on_step is not None:
                on_step(Step(stage, done, total, stage))

        made = encode_files(
            files, folder, options, each=each_of(engine), rows=rows or ROWS, progress=tell
        )
    called = name_of(paths[0]) if len(paths) == 1 else f"{len(paths):,} files"
    for note in made.notes:
        say(f"{called}: {note}")
    say(
        f"encoded: {count_of(made.judgments, 'judgment')} of {count_of(made.items, 'item')} "
        f"by {count_of(made.judges, 'judge')}, in {count_of(made.buckets, 'part')}"
    )
    if made.left_out:
        say(f"  left out: {', '.join(made.left_out)}")
