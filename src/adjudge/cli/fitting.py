"""What commands that fit a model share: build it from options, fit it, say what happened."""

from __future__ import annotations

import json
from dataclasses import fields
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from adjudge.cli.console import labels_of, progress, say, tell_if_cold
from adjudge.data.source import count_of
from adjudge.errors import BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.cli.options import Fitting
    from adjudge.cli.reading import Input
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.engines.engine import Engine
    from adjudge.engines.threads import ThreadsEngine
    from adjudge.evaluation.predictive import Check
    from adjudge.models.model import Model


_SAMPLING = ("chains", "warmup", "draws", "thin")
_OPTIONS = ("by_topic", "ties", "iterations", "method", "weight", "filter", *_SAMPLING)
_SPELT = {"filter": "keep"}  # options whose setting has another name


def built(fitting: Fitting) -> Model:
    """The model that is asked for; a setting that was given but is not the model's is an error."""
    from adjudge.models.default import DEFAULT, SETTINGS
    from adjudge.models.registry import MODELS, model

    name = fitting.model or DEFAULT
    if name not in MODELS:
        raise UnknownName("model", name, MODELS)
    given = settings_given(fitting, MODELS[name])
    for setting in _SAMPLING if fitting.model is None else ():
        if (value := getattr(fitting, setting)) is not None:
            raise BadSetting(f"--{setting}", value, "a model to sample, named with --model")
    return model(name, **(({} if fitting.model else dict(SETTINGS)) | given))


def settings_given(fitting: Fitting, kind: Any) -> dict[str, Any]:
    """The settings of a kind of model that options name; one that it does not have is an error."""
    name = kind.name
    own = {entry.name: entry.default for entry in fields(kind)}
    hints = get_type_hints(kind)
    chosen: dict[str, Any] = {"seed": fitting.seed} if "seed" in own else {}
    for setting in _OPTIONS:
        value = getattr(fitting, setting)
        if value is None or value is False:
            continue
        flag = "--" + setting.replace("_", "-")
        if _SPELT.get(setting, setting) not in own:
            raise BadSetting(flag, value, f"a model that has it; {name} has no {setting}")
        chosen[_SPELT.get(setting, setting)] = value
    for text in fitting.settings or ():
        setting, equals, value = text.partition("=")
        if not equals:
            raise BadSetting("--set", text, "NAME=VALUE, such as diagonal=5")
        if setting not in own:
            raise UnknownName(f"setting of {name}", setting, own)
        chosen[setting] = value_of(text, value, hints[setting])
    return chosen


def check_sampled(model: Model | None) -> None:
    """Refuse draws asked from a model that draws none, as that of numbers, which is None here."""
    from adjudge.models.model import is_sampled

    if not is_sampled(model):
        name = "continuous" if model is None else model.name
        raise BadSetting("--save-draws", True, f"a sampled model; {name} has no draws here")


def value_of(text: str, value: str, hint: Any) -> object:
    """The value of a setting, of the type that its hint names."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if any(get_origin(kind) is Literal and value in get_args(kind) for kind in kinds):
        return value
    try:
        if bool in kinds:
            return {"true": True, "false": False}[value.casefold()]
        if int in kinds:
            return int(value)
        if float in kinds:
            return float(value)
        if any(get_origin(kind) is tuple for kind in kinds):
            return _tuple(json.loads(value))
    except (KeyError, ValueError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}
        raise BadSetting("--set", text, wanted.get(kinds[0], "numbers such as [3,1]")) from None
    return value


def _tuple(value: Any) -> Any:
    return tuple(_tuple(entry) for entry in value) if isinstance(value, list) else value


def engine_of(fitting: Fitting) -> ThreadsEngine:
    """The engine with as many threads as are asked for."""
    from adjudge.engines.threads import ThreadsEngine

    return ThreadsEngine() if fitting.threads is None else ThreadsEngine(threads=fitting.threads)


def fitted(
    model: Model,
    judgments: Judgments,
    gold: Gold | None,
    fitting: Fitting,
    engine: Engine | None = None,
) -> Consensus:
    """The consensus, with a bar while it takes long; what was fitted is told in a few lines."""
    from adjudge.models.default import REASON
    from adjudge.models.registry import with_calibration

    tell_if_cold()
    place = engine if engine is not None else engine_of(fitting)
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
    if fitting.model is None:
        say(f"  {REASON}")
    for note in consensus.notes:
        say(f"  {note}")
    failed = [check for check in _checks_of(consensus) if check.fails]
    for check in failed:
        say(("  model check: ", "yellow"), str(check))
    if failed:
        say("  so items differ in ways this model does not know: its probabilities are too sure")
    spent = len(consensus.trace) == consensus.settings.get("iterations")
    if consensus.converged is False and spent:
        say(("  raise --iterations", "yellow"))
    return consensus


def _checks_of(consensus: Consensus) -> tuple[Check, ...]:
    """What a sampled model would have given, beside what it was given; none for points."""
    if consensus.draws is None or not len(consensus.judgments):
        return ()
    from adjudge.evaluation.predictive import predictive_checks

    return predictive_checks(consensus, seed=int(str(consensus.settings.get("seed", 0))))


def _sampled(consensus: Consensus) -> dict[str, Any]:
    """What a sampled model adds to the summary: chains, diagnostics, checks."""
    from dataclasses import asdict

    draws = consensus.draws
    if draws is None:
        return {}
    return {
        "chains": draws.chains,
        "draws": draws.draws,
        "relabelled": draws.relabelled,
        "diagnostics": draws.diagnostics(),
        "checks": [asdict(check) for check in _checks_of(consensus)],
    }


def summary(consensus: Consensus, read: Input) -> dict[str, Any]:
    """The run as data: what went in and what was left out, which model, how it ended."""
    from adjudge.evaluation.diagnosis.voices import FamilyVoices

    judgments, scale = consensus.judgments, consensus.scale
    prevalence = zip(scale.truths, consensus.overall_prevalence.tolist(), strict=True)
    return {
        "model": consensus.model,
        "settings": consensus.settings,
        "counts": {
            "judgments": len(judgments),
            "items": judgments.item_count,
            "judges": judgments.judge_count,
            "topics": judgments.topic_count,
        },
        "scale": {"labels": scale.labels, "truths": scale.truths, "ordinal": scale.ordinal},
        "iterations": len(consensus.trace),
        "converged": consensus.converged,
        "log_likelihood": consensus.trace[-1] if consensus.trace else None,
        "prevalence": dict(prevalence),
        "notes": consensus.notes,
        **FamilyVoices.of(consensus).to_json(),
        **_sampled(consensus),
        **read.omissions,
    }
