"""All models by their published names: read by the command line, the contract tests and the docs.

To add a model: one file, one line here, one card in the docs. Other packages add theirs by the
entry point ``adjudge.models`` (``adjudge.plugins``).
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from adjudge.errors import BadSetting, UnknownName
from adjudge.models._calibrated_fit import Calibrated
from adjudge.models.dawid_skene import DawidSkene
from adjudge.models.hierarchical_confusion import HierarchicalConfusion
from adjudge.models.hierarchical_relevance import HierarchicalRelevance
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.models.item_types import ItemTypes
from adjudge.models.majority_vote import MajorityVote
from adjudge.models.model import Model, is_sampled
from adjudge.models.pmf import Pmf
from adjudge.models.single_confusion import SingleConfusion
from adjudge.models.vote import Vote
from adjudge.plugins import plugins

MODELS: dict[str, type[Any]] = {
    entry.name: entry
    for entry in (
        ItemTypes,
        MajorityVote,
        Vote,
        DawidSkene,
        SingleConfusion,
        HybridConfusion,
        HierarchicalRelevance,
        HierarchicalConfusion,
        Pmf,
    )
}
MODELS |= plugins("adjudge.models", taken=MODELS)


def model(name: str, **settings: object) -> Model:
    """The model of that name with these settings; a misspelt name gets the nearest suggested."""
    if name not in MODELS:
        raise UnknownName("model", name, MODELS)
    kind = MODELS[name]
    known = [entry.name for entry in fields(kind)]
    for setting, value in settings.items():
        if setting not in known:
            raise BadSetting(f"{name} {setting}", value, f"one of {', '.join(known)}")
    try:
        made: Model = kind(**settings)
    except TypeError as fault:  # a word where a number was wanted
        told = ", ".join(f"{setting}={value!r}" for setting, value in settings.items())
        raise BadSetting(name, told, f"settings of the right kinds ({fault})") from None
    return made


def with_calibration(model: Any, wanted: bool | None = None) -> Any:
    """The model as labels are made by it: calibrated by gold, unless that is not wanted.

    If nothing is said, a model that is sampled, which takes long, is not. What scores labels across
    folds of gold has to fit this one in every fold, not the model alone.
    """
    settings = {entry.name for entry in fields(model)} if is_dataclass(model) else set()
    if "calibrate" in settings:  # it calibrates itself
        return model if wanted is None else replace(model, calibrate=wanted)
    return Calibrated(model) if (not is_sampled(model) if wanted is None else wanted) else model
