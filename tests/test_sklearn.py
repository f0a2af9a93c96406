"""The scikit-learn estimator: its answers are those of adjudge.fit, and its manners are checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.utils.estimator_checks import check_estimator

import adjudge
from adjudge.simulation import Crowd, Population
from adjudge.sklearn import ConsensusEstimator

# Checks that a table of judgments cannot pass. docs/python.md has this list too.
EXCEPTIONS = {
    "check_classifiers_train": "X holds labels; these checks have features, and labels in y alone",
    "check_classifiers_one_label": "judges may give labels that gold does not have",
    "check_classifiers_classes": "gold has the labels of X; here X has numbers and y has text",
    "check_classifiers_regression_target": "grades may be fractions",
    "check_supervised_y_no_nan": "NaN in y means that there is no gold",
}


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
    expected = adjudge.fit(judged)
    assert made.labels_.tolist() == [float(one) for one in expected.labels["label"].to_pylist()]
    np.testing.assert_allclose(made.probabilities_, expected.posterior)
    np.testing.assert_array_equal(made.predict(table[:9]), made.labels_[:9])
    np.testing.assert_allclose(made.predict_proba(table).sum(axis=1), 1)
    empty = np.full((1, table.shape[1]), np.nan)
    np.testing.assert_allclose(made.predict_proba(empty)[0], expected.overall_prevalence)


def test_gold_is_y() -> None:
    _, table = crowd()
    y = np.full(len(table), np.nan)
    y[:5] = 1
    made = ConsensusEstimator(model="dawid-skene", settings={"diagonal": 2.0}).fit(table, y)
    assert made.labels_[:5].tolist() == [1.0] * 5
    assert clone(made).settings == {"diagonal": 2.0}
    with pytest.raises(ValueError, match="one gold label or NaN for each row"):
        made.fit(table, y[:3])
    with pytest.raises(ValueError, match=r"7.0 is not a label that was seen in fit"):
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


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks_it() -> None:
    estimator = ConsensusEstimator(model="majority-vote")
    checks = check_estimator(estimator, expected_failed_checks=EXCEPTIONS, on_fail=None)
    failed = [(one["check_name"], one["exception"]) for one in checks if one["status"] == "failed"]
    assert failed == []
    assert sum(one["status"] == "passed" for one in checks) > 40
    page = (Path(__file__).parents[1] / "docs" / "python.md").read_text("utf-8")
    assert [name for name in EXCEPTIONS if f"`{name}`" not in page] == []


def test_labels_may_be_text_in_named_columns() -> None:
    _, table = crowd()
    texts = np.where(np.isnan(table), None, np.where(table > 0, "yes", "no"))
    columns = [f"w{at}" for at in range(table.shape[1])]
    frame = pd.DataFrame(texts, columns=columns)
    made = ConsensusEstimator().fit(frame)
    plain = ConsensusEstimator().fit(table)
    assert made.classes_.tolist() == ["no", "yes"]
    assert made.feature_names_in_.tolist() == columns
    assert made.consensus_.judges["judge"].to_pylist() == columns
    assert ((made.predict(frame) == "yes") == (plain.predict(table) > 0)).mean() > 0.95
    assert is_classifier(made)
    assert made.score(frame, made.labels_) == 1.0


def test_more_than_twenty_numbers_are_classes_here() -> None:
    numbers = np.random.default_rng(1).integers(-20, 20, (50, 4)) / 2.0
    made = ConsensusEstimator("majority-vote").fit(numbers)
    assert made.classes_.tolist() == sorted(set(numbers.ravel().tolist()))
    assert made.predict_proba(numbers).shape == (50, len(made.classes_))


def test_parameters_inside_parameters() -> None:
    nested = ConsensusEstimator(adjudge.DawidSkene(iterations=3)).set_params(model__iterations=7)
    assert nested.model.iterations == clone(nested).get_params()["model__iterations"] == 7
    named = ConsensusEstimator("pmf", random_state=3).set_params(settings__rank=2)
    assert named.settings == {"rank": 2}
    assert named.fit(crowd()[1]).consensus_.settings["seed"] == 3
    with pytest.raises(ValueError, match="Invalid parameter"):
        named.set_params(model__rank=2)
