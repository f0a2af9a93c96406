"""The scikit-learn estimator: its answers are those of adjudge.fit, and its manners are checked."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import adjudge
from adjudge.simulation import Crowd, Population
from adjudge.sklearn import ConsensusEstimator

# What scikit-learn asks for that a table of judgments cannot give.
NOT_OURS = {"check_fit_idempotent": "it predicts from numbers that are no labels of those fitted"}


def crowd() -> tuple[adjudge.Judgments, np.ndarray]:
    made = Crowd(items=120, population=Population.parse("skilled(8,2):9,spammer:3")).make(seed=2)
    judged = made.judgments
    table = np.full((judged.item_count, judged.judge_count), np.nan)
    labels = np.array([float(label) for label in judged.scale.labels])
    table[judged.item, judged.judge] = labels[judged.label]
    return judged, table


def test_it_answers_as_fit_does() -> None:
    judged, table = crowd()
    made = ConsensusEstimator().fit(table)
    wanted = adjudge.fit(judged)
    assert made.labels_.tolist() == [float(one) for one in wanted.labels["label"].to_pylist()]
    np.testing.assert_allclose(made.probabilities_, wanted.posterior)
    np.testing.assert_array_equal(made.predict(table[:9]), made.labels_[:9])
    np.testing.assert_allclose(made.predict_proba(table).sum(axis=1), 1)
    empty = np.full((1, table.shape[1]), np.nan)
    np.testing.assert_allclose(made.predict_proba(empty)[0], wanted.overall_prevalence)


def test_gold_is_y() -> None:
    _, table = crowd()
    y = np.full(len(table), np.nan)
    y[:5] = 1
    made = ConsensusEstimator(model="dawid-skene", settings={"diagonal": 2.0}).fit(table, y)
    assert made.labels_[:5].tolist() == [1.0] * 5
    assert clone(made).settings == {"diagonal": 2.0}
    with pytest.raises(ValueError, match="one truth or NaN for each row"):
        made.fit(table, y[:3])
    with pytest.raises(ValueError, match=r"7.0 is no label that was seen in fit"):
        made.predict(np.full((1, table.shape[1]), 7.0))


@pytest.mark.parametrize("name", sorted(adjudge.MODELS))
@pytest.mark.parametrize("gold", [0, 30])
def test_fit_predict_is_fit_and_then_predict(name: str, gold: int) -> None:
    _, table = crowd()
    y = np.full(len(table), np.nan)
    y[:gold] = np.arange(gold) % 2
    short = {"chains": 2, "warmup": 10, "draws": 10, "thin": 1}
    settings = short if hasattr(adjudge.MODELS[name], "draws") else None
    labels = ConsensusEstimator(model=name, settings=settings).fit_predict(table, y)
    made = ConsensusEstimator(model=name, settings=settings).fit(table, y)
    np.testing.assert_array_equal(made.predict(table), labels)
    order = np.random.default_rng(1).permutation(len(table))
    np.testing.assert_array_equal(made.predict(table[order]), labels[order])
    if not gold and name in ("majority-vote", "vote", "dawid-skene", "item-types"):
        np.testing.assert_allclose(made.predict_proba(table), made.probabilities_, atol=1e-8)


@pytest.mark.full  # its tables hold hundreds of labels each
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks_it() -> None:
    estimator = ConsensusEstimator(model="majority-vote")
    checks = check_estimator(estimator, expected_failed_checks=NOT_OURS, on_fail=None)
    failed = [(one["check_name"], one["exception"]) for one in checks if one["status"] == "failed"]
    assert failed == []
    assert sum(one["status"] == "passed" for one in checks) > 30
