"""Models side by side: scores as elsewhere, ranks shared, failures named, one recommended."""

from __future__ import annotations

from typing import ClassVar

import pytest

from adjudge import Consensus, DawidSkene, Gold, Judgments, model
from adjudge.evaluation import compare_models, compare_with_vote, cross_validate, entrants
from adjudge.evaluation.comparison import _UNKNOWN, Entrant
from adjudge.evaluation.crossvalidation import held_out_score
from adjudge.models.calibrated import with_calibration
from adjudge.models.model import Model, Step
from adjudge.simulation import Crowd, Population

SIMULATED = Crowd(
    items=300,
    population=Population.parse("skilled:70,adversary:30", judges=12),
    topics=5,
    per_item=5,
    gold=0.6,
).make(seed=4)
FEW = ["majority-vote", "dawid-skene", "hybrid-confusion:em"]


class Broken:
    """A model that does not work."""

    name: ClassVar[str] = "broken"

    def fit(
        self,
        judgments: Judgments,
        gold: Gold | None = None,
        *,
        engine: object = None,
        progress: object = None,
    ) -> Consensus:
        raise ZeroDivisionError("by nothing")


def test_a_name_includes_all_its_ways() -> None:
    chosen = entrants(gold=False, names=["hybrid-confusion", "pmf", "hybrid-confusion:em"], seed=3)
    assert [entrant.name for entrant in chosen] == [
        *("hybrid-confusion:gibbs", "hybrid-confusion:em", "pmf")
    ]
    assert chosen[1].model == model("hybrid-confusion", method="em", seed=3)


@pytest.mark.slow
def test_scores_by_gold_are_those_of_cross_validation() -> None:
    steps: list[Step] = []
    compared = compare_models(
        SIMULATED.judgments,
        SIMULATED.gold,
        models=entrants(gold=True, names=FEW),
        folds=4,
        seed=2,
        progress=steps.append,
    )
    assert compared.by == "gold"
    table = compared.to_table()
    assert table.column_names == [
        *("model", "log_loss", "rank", "accuracy", "low", "high", "accuracy_rank"),
        *("brier", "corrected_calibration_error", "seconds", "reason"),
    ]
    rows = {row["model"]: row for row in table.to_pylist()}
    calibrated = with_calibration(DawidSkene(seed=2))  # as labels are simulated where there is gold
    crossed = cross_validate(
        calibrated, SIMULATED.judgments, SIMULATED.gold, folds=4, seed=2
    ).pooled
    for name in ("accuracy", "log_loss", "brier", "corrected_calibration_error"):
        assert rows["dawid-skene"][name] == pytest.approx(crossed[name].value)
    # With three adversaries in ten, the vote is far behind.
    assert rows["majority-vote"]["accuracy_rank"] == 2
    assert [row["log_loss"] for row in table.to_pylist()] == sorted(
        row["log_loss"] for row in table.to_pylist()
    )
    assert rows[compared.chosen]["rank"] == rows[compared.chosen]["accuracy_rank"] == 1
    assert compared.recommendation.startswith(f"Take {compared.chosen}: log loss 0.")
    assert "ranked by log loss" in compared.notes[0]
    assert set(compared.calibrated) == set(FEW)
    vote = compare_with_vote(crossed, SIMULATED.judgments)
    assert vote is not None
    assert f"has a log loss of {vote.vote:.3f}" in compared.notes[2]
    assert [(step.done, step.total) for step in steps][-1] == (12, 12)
    assert {step.note for step in steps} == set(FEW)


def test_scores_without_gold_are_those_of_judgments_held_out() -> None:
    compared = compare_models(SIMULATED.judgments, models=entrants(gold=False, names=FEW), seed=2)
    assert compared.by == "judgments"
    table = compared.to_table()
    assert table.column_names == [
        *("model", "log_score", "se", "rank", "clipped", "seconds", "reason")
    ]
    rows = {row["model"]: row for row in table.to_pylist()}
    held = held_out_score(DawidSkene(seed=2), SIMULATED.judgments, seed=2)
    assert rows["dawid-skene"]["log_score"] == pytest.approx(held.mean)
    assert rows["dawid-skene"]["se"] == pytest.approx(held.error)
    assert compared.chosen == "hybrid-confusion:em"
    assert rows["majority-vote"]["rank"] > 1
    assert "the shares of the labels alone give -0.69" in compared.notes[0]
    assert compared.recommendation.endswith(_UNKNOWN)


def test_a_model_that_fails_is_named_and_the_others_go_on() -> None:
    simulated: Model = Broken()
    chosen = [
        Entrant(name="broken", model=simulated),
        *entrants(gold=True, names=["majority-vote", "hierarchical-relevance"]),
    ]
    graded = Crowd(
        items=60,
        population=Population.parse("skilled:100", judges=5),
        scale=SIMULATED.judgments.scale.parse("0<1<2"),
        gold=1.0,
    ).make(seed=1)
    compared = compare_models(graded.judgments, graded.gold, models=chosen)
    assert compared.chosen == "majority-vote"
    assert [(row.name, row.reason) for row in compared.results[1:]] == [
        ("broken", "ZeroDivisionError: by nothing"),
        (
            "hierarchical-relevance",
            "hierarchical-relevance takes two labels, and these are 3: 0 < 1 < 2; collapse them "
            "(--binary), or take hierarchical-confusion, its form for any number",
        ),
    ]
    assert compared.to_table()["accuracy"].to_pylist()[1:] == [None, None]
    assert compared.recommendation.startswith("Take majority-vote: log loss")
