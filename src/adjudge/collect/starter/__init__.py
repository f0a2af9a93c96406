"""The starter project: product search, four labels, made items whose right answers are known.

The labels and guidelines follow Le, Edmonds, Hester and Biewald (SIGIR 2010 workshop on
crowdsourcing), section 4.2; products and words are made up.
"""

from __future__ import annotations

from importlib import resources

import numpy as np

from adjudge.collect.project import GoldEntry, Item, Project, Role
from adjudge.collect.starter.catalogue import CATALOGUE, Made, made
from adjudge.data.scale import Scale

LABELS = ("Matching", "Not Matching", "Off Topic", "Spam")
RESULTS = 5  # of each query

# The mix of the paper's test set (section 3), and a uniform one for gold (its finding).
_WORK = (0.145, 0.8267, 0.025, 0.0033)
_GOLD = (0.25, 0.25, 0.25, 0.25)


def starter(*, queries: int = 40, golds: int = 100, seed: int = 0) -> Project:
    """A project to try everything with: ``queries`` x 5 items to judge, and ``golds`` golds."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(len(CATALOGUE) * 4)
    items: list[Item] = []
    entries: list[GoldEntry] = []
    gold_queries = -(-golds // RESULTS)
    for number in range(queries + gold_queries):
        is_gold = number >= queries
        product = CATALOGUE[int(names[number % len(names)]) % len(CATALOGUE)]
        mix = np.array(_GOLD if is_gold else _WORK)
        kinds = rng.choice(len(LABELS), size=RESULTS, p=mix / mix.sum())
        query, results = made(product, [LABELS[kind] for kind in kinds], rng)
        topic = f"q{number + 1:03d}"
        for place, result in enumerate(results, start=1):
            name = f"{topic}/r{place}"
            items.append(_item(name, topic, query, product.department, result))
            if is_gold and len(entries) < golds:
                role: Role = "training" if number % 2 == 0 else "screening"
                entries.append(
                    GoldEntry(item=name, accepted=(result.label,), reason=result.reason, role=role)
                )
    golden = {entry.item for entry in entries}
    kept = [i for i in items if int(i.topic[1:]) <= queries or i.name in golden]
    return Project(
        name="Product search",
        scale=Scale(labels=LABELS, relevant=("Matching",)),
        guidelines=resources.files(__package__).joinpath("guidelines.md").read_text("utf-8"),
        items=tuple(kept),
        golds=tuple(entries),
    )


def _item(name: str, topic: str, query: str, department: str, result: Made) -> Item:
    return Item(
        name=name, topic=topic, query=query, category=department, document=name.split("/")[1],
        title=result.title, text=result.text,
    )  # fmt: skip
