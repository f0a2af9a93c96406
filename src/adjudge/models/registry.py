"""All models by their published names: read by the command line, the contract tests and the docs.

To add a model: one file, one line here, one card in the docs. Other packages add theirs by the
entry point ``adjudge.models`` (``adjudge.plugins``).
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from adjudge.errors import BadSetting, UnknownName
from adjudge.models.dawid_skene import DawidSkene
from adjudge.models.hierarchical_confusion import HierarchicalConfusion
from adjudge.models.hierarchical_relevance import HierarchicalRelevance
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.models.item_types import ItemTypes
from adjudge.models.majority_vote import MajorityVote
from adjudge.models.model import Model
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
