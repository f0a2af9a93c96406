"""Estimates from end to end: known answers, coverage, and what is refused or warned of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adjudge
from adjudge import Gold, Judgments, Run
from adjudge.data.consensus import Consensus
from adjudge.errors import AdjudgeError, BadData, BadSetting
from adjudge.evaluation.estimation.estimate import Plan, estimate_from
from adjudge.models.cross_calibration import CrossFit
from gold_panels import drawn, simulate_panel
from rankings import system
from sizes import FULL, sized

Panel = tuple[Judgments, Gold, CrossFit]


@pytest.fixture(scope="module")
def panel() -> Panel:
    judgments, gold = simulate_panel()
    return judgments, gold, CrossFit.of(adjudge.fit(judgments))


@pytest.fixture(scope="module")
def runs(panel: Panel) -> list[Run]:
    judgments, gold, _ = panel
    rng = np.random.default_rng(2)
    truth = gold.align(judgments)
    return [system(judgments, truth, q, rng, name=n) for n, q in (("a", 2.0), ("b", 1.0))]


def truth_of(panel: Panel, name: str) -> float:
    judgments, gold, fit = panel
    truth = gold.align(judgments)
    if name == "mean-grade":
        return float(truth.mean())
    if name == "share:1,2":
        return float((truth > 0).mean())
    return float((fit.consensus.choice == truth).mean())


def replay(
    panel: Panel, name: str, runs: list[Run], expected: float, *, labels: int, rounds: int
) -> tuple[int, float, float]:
    """How many intervals hold over draws of gold; mean widths, and those of gold alone."""
    held, widths = 0, []
    for seed in range(rounds):
        found = estimate_from(panel[2], drawn(panel[1], labels, seed), name, runs, Plan())
        held += found.low <= expected <= found.high
        widths.append((found.high - found.low, found.classical_high - found.classical_low))
    own, alone = np.mean(widths, axis=0)
    return held, float(own), float(alone)


def least_held(rounds: int) -> float:
    """How many of so many intervals hold at least: 95%, less four standard errors."""
    return rounds * 0.95 - 4 * math.sqrt(rounds * 0.95 * 0.05)


@pytest.mark.parametrize("name", ["mean-grade", "share:1,2", "agreement"])
def test_intervals_hold_and_are_narrower_than_those_of_gold_alone(panel: Panel, name: str) -> None:
    """Draws of 80 gold labels: 95% hold, give or take four standard errors of the count."""
    rounds = sized(20, full=300)
    held, own, alone = replay(panel, name, [], truth_of(panel, name), labels=80, rounds=rounds)
    assert held >= least_held(rounds)
    assert held < rounds or not FULL  # too wide is no better
    assert own < (0.9 if name == "mean-grade" else 1.0) * alone


@pytest.mark.parametrize("name", ["nDCG@5", pytest.param("P@5", marks=pytest.mark.full), "AP"])
def test_the_difference_of_two_runs(panel: Panel, runs: list[Run], name: str) -> None:
    entire = estimate_from(panel[2], panel[1], name, runs, Plan())
    assert entire.low == pytest.approx(entire.high, abs=1e-9)
    rounds = sized(14, full=60)
    held, own, alone = replay(panel, name, runs, entire.estimate, labels=120, rounds=rounds)
    assert held >= least_held(rounds)
    assert own < 0.95 * alone


def test_gold_drawn_with_known_chances_is_weighed(panel: Panel) -> None:
    judgments, gold, fit = panel
    truth = gold.align(judgments)
    chance = np.where(truth == 2, 0.4, 0.1)  # what nobody could know, and the worst that can be
    held, rounds = 0, sized(20, full=100)
    for seed in range(rounds):
        taken = np.random.default_rng(seed).random(len(truth)) < chance
        part = gold.select(taken[_place(gold, judgments)])
        weighted = Gold.from_table(
            part.to_table().append_column(
                "sampling_probability", [chance[_place(part, judgments)].tolist()]
            )
        )
        found = estimate_from(fit, weighted, "mean-grade", [], Plan(sampled="random"))
        held += found.low <= truth.mean() <= found.high
    assert held >= least_held(rounds)
    with pytest.raises(BadData, match="gold was not drawn at random: judges expect"):
        estimate_from(fit, part, "mean-grade", [], Plan())


def _place(gold: Gold, judgments: Judgments) -> Any:
    from adjudge.data.names import look_up

    return look_up(gold.items, judgments.items)


def test_error_rates_of_a_judge(panel: Panel) -> None:
    judgments, gold, fit = panel
    truth = gold.align(judgments)
    judge = judgments.judges[0].as_py()
    rows = np.flatnonzero(judgments.judge == 0)
    label, true = judgments.label[rows], truth[judgments.item[rows]]
    expected = {
        f"agreement:{judge}": (label == true).mean(),
        f"error:{judge}": (label != true).mean(),
        f"error:{judge}:2": (label != 2)[true == 2].mean(),
        f"error:{judge}:2:1": (label == 1)[true == 2].mean(),
    }
    for name, value in expected.items():
        found = estimate_from(fit, gold, name, [], Plan())
        assert found.estimate == pytest.approx(value)
        assert found.items == len(rows)
        part = estimate_from(fit, drawn(gold, 300, 4), name, [], Plan(level=0.999))
        assert part.low <= value <= part.high


def test_topics_and_populations_widen_the_interval(panel: Panel) -> None:
    gold = drawn(panel[1], 100, 3)
    plain = estimate_from(panel[2], gold, "mean-grade", [], Plan())
    endless = estimate_from(panel[2], gold, "mean-grade", [], Plan(population=0))
    larger = estimate_from(panel[2], gold, "mean-grade", [], Plan(population=1200))
    widths = [one.high - one.low for one in (plain, larger, endless)]
    assert widths == sorted(widths)
    assert widths[0] < widths[1] < widths[2]
    topics = estimate_from(panel[2], gold, "mean-grade", [], Plan(over="topics"))
    assert topics.method == "prediction-powered, clustered by topic"
    assert topics.estimate == pytest.approx(plain.estimate)


def test_the_labels_saved_follow_from_the_widths(panel: Panel) -> None:
    found = estimate_from(panel[2], drawn(panel[1], 100, 3), "share:2", [], Plan(strata="topic"))
    assert (found.gold, found.items) == (100, 600)
    part = (found.high - found.low) / (found.classical_high - found.classical_low)
    needed = 1 / ((1 / 100 - 1 / 600) * part**2 + 1 / 600)
    assert found.saved == round(needed) - 100 > 0


def test_gold_in_no_place_that_counts_is_refused(panel: Panel, runs: list[Run]) -> None:
    judgments, gold, fit = panel
    target = Plan().target("P@1", fit.consensus, runs[:1])
    outside = target.item[target.strata() == 0]  # type: ignore[index]
    mask = np.isin(_place(gold, judgments), outside)
    with pytest.raises(BadData, match="0 of the 12 documents"):
        estimate_from(fit, drawn(gold.select(mask), 100, 1), "P@1", runs[:1], Plan())


def test_clustered_intervals_hold_for_other_topics() -> None:
    """Entire panels simulated anew, with topics: the mean grade of the population is 1."""
    held, rounds = 0, sized(20, full=60)
    for seed in range(rounds):
        judgments, gold = simulate_panel(items=240, seed=seed + 100)
        fit = CrossFit.of(adjudge.fit(judgments, model="majority-vote"))
        found = estimate_from(fit, drawn(gold, 80, seed), "mean-grade", [], Plan(over="topics"))
        held += found.low <= 1.0 <= found.high
    assert held >= least_held(rounds)


def test_in_one_call() -> None:
    judgments, gold = simulate_panel(items=200)
    known = drawn(gold, 60, 1)
    found = adjudge.estimate(judgments, known, "share:2", model="majority-vote", level=0.9)
    again = adjudge.estimate(judgments, known, "share:2", model="majority-vote", level=0.9)
    assert found == again
    assert found.level == 0.9
    consensus = adjudge.fit(judgments, model="majority-vote")
    assert adjudge.estimate(consensus, known, "share:2", level=0.9) == found
    with pytest.raises(BadSetting) as caught:
        adjudge.estimate(adjudge.fit(judgments, known), known, "share:2")
    assert caught.value.setting == "judgments"


NAMES = {"item": ["a", "b"], "judge": ["x", "x"], "label": ["good", "bad"]}


BOTH = {"a": "good", "b": "bad"}


@pytest.mark.parametrize(
    ("gold", "target", "code"),
    [
        ({"z": "good"}, "share:good", "no-gold"),
        ({"a": "good"}, "share:good", "gold-of-one-class"),
        (BOTH, "mean-grade", "no-grades"),
        (BOTH, "share:good", "too-little-gold"),
        (BOTH, "share:great", "unknown-name"),
        (BOTH, "error:y", "unknown-name"),
    ],
)
def test_bad_input_is_refused(gold: dict[str, str], target: str, code: str) -> None:
    with pytest.raises(AdjudgeError) as caught:
        adjudge.estimate(Judgments.from_table(NAMES), gold, target, model="majority-vote")
    assert caught.value.code == code


def test_the_fit_without_gold_is_all_it_needs(panel: Panel) -> None:
    """A gold item's own gold has no part in what is believed of it."""
    judgments, gold, fit = panel
    known = drawn(gold, 100, 3).align(judgments)
    item = int(np.flatnonzero(known >= 0)[5])
    before = fit.beliefs(known, folds=5, seed=0)
    known[item] = (known[item] + 1) % 3
    after = fit.beliefs(known, folds=5, seed=0)
    assert isinstance(fit.consensus, Consensus)
    assert np.array_equal(before[item], after[item])
    assert not np.allclose(before, after)


def test_the_ndcg_of_one_run(panel: Panel) -> None:
    """What the best ranking of a topic could have is believed, not seen: intervals hold still."""
    judgments, gold, fit = panel
    random = np.random.default_rng(2)
    weak = [system(judgments, gold.align(judgments), 0.2, random, name="weak")]
    entire = estimate_from(fit, gold, "nDCG@5", weak, Plan()).estimate
    rounds = sized(20, full=40)
    assert replay(panel, "nDCG@5", weak, entire, labels=150, rounds=rounds)[0] >= 0.87 * rounds
