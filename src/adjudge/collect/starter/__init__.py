"""The starter project: product search, four labels, made items whose right answers are known.

The labels and guidelines follow Le, Edmonds, Hester and Biewald (SIGIR 2010 workshop on
crowdsourcing), section 4.2; products and words are made up.
"""

from __future__ import annotations

from importlib import resources

import numpy as np

from adjudge.collect.starter.catalogue import CATALOGUE, MadeItem, made
from adjudge.collect.values.project import GoldEntry, Item, Project, Role
from adjudge.data.scale import Scale

LABELS = ("Matching", "Not Matching", "Off Topic", "Spam")
RESULTS = 5  # of each query

# The mix of the paper's test set (section 3), and a uniform one for gold (its finding).
_WORK = (0.145, 0.8267, 0.025, 0.0033)
_GOLD = (0.25, 0.25, 0.25, 0.25)


def starter(*, queries: int = 40, golds: int = 100, seed: int = 0) -> Project:
    """A project to try everything with: ``queries`` x 5 items to judge, and ``golds`` golds.

    Three golds in ten are for training, under queries of their own; the others screen, and stand
    under the queries that are judged, where nothing tells them apart.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(CATALOGUE))
    training = (3 * golds) // 10
    screening = golds - training
    items: list[Item] = []
    entries: list[GoldEntry] = []
    for number in range(queries + -(-training // RESULTS)):
        product = CATALOGUE[int(order[number % len(order)])]
        own = number < queries
        kinds = _kinds(_WORK, RESULTS, rng) if own else []
        tests = RESULTS
        if own:
            tests = screening // queries + (number < screening % queries)
        tests = min(tests, golds - len(entries)) if not own else tests
        kinds += _kinds(_GOLD, tests, rng)
        query, results = made(product, kinds, rng)
        topic = f"q{number + 1:03d}"
        for place, result in enumerate(results):
            name = f"{topic}/r{place + 1}"
            items.append(_item(name, topic, query, product.department, result))
            if not own or place >= RESULTS:
                role: Role = "screening" if own else "training"
                entries.append(
                    GoldEntry(item=name, accepted=(result.label,), reason=result.reason, role=role)
                )
    return Project(
        name="Product search",
        scale=Scale(labels=LABELS, relevant=("Matching",)),
        guidelines=resources.files(__package__).joinpath("guidelines.md").read_text("utf-8"),
        items=tuple(items),
        golds=tuple(entries),
    )


def _kinds(mix: tuple[float, ...], count: int, rng: np.random.Generator) -> list[str]:
    """So many labels, drawn by a mix of them."""
    shares = np.array(mix) / sum(mix)
    return [LABELS[kind] for kind in rng.choice(len(LABELS), size=count, p=shares)]


def _item(name: str, topic: str, query: str, department: str, result: MadeItem) -> Item:
    return Item(
        name=name, topic=topic, query=query, category=department, document=name.split("/")[1],
        title=result.title, text=result.text,
    )  # fmt: skip
