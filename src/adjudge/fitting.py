"""The main job in one call: judgments in, consensus out."""

from __future__ import annotations

from dataclasses import fields
from inspect import signature
from typing import Any, Literal, overload

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold, take_gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, take_judgments
from adjudge.data.progress import progress_bar
from adjudge.engines.engine import Engine
from adjudge.errors import BadSetting
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
    model: Literal["continuous"],
    family: str | None = None,
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
    model: str | Model | None = None,
    family: str | None = None,
    engine: Engine | None = None,
    progress: Progress | bool | None = None,
    start: Consensus | ContinuousConsensus | None = None,
    **settings: object,
) -> Consensus: ...


def fit(
    judgments: JudgmentsLike,
    gold: GoldLike = None,
    *,
    model: str | Model | None = None,
    family: str | None = None,
    engine: Engine | None = None,
    progress: Progress | bool | None = None,
    start: Consensus | ContinuousConsensus | None = None,
    **settings: object,
) -> Consensus | ContinuousConsensus:
    """The consensus of judgments: a file, a table of any dataframe library, or Judgments.

    ``gold`` likewise, or a mapping; gold that stands in a column beside the judgments is used only
    if their file is named as ``gold`` too.
    ``model`` and ``settings`` are those of the command line, or ``model`` is one with its settings,
    such as ``DawidSkene(iterations=20)``. Where labels are many different
    numbers and no model is named, they are read as numbers, as on the command line, and the answer
    is a ``ContinuousConsensus``; so is that of ``model="continuous"``. ``family`` is a pattern in
    the names of judges: those who share what it finds are one source. ``start`` goes on from an
    earlier fit.
    Gold calibrates the answer, across folds where the model learns from it too; where a model is
    sampled, which takes long, only with ``calibrate=True``. ``calibrate=False`` leaves it out.
    ``progress`` is True, False or a function that takes steps; by default a bar appears on a
    terminal and in a notebook after two seconds.
    """
    table = take_judgments(judgments)
    known = None if gold is None else take_gold(gold)
    if family is not None:
        table = table.with_family_rule(family)
    if model == Continuous.name or (model is None and table.scale.has_many_grades):
        return _fit_numbers(table, known, engine, progress, start, settings)
    strange = (
        isinstance(model, type) or not hasattr(model, "fit") or settings.keys() - {"calibrate"}
    )
    if model is not None and not isinstance(model, str) and strange:
        raise BadSetting("model", model, "a name, or a model that is made, such as DawidSkene()")
    named = model or DEFAULT
    wanted = settings.pop("calibrate", None)
    if wanted not in (None, True, False):
        raise BadSetting("calibrate", wanted, "True or False")
    built = build_model(named, **settings) if isinstance(named, str) else named
    made: Any = with_calibration(built, wanted)
    more = {} if start is None else {"start": _earlier(start, made)}
    with progress_bar(f"fitting {made.name}", progress) as on_step:
        consensus: Consensus = made.fit(table, known, engine=engine, progress=on_step, **more)
    return consensus


def _earlier(start: object, model: Any) -> Consensus:
    """An earlier fit, if it is one and the model goes on from it."""
    if not isinstance(start, Consensus):
        raise BadSetting("start", type(start).__name__, "an earlier consensus")
    if "start" not in signature(model.fit).parameters:
        wanted = "a model that goes on from an earlier fit: item-types, or continuous for numbers"
        raise BadSetting("start", f"a consensus, and the model is {model.name}", wanted)
    return start


def _fit_numbers(
    table: Judgments,
    gold: Gold | None,
    engine: Engine | None,
    progress: Any,
    start: Any,
    settings: dict[str, Any],
) -> ContinuousConsensus:
    """The values of numbers, as the settings have it."""
    known = [entry.name for entry in fields(Continuous)]
    for setting, value in settings.items():
        if setting not in known:
            raise BadSetting(f"continuous {setting}", value, f"one of {', '.join(known)}")
    if start is not None and not isinstance(start, ContinuousConsensus):
        raise BadSetting("start", type(start).__name__, "an earlier fit of numbers")
    model = Continuous(**settings)
    found: ContinuousConsensus = model.fit(
        table, gold, engine=engine, progress=progress, start=start
    )
    return found
