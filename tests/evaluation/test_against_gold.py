from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn import metrics

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.evaluation.against_gold import Evaluation, evaluate
from adjudge.models.majority_vote import MajorityVote
from adjudge.simulation import Crowd, Population

GRADES = Scale.parse("0<1<2")


def panel(items: int = 300, seed: int = 0) -> tuple[Any, Gold]:
    random = np.random.default_rng(seed)
    posterior = random.dirichlet([1.0, 1.0, 1.0], items)
    truth = [int(random.choice(3, p=row)) for row in posterior]
    names = [f"i{number:05d}" for number in range(items)]
    table = pa.table(
        {
            "item": names,
            "label": [str(code) for code in posterior.argmax(axis=1)],
            **{f"p_{code}": posterior[:, code] for code in range(3)},
        }
    )
    return table, Gold.of(dict(zip(names, truth, strict=True)))


def shuffled(table: Any, gold: Gold, seed: int = 5) -> tuple[Any, Gold]:
    random = np.random.default_rng(seed)
    rows = gold.to_table().take(random.permutation(len(gold)))
    return table.take(random.permutation(table.num_rows)), Gold.from_table(rows)


def small() -> Evaluation:
    """Five gold items: two right, one wrong, one without a label, one unknown."""
    table = pa.table(
        {
            "item": ["a", "b", "c", "d", "x"],
            "label": ["0", "2", "1", None, "0"],
            "p_0": [0.8, 0.1, 0.3, None, 1.0],
            "p_1": [0.1, 0.2, 0.6, None, 0.0],
            "p_2": [0.1, 0.7, 0.1, None, 0.0],
        }
    )
    gold = Gold.of({"e": 1, "d": 1, "c": 2, "b": 2, "a": 0})
    return evaluate(table, gold, GRADES)


def test_small_by_hand() -> None:
    found = small()
    assert (found.gold, found.scored, found.unlabelled) == (5, 3, 2)
    assert found.coverage == 0.6
    assert found.items.to_pylist() == ["a", "b", "c"]
    assert found.correct.tolist() == [True, True, False]
    expected = {
        "accuracy": 2 / 3,
        "expected_accuracy": 2 / 3,
        "graded_accuracy": 2 / 3,
        "binary_accuracy": 1.0,
        "precision": 1.0,
        "recall": 1.0,
        "specificity": 1.0,
        "f1": 1.0,
        "fractional_precision": 1.6 / 1.8,  # p of relevance: .2, .9, .7; b and c are relevant
        "fractional_recall": 1.6 / 2,
        "fractional_specificity": 0.8,
        "fractional_f1": 3.2 / (3.2 + 0.2 + 0.4),
        "auc": 1.0,
        "log_loss": -(math.log(0.8) + math.log(0.7) + math.log(0.1)) / 3,
        "squared_error": 0.04 + 0.01 + 0.09,
        "mse": 0.14 / 3,
        "rmse": math.sqrt(0.14 / 3),
        "brier": (0.06 + 0.14 + (0.09 + 0.36 + 0.81)) / 3,
        # Confidences .8 and .7 are right, .6 is wrong, each in its own bin.
        "calibration_error": (0.2 + 0.3 + 0.6) / 3,
        # Of one item each, the gap g and the sd of its luck, sqrt(p (1 - p)).
        "corrected_calibration_error": sum(
            gap * math.erf(gap / sd / math.sqrt(2))
            - 2 * sd * math.exp(-0.5 * (gap / sd) ** 2) / math.sqrt(2 * math.pi)
            for gap, sd in ((0.2, 0.4), (0.3, math.sqrt(0.21)), (0.6, math.sqrt(0.24)))
        )
        / 3,
        "grade_error": 1 / 3,
        "grade_rmse": math.sqrt(1 / 3),
        # Squares: observed 1/3; by chance E a² + E b² - 2 E a E b = 8/3 + 5/3 - 2 * 4/3 * 1.
        "quadratic_kappa": 1 - (1 / 3) / (13 / 3 - 8 / 3),
    }
    assert {name: score.value for name, score in found.scores.items()} == pytest.approx(expected)
    assert found.undefined == {}
    assert found.confusion.counts.tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 1]]
    assert found.fractional_confusion is not None
    assert found.fractional_confusion.counts == pytest.approx(
        np.array([[0.8, 0.1, 0.1], [0, 0, 0], [0.4, 0.8, 0.8]])
    )
    assert found.notes == ("3 of 5 gold items have a label and are scored",)


# --- what may be undefined, and why ---


def test_empty_gold() -> None:
    table, _ = panel(5)
    found = evaluate(table, Gold.of({}), GRADES, resamples=10)
    assert (found.gold, found.scored) == (0, 0)
    assert math.isnan(found.coverage)
    assert set(found.undefined) == set(found.scores)
    assert set(found.undefined.values()) == {"no gold item has a label"}
    assert all(math.isnan(score.value) for score in found.scores.values())
    assert found.calibration is not None
    assert found.calibration.count.sum() == 0


def test_one_class_in_gold() -> None:
    table, gold = panel(50)
    none = Gold.of(dict.fromkeys(gold.items.to_pylist(), 0))
    found = evaluate(table, none, GRADES, resamples=20)
    assert found.undefined == {
        "recall": "no gold item is relevant",
        "fractional_recall": "no gold item is relevant",
        "auc": "gold has one class only",
    }
    assert found["precision"].value == 0.0
    never = table.set_column(1, "label", pa.array(["0"] * 50)).select(["item", "label"])
    assert evaluate(never, none, GRADES).undefined["f1"] == (
        "no item is relevant, by gold or by label"
    )
    assert evaluate(never, none, GRADES).undefined["precision"] == "no item is labelled relevant"


