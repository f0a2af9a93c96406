"""adjudge turns noisy relevance judgments into labels that can be trusted.

    import adjudge

    consensus = adjudge.fit("judgments.csv", gold="gold.csv")
    consensus.labels  # Arrow table: item, label, probability, ...
    consensus.judges  # Arrow table: judge, judgments, accuracy, bits, ...

Names are imported when first used, so that ``import adjudge`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.draws import Draws
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.data.runs import Run
    from adjudge.data.scale import Scale
    from adjudge.engines.checkpoint import Checkpoint
    from adjudge.engines.dask import DaskEngine
    from adjudge.engines.threads import ThreadsEngine
    from adjudge.errors import AdjudgeError, BadData, BadSetting, UnknownName
    from adjudge.fitting import fit
    from adjudge.models.dawid_skene import DawidSkene
    from adjudge.models.hierarchical_confusion import HierarchicalConfusion
    from adjudge.models.hierarchical_relevance import HierarchicalRelevance
    from adjudge.models.hybrid_confusion import HybridConfusion
    from adjudge.models.item_types import ItemTypes
    from adjudge.models.majority_vote import MajorityVote
    from adjudge.models.model import Model
    from adjudge.models.pmf import Pmf
    from adjudge.models.registry import MODELS, model
    from adjudge.models.single_confusion import SingleConfusion
    from adjudge.models.vote import Vote
    from adjudge.models.weighting import AccuracyFilter, Feature, ZScore

__version__ = "0.1.0"

_HOMES = {
    "AdjudgeError": "errors",
    "BadData": "errors",
    "BadSetting": "errors",
    "UnknownName": "errors",
    "Consensus": "data.consensus",
    "Gold": "data.gold",
    "Judgments": "data.judgments",
    "Run": "data.runs",
    "Scale": "data.scale",
    "Checkpoint": "engines.checkpoint",
    "DaskEngine": "engines.dask",
    "ThreadsEngine": "engines.threads",
    "DawidSkene": "models.dawid_skene",
    "Draws": "data.draws",
    "HierarchicalConfusion": "models.hierarchical_confusion",
    "HierarchicalRelevance": "models.hierarchical_relevance",
    "HybridConfusion": "models.hybrid_confusion",
    "ItemTypes": "models.item_types",
    "MajorityVote": "models.majority_vote",
    "Pmf": "models.pmf",
    "SingleConfusion": "models.single_confusion",
    "Vote": "models.vote",
    "AccuracyFilter": "models.weighting",
    "Feature": "models.weighting",
    "ZScore": "models.weighting",
    "MODELS": "models.registry",
    "Model": "models.model",
    "fit": "fitting",
    "model": "models.registry",
}

__all__ = [
    "MODELS",
    "AccuracyFilter",
    "AdjudgeError",
    "BadData",
    "BadSetting",
    "Checkpoint",
    "Consensus",
    "DaskEngine",
    "DawidSkene",
    "Draws",
    "Feature",
    "Gold",
    "HierarchicalConfusion",
    "HierarchicalRelevance",
    "HybridConfusion",
    "ItemTypes",
    "Judgments",
    "MajorityVote",
    "Model",
    "Pmf",
    "Run",
    "Scale",
    "SingleConfusion",
    "ThreadsEngine",
    "UnknownName",
    "Vote",
    "ZScore",
    "fit",
    "model",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'adjudge' has no attribute {name!r}")
    return getattr(import_module(f"adjudge.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
