"""The starter project: complete, with gold whose answers are known."""

from __future__ import annotations

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


def test_screening_gold_is_under_queries_that_are_judged() -> None:
    project = make_starter()
    topics = {item.name: item.topic for item in project.items}
    golds = {gold.item for gold in project.golds}
    judged = {item.topic for item in project.items if item.name not in golds}
    for gold in project.golds:
        assert (topics[gold.item] in judged) == (gold.role == "screening")