def test_a_nominal_scale() -> None:
    table = pa.table({"item": ["a", "b"], "label": ["cat", "owl"]})
    found = evaluate(table, Gold.of({"a": "cat", "b": "dog"}))
    assert found.scale.labels == ("cat", "dog", "owl")
    assert found["accuracy"].value == 0.5
    reasons = found.undefined
    assert reasons["grade_error"] == "the scale is nominal: its labels are no grades"
    assert reasons["recall"] == (
        "the scale has no binary collapse: which labels are relevant is not known"
    )
    assert found.calibration is None
    assert found.fractional_confusion is None


def test_clipped_probabilities_are_reported() -> None:
    table = pa.table({"item": ["a", "b"], "label": [0, 1], "p_0": [1.0, 0.0], "p_1": [0.0, 1.0]})
    found = evaluate(table, Gold.of({"a": 1, "b": 1}), clip=0.01)
    assert (found.clip, found.clipped) == (0.01, 1)
    assert found["log_loss"].value == pytest.approx(-(math.log(0.01) + math.log(0.99)) / 2)
    assert "below 0.01" in found.notes[-1]


# --- a consensus, and tables of it ---


@pytest.fixture
def judged() -> tuple[Judgments, Gold]:
    people = Population.parse("skilled(6,4):100", judges=12)
    simulated = Crowd(items=120, population=people, scale=GRADES, per_item=5, gold=0.5).make(seed=3)
    return simulated.judgments, simulated.gold


def test_a_consensus_and_its_table_score_alike(judged: tuple[Judgments, Gold]) -> None:
    judgments, gold = judged
    consensus = MajorityVote().fit(judgments)
    direct = evaluate(consensus, gold, resamples=50)
    read = evaluate(consensus.labels, gold, GRADES, resamples=50)
    assert direct.to_table().equals(read.to_table())
    assert (direct.in_fit, direct.unjudged, read.in_fit, read.unjudged) == (None, 0, None, None)
    truth = [int(text) for text in gold.texts()]
    by_name = dict(
        zip(judgments.items.to_pylist(), consensus.labels["label"].to_pylist(), strict=True)
    )
    labels = [int(by_name[name]) for name in gold.items.to_pylist()]
    assert direct["accuracy"].value == pytest.approx(metrics.accuracy_score(truth, labels))


def test_gold_that_the_model_was_given_is_counted(judged: tuple[Judgments, Gold]) -> None:
    judgments, gold = judged
    half = gold.select(np.arange(len(gold)) < 20)
    found = evaluate(MajorityVote().fit(judgments, half), gold)
    assert found.in_fit == 20
    assert "20 of the scored items" in found.notes[1]
    assert found.warnings == found.notes[1:]


def test_items_without_judgments_or_without_a_judge_left(
    judged: tuple[Judgments, Gold],
) -> None:
    judgments, gold = judged
    more = judgments.with_items(pa.array(["unseen"], pa.large_string()))
    consensus = MajorityVote().fit(more)
    left = np.zeros(more.item_count, dtype=np.bool_)
    left[:4] = True
    few = int((gold.align(judgments)[:4] >= 0).sum())
    truths = dict(zip(gold.items.to_pylist(), gold.texts(), strict=True))
    found = evaluate(replace(consensus, fallback=left), Gold.of({**truths, "unseen": 1}))
    assert (found.scored, found.unjudged, found.fallback) == (61, 1, few)
    assert len(found.notes) == 3


def test_a_scale_with_fewer_truths_collapses_the_labels() -> None:
    table, gold = panel(200)
    binary = GRADES.with_binary_truth()
    found = evaluate(table, gold, binary)
    graded = evaluate(table, gold, GRADES)
    assert found.confusion.counts.shape == (2, 2)
    assert found["accuracy"].value == graded["binary_accuracy"].value
    assert found["auc"].value == pytest.approx(graded["auc"].value)
    assert found["brier"].value == pytest.approx(2 * graded["mse"].value)


# --- intervals ---


def test_nothing_depends_on_the_order_of_rows() -> None:
    table, gold = panel(200)
    first = evaluate(table, gold, GRADES, resamples=40, seed=9)
    again = evaluate(*shuffled(table, gold), GRADES, resamples=40, seed=9)
    assert first.to_table().equals(again.to_table())
    assert first.items.equals(again.items)
    assert first.choice.tolist() == again.choice.tolist()


def test_bootstrap_intervals_have_the_width_that_theory_says() -> None:
    table, gold = panel(2000, seed=4)
    found = evaluate(table, gold, GRADES, resamples=2000)
    losses = -np.log(found.posterior[np.arange(2000), found.truth])  # type: ignore[index]
    reach = 1.96 * losses.std() / math.sqrt(2000)
    score = found["log_loss"]
    assert score.low == pytest.approx(score.value - reach, abs=0.1 * reach)
    assert score.high == pytest.approx(score.value + reach, abs=0.1 * reach)
    # Ties do not occur, so expected accuracy is accuracy; bootstrap and Wilson must agree.
    assert found["expected_accuracy"].low == pytest.approx(found["accuracy"].low, abs=0.003)
    assert found["expected_accuracy"].high == pytest.approx(found["accuracy"].high, abs=0.003)
