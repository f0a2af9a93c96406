"""How good a consensus is, how far judges agree, and whether one method beats another.

- ``evaluate`` scores a consensus, or a table of one, against gold: an ``Evaluation``.
- ``measure_agreement`` gives percent agreement, Cohen, Fleiss and Krippendorff: an ``Agreement``;
  ``cohen_kappa`` is of two judges.
- ``cross_validate`` scores a model on gold it was not told, fold by fold: a ``CrossValidation``.
- ``diagnose`` says of each judge whether to keep, train or drop her and why, and of each item what
  one more judgment would tell: a ``Diagnosis``, under ``Limits``; ``suggest_judges`` says by whom.
- ``compare_models`` puts models side by side, by gold or, with ``held_out_score``, by judgments
  held out, and recommends one: a ``Comparison``; ``entrants`` are the models that take part.
- ``rank_systems`` ranks search systems under the judges' noise: a ``Ranking``.
- ``beside_vote`` says whether a model's probabilities are worth more than the plain vote's.
- ``paired_t_test``, ``sign_test`` and ``rank_methods`` compare methods.

Single scores are plain functions of arrays in ``adjudge.evaluation.scores``; ``MEASURES`` lists all
by name. Depends on models, engines and data only; nothing is imported before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.evaluation.advice import Limits
    from adjudge.evaluation.against_gold import Evaluation, evaluate
    from adjudge.evaluation.agreement import Agreement, measure_agreement
    from adjudge.evaluation.comparison import Comparison, Entrant, compare_models, entrants
    from adjudge.evaluation.crossvalidation import CrossValidation, cross_validate
    from adjudge.evaluation.diagnosis import Diagnosis, diagnose
    from adjudge.evaluation.heldout import HeldOut, held_out_score
    from adjudge.evaluation.honesty import BesideVote, beside_vote
    from adjudge.evaluation.items import suggest_judges
    from adjudge.evaluation.judge_pairs import cohen_kappa
    from adjudge.evaluation.measures import MEASURES, Measure
    from adjudge.evaluation.ranking import Ranking, rank_systems
    from adjudge.evaluation.replay import Replay, replays
    from adjudge.evaluation.score import Score
    from adjudge.evaluation.significance import (
        Difference,
        Ranked,
        correct_by_item,
        paired_t_test,
        rank_methods,
        sign_test,
    )
    from adjudge.evaluation.stopping import Stopping

__all__ = [
    "MEASURES",
    "Agreement",
    "BesideVote",
    "Comparison",
    "CrossValidation",
    "Diagnosis",
    "Difference",
    "Entrant",
    "Evaluation",
    "HeldOut",
    "Limits",
    "Measure",
    "Ranked",
    "Ranking",
    "Replay",
    "Score",
    "Stopping",
    "beside_vote",
    "cohen_kappa",
    "compare_models",
    "correct_by_item",
    "cross_validate",
    "diagnose",
    "entrants",
    "evaluate",
    "held_out_score",
    "measure_agreement",
    "paired_t_test",
    "rank_methods",
    "rank_systems",
    "replays",
    "sign_test",
    "suggest_judges",
]

_HOMES = {
    "MEASURES": "measures",
    "Agreement": "agreement",
    "BesideVote": "honesty",
    "Comparison": "comparison",
    "CrossValidation": "crossvalidation",
    "Diagnosis": "diagnosis",
    "Difference": "significance",
    "Entrant": "comparison",
    "Evaluation": "against_gold",
    "HeldOut": "heldout",
    "Limits": "advice",
    "Measure": "measures",
    "Ranked": "significance",
    "Ranking": "ranking",
    "Replay": "replay",
    "Score": "score",
    "Stopping": "stopping",
    "beside_vote": "honesty",
    "cohen_kappa": "judge_pairs",
    "compare_models": "comparison",
    "correct_by_item": "significance",
    "cross_validate": "crossvalidation",
    "diagnose": "diagnosis",
    "entrants": "comparison",
    "evaluate": "against_gold",
    "held_out_score": "heldout",
    "measure_agreement": "agreement",
    "paired_t_test": "significance",
    "rank_methods": "significance",
    "rank_systems": "ranking",
    "replays": "replay",
    "sign_test": "significance",
    "suggest_judges": "items",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
