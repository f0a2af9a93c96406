"""The first screen of a report: the verdict, the figures, and what to do next."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge import Gold, ItemTypes, Judgments, MajorityVote
from adjudge.report.headline import make_headline
from adjudge.report.plots.figures import FIGURES
from adjudge.report.results import Provenance, Results, gather
from adjudge.report.words import worth_judging
from adjudge.simulation import Crowd, Population


def gathered(
    accuracy: float, *, gold: bool = True, judges: int = 5, items: int = 400, fixed: int = 0
) -> Results:
    """The results of simulated judges who are right with the given probability."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, items)
    right = rng.random((items, judges)) < accuracy
    label = np.where(right, truth[:, None], 1 - truth[:, None])
    names = [f"i{n}" for n in range(items)]
    judgments = Judgments.from_table(
        {
            "item": np.repeat(names, judges),
            "judge": np.tile([f"j{n}" for n in range(judges)], items),
            "label": label.reshape(-1).astype(str),
        }
    )
    known = Gold.from_table({"item": names, "gold": truth.astype(str)}) if gold else None
    consensus = MajorityVote().fit(
        judgments, known.select(np.arange(items) < fixed) if known else None
    )
    about = Provenance(files=(("my judgments.csv", "0" * 64),))
    return gather(consensus, gold=known, provenance=about)


@pytest.mark.parametrize(
    ("accuracy", "tone", "ending"),
    [(0.95, "good", "ready to use."), (0.55, "warn", "not ready to use alone.")],
)
def test_the_verdict_follows_accuracy_on_gold(accuracy: float, tone: str, ending: str) -> None:
    found = make_headline(gathered(accuracy))
    assert (found.tone, found.verdict.endswith(ending)) == (tone, True)
    assert [tile.what for tile in found.tiles[:3]] == ["labels", "right", "judges"]


def test_without_gold_the_first_action_is_to_get_some() -> None:
    found = make_headline(gathered(0.8, gold=False))
    assert found.tone == "plain"
    assert (
        found.actions[0].command == "adjudge next 'my judgments.csv' --gold 50 -o gold-to-fill.csv"
    )
    assert found.tiles[1].detail == "not checked against gold"


@pytest.mark.parametrize("fixed", [0, 390, 400])
def test_labels_that_gold_fixes_are_not_counted_as_sure(fixed: int) -> None:
    results = gathered(0.7, fixed=fixed)
    tile = make_headline(results).tiles[0]
    assert tile.figure == "400"
    assert (f"{fixed} given by gold" in tile.detail) == (fixed > 0)
    assert ("sure" in tile.detail) == (fixed < 400)
    for name in ("confidence", "voted-estimated"):
        assert (FIGURES[name].lacks(results) is None) == (fixed < 400)


def test_items_with_gold_are_not_worth_another_judgment() -> None:
    assert not worth_judging(gathered(0.7))
    assert worth_judging(gathered(0.7, gold=False))


def test_judges_without_skill_are_not_to_be_asked() -> None:
    judges = Population.parse("skilled(9,1):8,spammer:2")
    made = Crowd(items=300, population=judges, per_item=10, gold=1.0).make(2)
    results = gather(ItemTypes().fit(made.judgments), gold=made.gold)
    found = make_headline(results)
    assert "Stop asking 2 judges" in [action.what for action in found.actions]
    assert found.tiles[2].tone == "warn"
    assert len(found.actions) <= 3
