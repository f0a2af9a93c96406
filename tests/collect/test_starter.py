"""The starter project: complete, with gold whose answers are known."""

from __future__ import annotations

from collections import Counter

from adjudge.collect.starter import make_starter


def test_it_is_complete() -> None:
    project = make_starter()
    assert (len(project.items), len(project.golds)) == (300, 100)
    names = [item.name for item in project.items]
    assert len(set(names)) == len(names)
    assert {gold.item for gold in project.golds} <= set(names)
    labels = project.scale.labels
    assert all(gold.reason and gold.accepted[0] in labels for gold in project.golds)
    for label in labels:
        assert f"**{label}**" in project.guidelines


def test_gold_is_spread_over_labels_and_roles() -> None:
    project = make_starter()
    mix = Counter(gold.accepted[0] for gold in project.golds)
    # 100 draws of 1/4 each: sd 4.3
    assert all(abs(mix[label] - 25) < 15 for label in project.scale.labels)
    roles = Counter(gold.role for gold in project.golds)
    assert roles == {"training": 30, "screening": 70}


def test_screening_gold_is_under_queries_that_are_judged() -> None:
    project = make_starter()
    topics = {item.name: item.topic for item in project.items}
    golds = {gold.item for gold in project.golds}
    judged = {item.topic for item in project.items if item.name not in golds}
    for gold in project.golds:
        assert (topics[gold.item] in judged) == (gold.role == "screening")
