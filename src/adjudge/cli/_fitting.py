"""A model built from options, fitted on an engine, and what happened said."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from adjudge.cli._console import labels_of, progress, say, tell_if_cold
from adjudge.data.source import count_of
from adjudge.errors import BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.cli._options import Fitting, NumberLabelling
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.engines.engine import Engine
    from adjudge.engines.threads import ThreadsEngine
    from adjudge.models.model import Model


_SAMPLING = ("chains", "warmup", "draws", "thin")
_OPTIONS = ("by_topic", "ties", "iterations", "method", "weight", "filter", *_SAMPLING)
_SPELT = {"filter": "keep"}  # options whose setting has another name


def build_model(fitting: Fitting) -> Model:
    """The model that is asked for; a setting that was given but is not the model's is an error."""
    from adjudge.models.registry import DEFAULT, MODELS, model

    name = fitting.model or DEFAULT
    if name not in MODELS:
        raise UnknownName("model", name, MODELS)
    given = read_settings(fitting, MODELS[name])
    for setting in _SAMPLING if fitting.model is None else ():
        if (value := getattr(fitting, setting)) is not None:
            raise BadSetting(f"--{setting}", value, "a model to sample, named with --model")
    return model(name, **given)


def choose_model(
    fitting: Fitting, labelling: NumberLabelling
) -> tuple[Fitting, NumberLabelling, Model | None]:
    """The model that is asked for, None where labels are said to be numbers; and the options."""
    if fitting.model == "continuous":
        fitting, labelling = replace(fitting, model=None), replace(labelling, continuous=True)
    return fitting, labelling, None if labelling.continuous else build_model(fitting)


def are_numbers(judgments: Judgments, labelling: NumberLabelling, fitting: Fitting) -> bool:
    """Whether labels are numbers rather than classes by how many there are, and nobody says no."""
    asked = labelling.continuous is not None or fitting.model is not None
    return not asked and judgments.scale.has_many_grades and labelling.labels is None


def read_settings(
    fitting: Fitting, kind: Any, options: tuple[str, ...] = _OPTIONS, such_as: str = "diagonal=5"
) -> dict[str, Any]:
    """The settings of a kind of model that options name; one that it does not have is an error."""
    name = kind.name
    own = {entry.name: entry.default for entry in fields(kind)}
    chosen: dict[str, Any] = {"seed": fitting.seed} if "seed" in own else {}
    for setting in options:
        value = getattr(fitting, setting)
        if value is None or value is False:
            continue
        flag = "--" + setting.replace("_", "-")
        if _SPELT.get(setting, setting) not in own:
            raise BadSetting(flag, value, f"a model that has it; {name} has no {setting}")
        chosen[_SPELT.get(setting, setting)] = value
    if fitting.settings:
        from adjudge.cli._settings import parse_settings

        chosen |= parse_settings(fitting.settings, kind, such_as)
    return chosen


def make_engine(threads: int | None) -> ThreadsEngine:
    """The engine with as many threads as are asked for."""
    from adjudge.engines.threads import ThreadsEngine

    return ThreadsEngine() if threads is None else ThreadsEngine(threads=threads)


def fit_model(
    model: Model,
    judgments: Judgments,
    gold: Gold | None,
    fitting: Fitting,
    engine: Engine | None = None,
) -> Consensus:
    """The consensus, with a bar while it takes long; what was fitted is told in a few lines."""
    from adjudge.models.calibrated import with_calibration

    tell_if_cold()
    place = engine if engine is not None else make_engine(fitting.threads)
    with progress(f"fitting {model.name}") as on_step:
        asked = with_calibration(model, fitting.calibrate)
        consensus: Consensus = asked.fit(judgments, gold, engine=place, progress=on_step)
    given = consensus.judgments
    topics = f", {count_of(given.topic_count, 'topic')}" if given.topics is not None else ""
    say(
        (consensus.model, "bold"),
        f" on {count_of(len(given), 'judgment')} of {count_of(given.item_count, 'item')} by "
        f"{count_of(given.judge_count, 'judge')}{topics}; labels {labels_of(given.scale)}",
    )
    for note in consensus.notes:
        say(f"  {note}")
    if consensus.draws is not None:
        from adjudge.cli._summary import tell_checks

        tell_checks(consensus)
    return consensus
