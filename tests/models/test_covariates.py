"""Covariates of items and judges: made data whose coefficients are known, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from scipy.special import expit

from adjudge import (
    BadData,
    BadSetting,
    Gold,
    HierarchicalConfusion,
    HierarchicalRelevance,
    Judgments,
    Scale,
)
from adjudge.models.covariates import design

SCALE = Scale(labels=("0", "1"), relevant=("1",))


@pytest.fixture(scope="module")
def made():
    """3,000 items, 3 judgments each; relevance by score, sensitivity by training."""
    rng = np.random.default_rng(4)
    items, judges = 3000, 150
    score = rng.normal(50, 10, items)  # standardised: 1.5 a sd
    truth = rng.random(items) < expit(-0.3 + 1.5 * (score - 50) / 10)
    trained = rng.random(judges) < 0.5
    sensitivity = rng.beta(*(20 * np.array([0.62, 0.38])), judges)
    sensitivity[trained] = rng.beta(*(20 * np.array([0.85, 0.15])), trained.sum())
    specificity = rng.beta(14, 6, judges)
    item = np.repeat(np.arange(items), 3)
    judge = np.concatenate([rng.choice(judges, 3, replace=False) for _ in range(items)])
    right = np.where(truth[item], sensitivity[judge], specificity[judge]) > rng.random(len(item))
    label = np.where(right, truth[item], ~truth[item]).astype(int)
    judgments = Judgments.from_table(
        {
            "item": [f"d{i:04}" for i in item],
            "judge": [f"j{j:03}" for j in judge],
            "label": label.astype(str),
        },
        scale=SCALE,
    )
    known = pa.table({"item": [f"d{i:04}" for i in range(items)], "score": score})
    people = pa.table(
        {
            "judge": [f"j{j:03}" for j in range(judges)],
            "trained": np.where(trained, "yes", "no").tolist(),
        }
    )
    order = [int(name[1:]) for name in judgments.items.to_pylist()]
    return judgments, known, people, truth[order]


def loss(fit, truth) -> tuple[float, float]:
    """Accuracy and log loss."""
    p = np.clip(fit.posterior[:, 1], 1e-9, 1 - 1e-9)
    return float(np.mean((p > 0.5) == truth)), float(-np.mean(np.log(np.where(truth, p, 1 - p))))


def slope(fit, begins: str) -> float:
    note = next(note for note in fit.notes if note.startswith(begins))
    return float(note.split(": ")[1].split()[0])


def test_a_score_helps_and_its_coefficient_is_found(made) -> None:
    judgments, items, people, truth = made
    plain = HierarchicalRelevance(warmup=100, draws=100).fit(judgments)
    scored = HierarchicalRelevance(
        item_columns=("score",), item_table=items, judge_columns="trained", judge_table=people
    ).fit(judgments)
    assert scored.converged
    without, with_score = loss(plain, truth), loss(scored, truth)
    assert with_score[0] > without[0] + 0.02
    assert with_score[1] < without[1] - 0.05
    assert slope(scored, "relevance by score") == pytest.approx(1.5, abs=0.3)
    # .62 against .85 is 1.24 in log odds, .62 of it for each sd of a column that is half and half.
    effect = next(note for note in scored.notes if note.startswith("sensitivity by trained"))
    sign = 1 if "trained yes" in effect else -1
    assert sign * slope(scored, "sensitivity by trained") == pytest.approx(0.62, abs=0.25)
    assert abs(slope(scored, "specificity by trained")) < 0.25
    assert np.allclose(scored.confusion.sum(axis=2), 1)


def test_gold_stays_and_a_useless_column_does_no_harm(made) -> None:
    judgments, _, _, truth = made
    names = judgments.items.to_pylist()
    noise = pa.table({"item": names, "noise": np.random.default_rng(1).normal(size=len(names))})
    gold = Gold.of({name: str(int(truth[at])) for at, name in enumerate(names[:300])})
    fit = HierarchicalRelevance(item_columns="noise", item_table=noise).fit(judgments, gold)
    assert np.array_equal(fit.choice[:300], truth[:300])
    assert abs(slope(fit, "relevance by noise")) < 0.2
    plain = HierarchicalRelevance(warmup=100, draws=100).fit(judgments, gold)
    assert loss(fit, truth)[1] == pytest.approx(loss(plain, truth)[1], abs=0.02)


def test_grades_by_a_score_and_by_training() -> None:
    rng = np.random.default_rng(5)
    items, judges = 1500, 60
    score = rng.normal(size=items)
    odds = np.exp(np.array([0.0, -0.2, -1.0]) + 1.2 * score[:, None] * np.arange(3))
    truth = (rng.random(items)[:, None] > np.cumsum(odds / odds.sum(axis=1, keepdims=True), 1)).sum(
        axis=1
    )
    trained = np.arange(judges) < 30
    item = np.repeat(np.arange(items), 3)
    judge = np.concatenate([rng.choice(judges, 3, replace=False) for _ in range(items)])
    right = rng.random(len(item)) < np.where(trained[judge], 0.85, 0.55)
    label = np.where(right, truth[item], (truth[item] + rng.integers(1, 3, len(item))) % 3)
    rows = {"item": [f"d{i:04}" for i in item], "judge": [f"j{j:02}" for j in judge]}
    judgments = Judgments.from_table({**rows, "label": label.astype(str)})
    known = pa.table({"item": [f"d{i:04}" for i in range(items)], "score": score})
    people = {"judge": [f"j{j:02}" for j in range(judges)], "trained": trained.astype(float)}
    columns = {"item_columns": "score", "item_table": known}
    scored = HierarchicalConfusion(
        **columns, judge_columns="trained", judge_table=pa.table(people)
    ).fit(judgments)
    plain = HierarchicalConfusion(method="variational").fit(judgments)
    assert scored.converged
    assert np.mean(scored.choice == truth) > np.mean(plain.choice == truth) + 0.02
    assert slope(scored, "relevance by score") == pytest.approx(1.2, abs=0.15)
    # .85 against .55 is 1.53 in log odds: half of it for each sd of a column that is half and half.
    for grade in "012":
        assert slope(scored, f"accuracy on {grade} by trained") == pytest.approx(0.77, abs=0.25)
    np.testing.assert_allclose(scored.confusion.sum(axis=2), 1)
    names = judgments.with_scale(Scale(labels=("0", "1", "2"), ordinal=False))
    with pytest.raises(BadData, check=lambda fault: fault.expected.startswith("an ordinal scale")):
        HierarchicalConfusion(**columns).fit(names)
    with pytest.raises(BadSetting, check=lambda fault: fault.setting == "prevalence"):
        HierarchicalConfusion(**columns, prevalence=(0.5, 0.3, 0.2))


def test_columns_are_standardised_and_what_is_missing_is_the_mean() -> None:
    rows = pa.array(["a", "b", "c", "d"], pa.large_string())
    table = {"item": ["c", "a", "b"], "length": [30.0, 10.0, 20.0], "kind": ["x", "y", "x"]}
    found = design(table, ("length", "kind"), "item", rows)
    assert found.names == ("length", "kind y")
    assert found.values[:, 0] == pytest.approx([-1.2247, 0, 1.2247, 0], abs=1e-4)
    assert found.values[:, 1] == pytest.approx([1.4142, -0.7071, -0.7071, 0], abs=1e-4)
    assert found.missing == 2
    # The server's table of judges has an empty text where a link says nothing.
    spoken = {"judge": ["a", "b", "c", "d"], "language": ["fr", "en", "", "fr"]}
    found = design(spoken, ("language",), "judge", rows)
    assert (found.names, found.missing, found.values[2, 0]) == (("language en",), 1, 0.0)


def test_a_file_is_read_and_what_is_wrong_is_named(tmp_path: Path, made) -> None:
    judgments, items, _, _ = made
    csv.write_csv(items, tmp_path / "items.csv")
    few = judgments.select(items=np.arange(judgments.item_count) < 100)
    fit = HierarchicalRelevance(item_columns="score", item_table=str(tmp_path / "items.csv")).fit(
        few
    )
    assert any(note.startswith("relevance by score") for note in fit.notes)
    with pytest.raises(BadData, match="there is no column 'rank' in the table of items; it has"):
        HierarchicalRelevance(item_columns="rank", item_table=items).fit(few)
    with pytest.raises(BadSetting, match=r"judge_table"):
        HierarchicalRelevance(judge_columns="trained").fit(few)
    same = items.set_column(1, "score", pa.array(np.ones(len(items))))
    with pytest.raises(BadData, match="'score' of the items has one value"):
        HierarchicalRelevance(item_columns="score", item_table=same).fit(few)
