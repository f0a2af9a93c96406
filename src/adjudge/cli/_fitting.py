"""A model built from options, the engine that it is fitted on, and a fit that says what it did."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from adjudge.cli._console import describe_size, detail, labels_of, progress, say, tell_if_cold, warn
from adjudge.errors import BadSetting, Caution, UnknownName

if TYPE_CHECKING:
    from adjudge.cli._options import Fitting, NumberReading, Reading, Running
    from adjudge.data.consensus import Consensus
    from adjudge.data.formats import Content
    from adjudge.data.formats.format import Options
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.engines.engine import Engine
    from adjudge.engines.threads import ThreadsEngine
    from adjudge.models.model import Model

_ENGINES = ("threads", "dask")


def build_model(fitting: Fitting) -> Model:
    """Build the chosen model; a setting that it does not have is an error."""
    from adjudge.models.registry import DEFAULT, MODELS, model

    name = fitting.model or DEFAULT
    if name not in MODELS:
        raise UnknownName("model", name, MODELS)
    return model(name, **read_settings(fitting, MODELS[name]))


def choose_model(
    fitting: Fitting, reading: NumberReading
) -> tuple[Fitting, NumberReading, Model | None]:
    """Return options and the chosen model, None where labels are numbers."""
    if fitting.model == "continuous":
        fitting, reading = replace(fitting, model=None), replace(reading, continuous=True)
    return fitting, reading, None if reading.continuous else build_model(fitting)


def are_numbers(judgments: Judgments, reading: NumberReading, fitting: Fitting) -> bool:
    """Return whether there are so many labels that they are numbers, unless an option decides."""
    asked = reading.continuous is not None or fitting.model is not None
    return not asked and judgments.scale.has_many_grades and reading.labels is None


def read_settings(fitting: Fitting, kind: Any, such_as: str = "diagonal=5") -> dict[str, Any]:
    """Return the settings that options name; one that the model does not have is an error."""
    hints = get_type_hints(kind)
    own = [entry.name for entry in fields(kind)]
    chosen: dict[str, Any] = {"seed": fitting.seed} if "seed" in own else {}
    if fitting.by_topic:
        if "by_topic" not in own:
            raise BadSetting("--by-topic", True, f"a model that has it; {kind.name} has not")
        chosen["by_topic"] = True
    for text in fitting.settings or ():
        setting, equals, value = text.partition("=")
        if not equals:
            raise BadSetting("--set", text, f"NAME=VALUE, such as {such_as}")
        if setting not in own:
            raise UnknownName(f"setting of {kind.name}", setting, own)
        chosen[setting] = _parse_value(text, value, hints[setting])
    return chosen


def _parse_value(text: str, value: str, hint: Any) -> object:
    """Return the value of a setting in the type of its hint."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    tuples = any(get_origin(kind) is tuple for kind in kinds)
    if any(get_origin(kind) is Literal and value in get_args(kind) for kind in kinds):
        return value
    try:
        if value[:1] in ("[", "{") and tuples:
            return _make_tuple(json.loads(value))
        if bool in kinds:
            return {"true": True, "false": False}[value.casefold()]
        if int in kinds:
            return int(value)
        if float in kinds:
            return float(value)
        if tuples and str not in kinds:
            return _make_tuple(json.loads(value))
    except (KeyError, ValueError):
        expected = {bool: "true or false", int: "a whole number", float: "a number"}
        raise BadSetting("--set", text, expected.get(kinds[0], "numbers such as [3,1]")) from None
    return value


def _make_tuple(value: Any) -> Any:
    return tuple(_make_tuple(entry) for entry in value) if isinstance(value, list) else value


def make_engine(threads: int | None) -> ThreadsEngine:
    """Return an engine with so many threads."""
    from adjudge.engines.threads import ThreadsEngine

    return ThreadsEngine() if threads is None else ThreadsEngine(threads=threads)


def check_engine(running: Running, threads: int | None) -> None:
    """Refuse options that do not go together, before any work is done."""
    if running.engine not in _ENGINES:
        raise UnknownName("engine", running.engine, _ENGINES)
    if running.resume and running.checkpoint is None:
        raise BadSetting("--resume", True, "--checkpoint FOLDER with it")
    if running.engine != "dask":
        for option in ("scheduler", "workers"):
            if getattr(running, option) is not None:
                raise BadSetting(f"--{option}", getattr(running, option), "--engine dask with it")
    elif threads is not None:
        raise BadSetting("--threads", threads, "--engine threads; a cluster has its own")
    elif running.scheduler is not None and running.workers is not None:
        raise BadSetting("--workers", running.workers, "either --scheduler or --workers")


@contextmanager
def open_engine(running: Running, threads: int | None) -> Iterator[Engine]:
    """Yield the requested engine; a cluster that it started ends with the block."""
    checkpoint: Any = None
    if running.checkpoint is not None:
        from adjudge.engines.checkpoint import Checkpoint

        checkpoint = Checkpoint(
            folder=running.checkpoint, every=running.every, resume=running.resume
        )
    if running.engine != "dask":
        yield replace(make_engine(threads), checkpoint=checkpoint)
        return
    from adjudge.engines.dask import DaskEngine

    with DaskEngine(
        scheduler=running.scheduler, processes=running.workers, checkpoint=checkpoint
    ) as engine:
        found = len(engine.connection.workers())
        many = "1 process" if found == 1 else f"{found:,} processes"
        say(f"dask: {many} at {engine.connection.address}")
        yield engine


def cluster_reader(
    engine: Any, places: list[str], reading: Reading
) -> Callable[[Options], Content] | None:
    """Return the function that reads files on the cluster; None unless all are Parquet."""
    from adjudge.data.formats.uris import expand_patterns, is_web, name_of

    read = getattr(engine, "read_parquet", None)
    if read is None or reading.skip_bad_rows or reading.question is not None:
        return None
    files = expand_patterns(places)
    plain = reading.format in (None, "parquet")
    if not plain or any(is_web(p) or not name_of(p).lower().endswith(".parquet") for p in files):
        return None
    return lambda options: read(files, options)


def fit_model(
    model: Model,
    judgments: Judgments,
    gold: Gold | None,
    fitting: Fitting,
    engine: Engine | None = None,
) -> Consensus:
    """Fit the model, with a progress bar, and say in one line what was fitted."""
    from adjudge.models.calibrated import with_calibration

    tell_if_cold()
    place = engine if engine is not None else make_engine(fitting.threads)
    with progress(f"fitting {model.name}") as on_step:
        asked = with_calibration(model, fitting.calibrate)
        consensus: Consensus = asked.fit(judgments, gold, engine=place, progress=on_step)
    given = consensus.judgments
    say(f"{describe_size(given)}; labels {labels_of(given.scale)}")
    for note in () if gold is None else gold.tell_unjudged(judgments):
        warn(note)
    detail(("model ", "dim"), consensus.model)
    for note in consensus.notes:
        if isinstance(note, Caution):
            warn(note)
        else:
            detail(f"  {note}")
    if consensus.converged is False:
        setting = "iterations" if consensus.draws is None else "warmup"
        warn(f"the fit stopped before it converged; allow more with --set {setting}=N")
    if consensus.draws is not None:
        from adjudge.cli._summary import tell_checks

        tell_checks(consensus)
    return consensus
