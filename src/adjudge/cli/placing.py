"""What commands that may run on a cluster share: the engine, and files encoded before a fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adjudge.cli.console import count, progress, say
from adjudge.errors import BadData, BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.cli.options import Keeping, Labelling, Place, Reading
    from adjudge.engines.encoding import Each
    from adjudge.engines.engine import Engine

_ENGINES = ("threads", "dask")
_PLAIN = ("csv", "tsv", "jsonl", "parquet")


def check_place(place: Place, threads: int | None = None) -> None:
    """Complain of options that do not go together, before any work is done."""
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
def engine_at(
    place: Place, keeping: Keeping | None = None, threads: int | None = None
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


def local_paths(places: list[str]) -> list[Path]:
    """The places that are paths of this machine, not URIs."""
    from adjudge.data.formats.uris import is_uri

    return [Path(place) for place in places if not is_uri(place)]


@contextmanager
def one_file(
    places: list[str], engine: Engine, place: Place, labelling: Labelling, reading: Reading
) -> Iterator[Path]:
    """The one file named; or, where there are several, a folder that they are encoded into.

    On a cluster even one Parquet or delimited file is encoded, so that its processes can read it.
    """
    from adjudge.data.formats.uris import expanded, fetched

    paths = expanded(places)
    far = place.engine == "dask" and place.scheduler is not None
    if len(paths) == 1 and (not far or not is_plain(paths[0], reading)):
        with fetched(paths[0], place.scratch) as file:
            yield file
        return
    with ExitStack() as stack:
        room = place.scratch
        if room is None and far:
            raise BadSetting("--scratch", None, "a folder that all workers of the cluster can see")
        if room is not None and not room.is_dir():
            raise BadData("there is no such folder to write into", source=str(room))
        folder = stack.enter_context(TemporaryDirectory(prefix="adjudge-", dir=room))
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
    with progress("encoding") as on_step:

        def tell(stage: str, done: int, total: int) -> None:
            if on_step is not None:
                on_step(Step(stage, done, total, stage))

        made = encode_files(
            paths, folder, options, each=each_of(engine), rows=rows or ROWS, progress=tell
        )
    say(
        f"encoded: {count(made.judgments, 'judgment')} of {count(made.items, 'item')} "
        f"by {count(made.judges, 'judge')}, in {count(made.buckets, 'part')}"
    )
    if made.left_out:
        say(f"  left out: {', '.join(made.left_out)}")
