"""What commands that may run on a cluster share: the engine, and files encoded before a fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from glob import has_magic
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adjudge.cli.console import say
from adjudge.data.formats.opening import is_uri
from adjudge.errors import BadData, BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.cli.options import EngineOptions, Keeping, Labelling, Reading
    from adjudge.engines.encoding import Each
    from adjudge.engines.engine import Engine

_ENGINES = ("threads", "dask")


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
    from adjudge.engines.threads import ThreadsEngine, usable_cores

    yield ThreadsEngine(threads=threads or usable_cores(), checkpoint=checkpoint)


def each_of(engine: Any) -> Each:
    """How the engine makes many calls: on its cluster, or here, one after the other."""
    from adjudge.engines.encoding import here

    each: Each = getattr(engine, "each", here)
    return each


@contextmanager
def one_file(
    places: list[str], engine: Engine, place: EngineOptions, labelling: Labelling, reading: Reading
) -> Iterator[Path | list[str]]:
    """The one file named; or, where there are several, a folder that they are encoded into.

    On a cluster even one Parquet or delimited file is encoded, so that its processes can read it.
    """
    far = place.engine == "dask" and place.scheduler is not None
    if not far and len(places) == 1 and not is_uri(places[0]) and not has_magic(places[0]):
        yield Path(places[0])
        return
    from adjudge.cli.encoding import encode_into, is_plain, is_told
    from adjudge.cli.reading import fetching
    from adjudge.data.formats.uris import expand_patterns, fetch_file

    paths = expand_patterns(places)
    if not far and len(paths) > 1 and (is_told(reading) or not is_plain(paths[0], reading)):
        yield paths  # read one by one and joined in memory
        return
    if len(paths) == 1 and (not far or not is_plain(paths[0], reading)):
        with ExitStack() as stack:
            with fetching(paths[0]) as on_part:
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
