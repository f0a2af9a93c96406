"""The starter project: whole, seeded, with gold whose answers are known."""

from __future__ import annotations

from collections import Counter

from adjudge.collect.importing import Upload, read
from adjudge.collect.starter import LABELS, RESULTS, make_starter


def test_it_is_a_whole_project() -> None:
    project = make_starter(queries=40, golds=100)
    assert len(project.items) == 40 * RESULTS + 100
    assert len(project.golds) == 100
    names = [item.name for item in project.items]
    assert len(set(names)) == len(names)
    assert {gold.item for gold in project.golds} <= set(names)
    assert all(gold.reason and gold.accepted[0] in LABELS for gold in project.golds)
    for label in LABELS:
        assert f"**{label}**" in project.guidelines


def test_gold_is_spread_evenly_over_labels_and_roles() -> None:
    project = make_starter(queries=5, golds=400)
    mix = Counter(gold.accepted[0] for gold in project.golds)
    # 400 draws of 1/4 each: sd 8.7
    assert all(abs(mix[label] - 100) < 35 for label in LABELS)
    roles = Counter(gold.role for gold in project.golds)
    assert (roles["training"], roles["screening"]) == (120, 280)


def test_screening_gold_stands_under_queries_that_are_judged() -> None:
    project = make_starter(queries=40, golds=100)
    topics = {item.name: item.topic for item in project.items}
    golds = {gold.item for gold in project.golds}
    judged = {item.topic for item in project.items if item.name not in golds}
    for gold in project.golds:
        assert (topics[gold.item] in judged) == (gold.role == "screening")


def test_the_seed_decides() -> None:
    assert make_starter(seed=3) == make_starter(seed=3)
    assert make_starter(seed=3).items != make_starter(seed=4).items


def test_it_reads_back_from_a_file() -> None:
    project = make_starter(queries=3, golds=10)
    lines = ["item\ttopic\tquery\tdocument\tcategory\ttitle\ttext\tgold\treason\trole"]
    golds = {gold.item: gold for gold in project.golds}
    for item in project.items:
        gold = golds.get(item.name)
        told = (gold.accepted[0], gold.reason, gold.role) if gold else ("", "", "")
        cells = (item.name, item.topic, item.query, item.document, item.category, item.title)
        lines.append("\t".join((*cells, item.text, *told)))
    upload = Upload(name="items.tsv", body="\n".join(lines).encode())
    preview = read([upload], scale=project.scale).check()
    assert (preview.items, preview.golds) == (project.items, project.golds)
