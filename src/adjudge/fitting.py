"""The main job in one call: judgments in, consensus out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any, Literal, overload

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold, take_gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, take_both
from adjudge.data.progress import progress_bar
from adjudge.data.source import count_of
from adjudge.engines.engine import Engine
from adjudge.errors import BadSetting, ReadingWarning
from adjudge.models.calibrated import with_calibration
from adjudge.models.continuous import Continuous
from adjudge.models.model import Model, Progress
from adjudge.models.number_consensus import ContinuousConsensus
from adjudge.models.registry import DEFAULT
from adjudge.models.registry import model as build_model


@overload
def fit(  # type: ignore[overload-overlap]  # the first that fits is taken
    judgments: JudgmentsLike,
    gold: GoldLike = None,
    *,
    model: Literal["continuous"] | Continuous,
    family: str | None = None,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    engine: Engine | None = None,
    progress: Progress | bool | None = None,
    start: ContinuousConsensus | None = None,
    **settings: object,
) -> ContinuousConsensus: ...


@overload
def fit(
    judgments: JudgmentsLike,
    gold: GoldLike = None,
    *,
    model: str | Model,
    family: str | None = None,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    engine: Engine | None = None,
    progress: Progress | bool | None = None,
    start: Consensus | None = None,
    **settings: object,
) -> Consensus: ...


@overload
def fit(
    judgments: JudgmentsLike,
    gold: GoldLike = None,
    *,
    model: None = None,
    family: str | None = None,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    engine: Engine | None = None,
    progress: Progress | bool | None = None,
    start: Consensus | ContinuousConsensus | None = None,
    **settings: object,
) -> Consensus | ContinuousConsensus: ...


def fit(
    judgments: JudgmentsLike,
    gold: GoldLike = None,
    *,
    model: str | Model | Continuous | None = None,
    family: str | None = None,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    engine: Engine | None = None,
    progress: Progress | bool | None = None,
    start: Consensus | ContinuousConsensus | None = None,
    **settings: object,
) -> Consensus | ContinuousConsensus:
    """Fit the consensus of a file, a table of any dataframe library, or Judgments.

    ``gold`` is a file, a table, a mapping of items to labels, a Series, pairs, or the name of the
    column of the judgments that holds it; a gold column that is not named is not used.
    ``columns`` and ``skip_bad`` are passed to the reader of the judgments. ``model`` is a name with
    its ``settings``, or an instance such as ``DawidSkene(iterations=20)``. Without a model, many
    different numeric labels are read as numbers and give a ``ContinuousConsensus``, as does
    ``model="continuous"``. ``family`` is a pattern: judges whose names share what it finds count as
    one source. ``start`` continues an earlier fit. Gold calibrates the result, across folds where
    the model learns from it; for sampled models only with ``calibrate=True``, since that is slow.
    ``calibrate=False`` leaves calibration out. ``progress`` is True, False or a function that takes
    steps; by default a bar appears on a terminal and in a notebook after two seconds.
    """
    reading = signature(Judgments.from_table).parameters
    for setting, value in settings.items():
        if setting in reading:  # before an error of the reader advises it again
            raise BadSetting(setting, value, f"Judgments.from_table({setting}=...)")
    column = gold if isinstance(gold, str) and not Path(gold).exists() else None
    table, own = _read(judgments, columns, column, skip_bad=skip_bad)
    if own is not None and gold is None:
        found = f"the judgments have gold for {count_of(len(own), 'item')}, which is not used"
        warnings.warn(f"{found}; gold=COLUMN uses it", ReadingWarning, stacklevel=2)
    known = own if column is not None else None if gold is None else take_gold(gold)
    for note in () if known is None else known.tell_unjudged(table):
        warnings.warn(note, ReadingWarning, stacklevel=2)
    if family is not None:
        table = table.with_family_rule(family)
    built = _build(model, settings, table)
    if isinstance(built, Continuous):
        if start is not None and not isinstance(start, ContinuousConsensus):
            raise BadSetting("start", type(start).__name__, "an earlier fit of numbers")
        with progress_bar("fitting numbers", progress) as on_step:
            return built.fit(table, known, engine=engine, progress=on_step, start=start)
    more = {} if start is None else {"start": _earlier(start, built)}
    with progress_bar(f"fitting {built.name}", progress) as on_step:
        consensus: Consensus = built.fit(table, known, engine=engine, progress=on_step, **more)
    return consensus


def _read(
    given: JudgmentsLike, columns: Mapping[str, str] | None, gold: str | None, *, skip_bad: bool
) -> tuple[Judgments, Gold | None]:
    """Return the judgments, and the gold of the column that is named."""
    if isinstance(given, Judgments) and gold is not None:
        return given, take_gold(gold)  # a file that does not exist
    named = {**(columns or {}), **({} if gold is None else {"gold": gold})}
    reading: dict[str, Any] = {"columns": named} if named else {}
    return take_both(given, **reading, **({"skip_bad": True} if skip_bad else {}))


def _build(
    model: str | Model | Continuous | None, settings: dict[str, Any], table: Judgments
) -> Any:
    """Return the model with its settings, calibrated by gold unless that is turned off."""
    if isinstance(model, type):
        raise BadSetting("model", model, f"an instance, such as {model.__name__}()")
    if model is None and table.scale.has_many_grades:
        model = Continuous.name
    if isinstance(model, str | None) and model == Continuous.name:
        return build_model(model, **settings)
    calibrate = settings.pop("calibrate", None)
    if calibrate not in (None, True, False):
        raise BadSetting("calibrate", calibrate, "True or False")
    if model is None or isinstance(model, str):
        return with_calibration(build_model(model or DEFAULT, **settings), calibrate)
    if not hasattr(model, "fit"):
        raise BadSetting("model", model, "a name, or an instance such as DawidSkene()")
    if settings:
        name, value = next(iter(settings.items()))
        kind = type(model).__name__
        raise BadSetting(name, value, f"settings in the model: {kind}({name}={value!r})")
    return model if isinstance(model, Continuous) else with_calibration(model, calibrate)


def _earlier(start: object, model: Any) -> Consensus:
    """Return an earlier fit, if it is one and the model continues it."""
    inner = getattr(model, "model", model)
    able = getattr(inner, "continues", "start" in signature(inner.fit).parameters)
    if not able:
        names = "item-types, dawid-skene, single-confusion, hybrid-confusion, or continuous"
        raise BadSetting("start", f"a fit for {inner.name}", f"a model that continues: {names}")
    if not isinstance(start, Consensus):
        raise BadSetting("start", type(start).__name__, "an earlier Consensus")
    return start
