"""adjudge turns noisy relevance judgments into labels that can be trusted.

    import adjudge

    consensus = adjudge.fit("judgments.csv", gold="gold.csv")
    consensus.labels  # Arrow table: item, label, probability, ...
    consensus.judges  # judge, judgments, accuracy, bits, ...; consensus.judges.plot()

Names are imported when first used, so that ``import adjudge`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.lazy import export

if TYPE_CHECKING:
    from adjudge.client import Client as Client
    from adjudge.data.comparisons import Comparisons as Comparisons
    from adjudge.data.consensus import Consensus as Consensus
    from adjudge.data.draws import Draws as Draws
    from adjudge.data.gold import Gold as Gold
    from adjudge.data.judgments import Judgments as Judgments
    from adjudge.data.preferences import Preferences as Preferences
    from adjudge.data.runs import Run as Run
    from adjudge.data.scale import Scale as Scale
    from adjudge.engines.checkpoint import Checkpoint as Checkpoint
    from adjudge.engines.dask import DaskEngine as DaskEngine
    from adjudge.engines.threads import ThreadsEngine as ThreadsEngine
    from adjudge.errors import AdjudgeError as AdjudgeError
    from adjudge.errors import BadData as BadData
    from adjudge.errors import BadSetting as BadSetting
    from adjudge.errors import ReadingWarning as ReadingWarning
    from adjudge.errors import UnknownName as UnknownName
    from adjudge.evaluation.estimation.estimate import Estimate as Estimate
    from adjudge.evaluation.estimation.estimate import estimate as estimate
    from adjudge.evaluation.model_judges.audit import audit as audit
    from adjudge.evaluation.model_judges.gate import gate as gate
    from adjudge.evaluation.model_judges.replacement import may_replace as may_replace
    from adjudge.fitting import fit as fit
    from adjudge.models.continuous import Continuous as Continuous
    from adjudge.models.dawid_skene import DawidSkene as DawidSkene
    from adjudge.models.dawid_skene import SingleConfusion as SingleConfusion
    from adjudge.models.hierarchical_confusion import HierarchicalConfusion as HierarchicalConfusion
    from adjudge.models.hierarchical_relevance import HierarchicalRelevance as HierarchicalRelevance
    from adjudge.models.hybrid_confusion import HybridConfusion as HybridConfusion
    from adjudge.models.item_types import ItemTypes as ItemTypes
    from adjudge.models.majority_vote import MajorityVote as MajorityVote
    from adjudge.models.model import Model as Model
    from adjudge.models.number_consensus import ContinuousConsensus as ContinuousConsensus
    from adjudge.models.pairs.baselines import Elo as Elo
    from adjudge.models.pairs.baselines import WinRate as WinRate
    from adjudge.models.pairs.bradley_terry import BradleyTerry as BradleyTerry
    from adjudge.models.pairs.bradley_terry import CrowdBradleyTerry as CrowdBradleyTerry
    from adjudge.models.pairs.graded_bradley_terry import GradedBradleyTerry as GradedBradleyTerry
    from adjudge.models.pmf import Pmf as Pmf
    from adjudge.models.registry import MODELS as MODELS
    from adjudge.models.registry import model as model
    from adjudge.models.vote import Vote as Vote
    from adjudge.models.weighting import AccuracyFilter as AccuracyFilter
    from adjudge.models.weighting import Feature as Feature
    from adjudge.models.weighting import ZScore as ZScore

    __version__: str

_get, __dir__ = export(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("adjudge")
    return _get(name)
