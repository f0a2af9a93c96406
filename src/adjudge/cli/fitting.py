"""What commands that fit a model share: build it from options, fit it, say what happened."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from adjudge.cli.console import progress, say, tell_if_cold
from adjudge.errors import BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.models.model import Model


def built(name: str, **settings: Any) -> Model:
    """The model of that name; a setting that was given but is not the model's is an error."""
    from adjudge.models.registry import MODELS, model

    if name not in MODELS:
        raise UnknownName("model", name, MODELS)
    own = {entry.name: entry.default for entry in fields(MODELS[name])}
    chosen = {}
    for setting, value in settings.items():
        if setting in own:
            chosen[setting] = own[setting] if value is None else value
        elif value not in (None, False):
            flag = "--" + setting.replace("_", "-")
            raise BadSetting(flag, value, f"a model that has it; {name} has no {setting}")
    return model(name, **chosen)


def fitted(
    chosen: Model, judgments: Judgments, gold: Gold | None, threads: int | None
) -> Consensus:
    """The consensus, with a bar while it takes long."""
    from adjudge.engines.threads import ThreadsEngine

    tell_if_cold()
    engine = ThreadsEngine(threads=threads) if threads is not None else ThreadsEngine()
    with progress(f"fitting {chosen.name}") as on_step:
        return chosen.fit(judgments, gold, engine=engine, progress=on_step)


def tell(consensus: Consensus) -> None:
    """What was fitted, in a few lines."""
    judgments = consensus.judgments
    topics = f", {judgments.topic_count:,} topics" if judgments.topics is not None else ""
    say(
        f"[bold]{consensus.model}[/] on {len(judgments):,} judgments of "
        f"{judgments.item_count:,} items by {judgments.judge_count:,} judges{topics}; "
        f"labels {judgments.scale}"
    )
    for note in consensus.notes:
        say(f"  {note}")
    if consensus.converged is False:
        say("  [yellow]not converged: raise --iterations[/]")


def summary(consensus: Consensus) -> dict[str, Any]:
    """The run as data: what went in, which model, how it ended."""
    judgments = consensus.judgments
    return {
        "model": consensus.model,
        "settings": consensus.settings,
        "judgments": len(judgments),
        "items": judgments.item_count,
        "judges": judgments.judge_count,
        "topics": judgments.topic_count,
        "labels": list(judgments.scale.labels),
        "truths": list(judgments.scale.truths),
        "iterations": len(consensus.trace),
        "converged": consensus.converged,
        "log_likelihood": consensus.trace[-1] if consensus.trace else None,
        "prevalence": dict(
            zip(judgments.scale.truths, consensus.overall_prevalence.tolist(), strict=True)
        ),
        "notes": list(consensus.notes),
    }
