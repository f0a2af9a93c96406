"""Settings of models and of evaluations that cannot be: each is refused by its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from adjudge import (
    BradleyTerry,
    Continuous,
    Gold,
    GradedBradleyTerry,
    HierarchicalConfusion,
    HybridConfusion,
    ItemTypes,
    Judgments,
    MajorityVote,
    Pmf,
    Run,
    SingleConfusion,
    may_replace,
)
from adjudge.errors import BadSetting
from adjudge.evaluation import Limits, compare_models, evaluate, rank_systems
from adjudge.evaluation.estimation.estimate import Plan

JUDGED = Judgments.from_table(
    {"topic": ["q"] * 4, "document": list("aabb"), "judge": ["x", "y"] * 2, "label": [0, 0, 1, 1]}
)
FIT = MajorityVote().fit(JUDGED)
RUN = Run.from_table({"topic": ["q", "q"], "document": ["a", "b"], "score": [2.0, 1.0]}, name="r")

REFUSED: dict[str, tuple[Callable[..., object], dict[str, list[Any]]]] = {
    "item-types": (
        ItemTypes,
        {"kinds": [0], "strength": [0.0], "iterations": [0], "tolerance": [-1.0]},
    ),
    "pmf": (
        Pmf,
        {"rank": [0, "all"], "regularisation": [0.0, np.nan], "cut": ["half"], "alpha": [1.5]},
    ),
    "continuous": (Continuous, {"bias": ["none"]}),
    "single-confusion": (
        SingleConfusion, {"iterations": [0], "tolerance": [-1.0], "diagonal": [0.0]}
    ),
    "hybrid-confusion": (
        HybridConfusion, {"chains": [0], "draws": [0], "warmup": [-1], "thin": [0]}
    ),
    "hierarchical-confusion": (HierarchicalConfusion, {"chains": [0], "method": ["em"]}),
    "graded-bradley-terry": (
        GradedBradleyTerry,
        {"agree": [(1.0, 0.0)], "lean_spread": [0.0], "regularisation": [0.0],
         "iterations": [0], "tolerance": [0.0]},
    ),
    "bradley-terry": (
        BradleyTerry,
        {"ties": ["third"], "method": ["em"], "regularisation": [-1], "chains": [0]},
    ),
    "limits": (
        Limits,
        {"least": [-1], "useful": [1.5], "excess": [-0.1], "doubt": [0.8], "bias": [np.nan]},
    ),
    "estimate": (
        Plan,
        {"estimator": ["magic"], "over": ["judges"], "strata": ["moon"], "level": [1.0],
         "folds": [1], "sampled": ["perhaps"], "unjudged": ["guessed"]},
    ),
    "evaluate": (
        partial(evaluate, FIT, Gold.of({"q/a": 0})),
        {"clip": [0.0], "bins": [0], "level": [2], "resamples": [-1]},
    ),
    "replacement": (
        partial(may_replace, JUDGED),
        {"epsilon": [1.0], "q": [0.0], "least_items": [1], "score": ["f1"]},
    ),
    "rank": (partial(rank_systems, FIT, [RUN]), {"over": ["judges"], "draws": [1], "level": [1.0]}),
    "compare": (partial(compare_models, JUDGED), {"folds": [1], "models": [[]]}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("of", "name", "value"),
    [
        (of, name, value)
        for of, (_, settings) in REFUSED.items()
        for name, values in settings.items()
        for value in values
    ],
)
def test_a_setting_that_cannot_be_is_refused(of: str, name: str, value: Any) -> None:
    with pytest.raises(BadSetting) as caught:
        REFUSED[of][0](**{name: value})
    assert caught.value.setting == name
