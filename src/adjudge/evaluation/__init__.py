"""How good a consensus is, how far judges agree, and whether one method beats another.

- ``evaluate`` scores a consensus, or a table of one, against gold: an ``Evaluation``.
- ``measure_agreement`` gives percent agreement, Cohen, Fleiss and Krippendorff: an ``Agreement``;
  ``cohen_kappa`` is of two judges.
- ``cross_validate`` scores a model on gold it was not told, fold by fold: a ``CrossValidation``.
- ``paired_t_test``, ``sign_test`` and ``rank_methods`` compare methods.

Single scores are plain functions of arrays in ``adjudge.evaluation.scores``; ``MEASURES`` lists all
by name. Depends on models, engines and data only; nothing is imported before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.evaluation.against_gold import Evaluation, evaluate
    from adjudge.evaluation.agreement import Agreement, measure_agreement
    from adjudge.evaluation.crossvalidation import CrossValidation, cross_validate
    from adjudge.evaluation.judge_pairs import cohen_kappa
    from adjudge.evaluation.measures import MEASURES, Measure
    from adjudge.evaluation.score import Score
    from adjudge.evaluation.significance import (
        Difference,
        Ranked,
        correct_by_item,
        paired_t_test,
        rank_methods,
        sign_test,
    )

__all__ = [
    "MEASURES",
    "Agreement",
    "CrossValidation",
    "Difference",
    "Evaluation",
    "Measure",
    "Ranked",
    "Score",
    "cohen_kappa",
    "correct_by_item",
    "cross_validate",
    "evaluate",
    "measure_agreement",
    "paired_t_test",
    "rank_methods",
    "sign_test",
]

_HOMES = {
    "MEASURES": "measures",
    "Agreement": "agreement",
    "CrossValidation": "crossvalidation",
    "Difference": "significance",
    "Evaluation": "against_gold",
    "Measure": "measures",
    "Ranked": "significance",
    "Score": "score",
    "cohen_kappa": "judge_pairs",
    "correct_by_item": "significance",
    "cross_validate": "crossvalidation",
    "evaluate": "against_gold",
    "measure_agreement": "agreement",
    "paired_t_test": "significance",
    "rank_methods": "significance",
    "sign_test": "significance",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
