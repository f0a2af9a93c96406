"""Engines other than the default one: clusters, checkpoints, and labels in folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli._console import say
from adjudge.cli._fitting import make_engine
from adjudge.cli._results import write_content
from adjudge.errors import BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.cli._options import EngineOptions, Keeping, Reading
    from adjudge.data.consensus import Consensus
    from adjudge.data.formats import Content
    from adjudge.data.formats.format import Options
    from adjudge.data.gold import Gold
    from adjudge.engines.engine import Engine

_ENGINES = ("threads", "dask")
_ROWS = 1_000_000  # labels in a file of a folder


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
def open_engine(place: EngineOptions, keeping: Keeping, threads: int | None) -> Iterator[Engine]:
    """The requested engine; a cluster that was started for it ends with the block."""
    checkpoint: Any = None
    if keeping.checkpoint is not None:
        from adjudge.engines.checkpoint import Checkpoint

        checkpoint = Checkpoint(
            folder=keeping.checkpoint, every=keeping.every, resume=keeping.resume
        )
    elif keeping.resume:
        raise BadSetting("--resume", True, "--checkpoint FOLDER beside it")
    if place.engine == "dask":
        from adjudge.engines.dask import DaskEngine

        with DaskEngine(
            scheduler=place.scheduler, processes=place.workers, checkpoint=checkpoint
        ) as engine:
            found = engine.connection.workers()
            many = "1 process" if len(found) == 1 else f"{len(found):,} processes"
            say(f"dask: {many} at {engine.connection.address}")
            yield engine
        return
    yield replace(make_engine(threads), checkpoint=checkpoint)


def cluster_reader(
    engine: Any, places: list[str], reading: Reading
) -> Callable[[Options], Content] | None:
    """The function that reads the files on the cluster; None unless all are Parquet."""
    from adjudge.data.formats.uris import expand_patterns, is_web, name_of

    read = getattr(engine, "read_parquet", None)
    if read is None or reading.skip_bad_rows or reading.question is not None:
        return None
    files = expand_patterns(places)
    plain = reading.format in (None, "parquet")
    if not plain or any(is_web(p) or not name_of(p).lower().endswith(".parquet") for p in files):
        return None
    return lambda options: read(files, options)


def write_labels(consensus: Consensus, gold: Gold | None, place: Path, to: str | None) -> None:
    """Labels in another format, or as Parquet files in a folder that appears whole."""
    if to is not None:
        from adjudge.data.formats import Content

        content = Content(labels=consensus.labels, scale=consensus.scale, gold=gold)
        write_content(content, place, to)
        return
    import pyarrow.parquet as pq

    from adjudge.data.formats.writing import written_folder

    labels = consensus.labels.drop_columns(["rank"])
    parts = frozenset(path.name for path in place.glob("part-?????.parquet"))
    with written_folder(place, replaces=parts) as folder:
        for number, start in enumerate(range(0, max(len(labels), 1), _ROWS)):
            pq.write_table(labels.slice(start, _ROWS), folder / f"part-{number:05}.parquet")
