"""Panels have the published counts, and the facts that their documentation states."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from adjudge import BadSetting, UnknownName
from adjudge.simulation import copy_judge, demo
from adjudge.simulation.panels import MODEL_NAME
from papers.panels import GRADES, PREVALENCE, THREE, monitoring_panel, three_judges


def test_the_three_matrices_are_what_the_documentation_says() -> None:
    prevalence, theta = np.array(PREVALENCE), np.array(THREE)
    found, vote, best = np.zeros(3), 0.0, 0.0
    for labels in itertools.product(range(3), repeat=3):
        joint = prevalence * np.prod([theta[j, :, y] for j, y in enumerate(labels)], axis=0)
        counts = np.bincount(labels, minlength=3)
        modes = (counts == counts.max()) / (counts == counts.max()).sum()
        found += joint.sum() * modes
        vote += (joint * modes).sum()
        best += joint.max()
    np.testing.assert_allclose(found, [0.101, 0.154, 0.745], atol=5e-4)
    assert vote == pytest.approx(0.899, abs=5e-4)
    assert best == pytest.approx(0.953, abs=5e-4)
    assert theta[0, 0, 2] == 0
    assert np.count_nonzero(theta == 0) == 1


@pytest.mark.parametrize("items", [5, 3000])
def test_three_judges_judge_every_item(items: int) -> None:
    made = three_judges(items, seed=4)
    judgments = made.judgments
    assert len(judgments) == 3 * items
    assert judgments.scale.labels == ("1", "2", "3")
    np.testing.assert_array_equal(
        np.sort(judgments.judge.reshape(-1, 3), axis=1), [[0, 1, 2]] * items
    )
    np.testing.assert_allclose(made.confusion, THREE)
    np.testing.assert_allclose(made.prevalence, [PREVALENCE])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_monitoring_panel_has_the_published_counts(seed: int) -> None:
    judgments, truth = monitoring_panel(seed)
    assert (len(judgments), judgments.item_count, judgments.judge_count) == (6008, 48, 148)
    assert judgments.scale.labels == GRADES
    assert len(truth) == 48
    load = judgments.counts_per_judge
    assert (load[:118] == 48).all()
    assert load[118:].min() == 1
    assert load[118:].max() == 22
    assert len(np.unique(judgments.item * 148 + judgments.judge)) == 6008
    assert (np.diff(judgments.item) >= 0).all()
    true = truth.align(judgments)[judgments.item]
    right = judgments.label == true
    assert right[judgments.judge < 118].mean() == pytest.approx(0.65, abs=0.04)
    mean = [np.bincount(judgments.label[true == grade], minlength=5) for grade in range(5)]
    assert np.argmax(mean, axis=1).tolist() == [0, 1, 2, 3, 4]
    assert (np.diff(mean[0]) < 0).all()  # falls off from the diagonal
    new = judgments.item[judgments.judge >= 118]
    assert np.bincount(new, minlength=48).min() >= 1  # spread over all items


def test_the_demonstration_has_something_of_everything() -> None:
    made = demo()
    judgments = made.judgments
    assert (judgments.item_count, judgments.judge_count, judgments.topic_count) == (400, 40, 20)
    assert judgments.scale.labels == ("0", "1", "2")
    assert judgments.scale.relevant == ("1", "2")
    assert len(made.gold) == 80
    assert made.gold.honeypot is not None
    assert made.gold.honeypot.sum() == 20
    assert sum(kind.startswith("spammer") for kind in made.kinds) == 6
    assert made.kinds.count("lazy(0)") == made.kinds.count("adversary") == 1
    assert made.kinds[-1] == "model"
    assert judgments.judges[39].as_py() == MODEL_NAME
    assert judgments.counts_per_judge.min() >= 15  # nobody is idle
    assert judgments.time is not None
    assert judgments.seconds is not None
    assert len(judgments.time) == len(judgments.seconds) == len(judgments)


@pytest.mark.parametrize("name", [MODEL_NAME, "judge-0003"])  # of every item, and of few
def test_copies_say_what_the_judge_says_and_nothing_else_changes(name: str) -> None:
    made = demo()
    copied = copy_judge(made, name, 2)
    rows = made.judgments.to_table().to_pylist()
    found = copied.judgments.to_table().to_pylist()
    names = {f"{name}-b", f"{name}-c"}
    assert [row for row in found if row["judge"] not in names] == rows
    own = [row for row in rows if row["judge"] == name]
    for copy in names:
        assert [row for row in found if row["judge"] == copy] == [
            {**row, "judge": copy} for row in own
        ]
    assert len(found) == len(rows) + 2 * len(own)
    assert copied.kinds == (*made.kinds, "copy", "copy")
    assert copied.truth is made.truth
    place = made.judgments.judges.to_pylist().index(name)
    np.testing.assert_array_equal(copied.confusion[-1], made.confusion[place])


def test_no_copies_change_nothing_and_wrong_copies_are_refused() -> None:
    made = demo()
    same = copy_judge(made, MODEL_NAME, 0).judgments
    assert same.to_table().equals(made.judgments.to_table())
    with pytest.raises(UnknownName, match="did you mean 'llm-judge-8b'"):
        copy_judge(made, "llm-judge-8")
    with pytest.raises(BadSetting, match="copies"):
        copy_judge(made, MODEL_NAME, 26)
