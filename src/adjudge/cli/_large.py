"""Judgments beyond one plain file and one process: clusters, encoded files, labels in folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adjudge.cli._console import progress, say
from adjudge.cli._files import name_columns
from adjudge.cli._fitting import make_engine
from adjudge.cli._places import show_fetching
from adjudge.cli._results import write_content
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.cli._options import EngineOptions, Keeping, Labelling, Reading
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.engines.encoding import Each
    from adjudge.engines.engine import Engine

_ENGINES = ("threads", "dask")
_PLAIN = ("csv", "tsv", "jsonl", "parquet")


def check_engine(place: EngineOptions, threads: int | None = None) -> None:
    """Refuse options that do not go together, before any work is done."""
    if place.engine not in _ENGINES:
        raise UnknownName("engine", place.engine, _ENGINES)
    if place.engine != "dask":
        for option in ("scheduler", "workers"):
            if getattr(place, option) is not None:
                raise BadSetting(f"--{option}", getattr(place, option), "--engine dask beside it")
    elif threads is not None:
        raise BadSetting("--threads", threads, "--engine threads; a cluster has its own")
    elif place.scheduler is not None and place.workers is not None:
        raise BadSetting("--workers", place.workers, "either --scheduler or --workers")


@contextmanager
def open_engine(
    place: EngineOptions, keeping: Keeping | None = None, threads: int | None = None
) -> Iterator[Engine]:
    """The engine that is asked for; a cluster that was started for it ends with the block."""
    checkpoint: Any = None
    if keeping is not None and keeping.checkpoint is not None:
        from adjudge.engines.checkpoint import Checkpoint

        checkpoint = Checkpoint(
            folder=keeping.checkpoint, every=keeping.every, resume=keeping.resume
        )
    elif keeping is not None and keeping.resume:
        raise BadSetting("--resume", True, "--checkpoint FOLDER beside it")
    if place.engine == "dask":
        from adjudge.engines.dask import DaskEngine

        with DaskEngine(
            scheduler=place.scheduler, processes=place.workers, checkpoint=checkpoint
        ) as engine:
            found = engine.connection.processes()
            many = "1 process" if len(found) == 1 else f"{len(found):,} processes"
            say(f"dask: {many} at {engine.client.scheduler.address}")
            yield engine
        return
    yield replace(make_engine(threads), checkpoint=checkpoint)


def _each_of(engine: Any) -> Each:
    """How the engine makes many calls: on its cluster, or here, one after the other."""
    from adjudge.engines.encoding import here

    each: Each = getattr(engine, "each", here)
    return each


@contextmanager
def open_large(
    places: list[str],
    place: EngineOptions,
    keeping: Keeping,
    labelling: Labelling,
    reading: Reading,
    threads: int | None,
) -> Iterator[tuple[Engine, Path | list[str]]]:
    """The engine that is asked for, and the judgments as it can read them."""
    with (
        open_engine(place, keeping, threads) as engine,
        _open_judgments(places, engine, place, labelling, reading) as file,
    ):
        yield engine, file


@contextmanager
def _open_judgments(
    places: list[str], engine: Engine, place: EngineOptions, labelling: Labelling, reading: Reading
) -> Iterator[Path | list[str]]:
    """The one file named; or, where there are several, a folder that they are encoded into.

    On a cluster even one Parquet or delimited file is encoded, so that its processes can read it.
    """
    from adjudge.data.formats.uris import expand_patterns, fetch_file, is_uri

    far = place.engine == "dask" and place.scheduler is not None
    if not far and len(places) == 1 and not is_uri(places[0]) and not has_magic(places[0]):
        yield Path(places[0])
        return

    paths = expand_patterns(places)
    if not far and len(paths) > 1 and (says_how(reading) or not is_plain(paths[0], reading)):
        yield paths  # read one by one and joined in memory
        return
    if len(paths) == 1 and (not far or not is_plain(paths[0], reading)):
        with ExitStack() as stack:
            with show_fetching(paths[0]) as on_part:
                file = stack.enter_context(fetch_file(paths[0], place.scratch, on_part))
            yield file
        return
    with ExitStack() as stack:
        scratch = place.scratch
        if scratch is None and far:
            raise BadSetting("--scratch", None, "a folder that all workers of the cluster can see")
        if scratch is not None and not scratch.is_dir():
            raise BadData("there is no such folder to write into", source=str(scratch))
        folder = stack.enter_context(TemporaryDirectory(prefix="adjudge-", dir=scratch))
        made = Path(folder) / "judgments.adjudge"
        made.mkdir()
        encode_into(made, paths, engine, labelling, reading)
        yield made


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


def says_how(reading: Reading) -> bool:
    """Whether a person says how to read rows, which is not for files that are encoded."""
    return bool(name_columns(reading)) or reading.no_header or reading.skip_bad_rows


@contextmanager
def _fetch_web(places: list[str]) -> Iterator[list[str]]:
    """The places, those of the Web copied here for the block: Arrow has no file system for it."""
    from adjudge.data.formats.uris import fetch_file, is_web

    with ExitStack() as stack:
        found = []
        for place in places:
            if is_web(place):
                with show_fetching(place) as on_part:
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
    with _fetch_web(paths) as files, progress("encoding") as on_step:

        def tell(stage: str, done: int, total: int) -> None:
            if on_step is not None:
                on_step(Step(stage, done, total, stage))

        made = encode_files(
            files, folder, options, each=_each_of(engine), rows=rows or ROWS, progress=tell
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


def write_labels(
    consensus: Consensus, gold: Gold | None, place: Path, to: str | None, engine: Engine
) -> None:
    """Labels in another format, or as Parquet files in a folder that appears whole."""
    if to is not None:
        from adjudge.data.formats import Content

        content = Content(labels=consensus.labels, scale=consensus.scale, gold=gold)
        write_content(content, place, to)
        return
    from adjudge.data.formats.writing import written_folder
    from adjudge.engines.output import write_parts

    parts = frozenset(path.name for path in place.glob("part-?????.parquet"))
    with written_folder(place, replaces=parts) as folder:
        write_parts(consensus, folder, _each_of(engine))
