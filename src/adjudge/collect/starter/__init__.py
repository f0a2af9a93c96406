"""The starter project: product search, four labels, made items whose right answers are known.

The labels and guidelines follow Le, Edmonds, Hester and Biewald (SIGIR 2010 workshop on
crowdsourcing), section 4.2; products and words are made up.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources

import numpy as np

from adjudge.collect.values.project import GoldEntry, Item, Project, Role
from adjudge.data.scale import Scale

_MAKERS = (
    *("Arvo", "Belmont", "Corda", "Delfi", "Enno"),
    *("Faro", "Gullwing", "Halden", "Ionic", "Juno"),
)
_COLOURS = ("black", "white", "grey", "blue", "green", "red", "oak", "silver")
_SELLING = ("New, in its box.", "Two years of warranty.", "Ships tomorrow.", "Few left.",
            "Returned once, checked.", "Our best seller.")  # fmt: skip
_SOLICITING = (
    ("Earn 900 a week from home", "No product here: message me for the secret. Limited places."),
    ("FREE voucher, click now!!!", "Send your number and card to get your prize today."),
    ("Double your coins overnight", "Send a little now, get twice as much back. Ask me how."),
)
LABELS = ("Matching", "Not Matching", "Off Topic", "Spam")
RESULTS = 5  # of each query
# The mix of the paper's test set (section 3), and a uniform one for gold (its finding).
_WORK = (0.145, 0.8267, 0.025, 0.0033)
_GOLD = (0.25, 0.25, 0.25, 0.25)


def make_starter(*, queries: int = 40, golds: int = 100, seed: int = 0) -> Project:
    """A project to try everything with: ``queries`` x 5 items to judge, and ``golds`` golds.

    Three golds in ten are for training, under queries of their own; the others screen, and stand
    under the queries that are judged, where nothing tells them apart.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(_CATALOGUE))
    training = (3 * golds) // 10
    screening = golds - training
    items: list[Item] = []
    entries: list[GoldEntry] = []
    for number in range(queries + -(-training // RESULTS)):
        product = _CATALOGUE[int(order[number % len(order)])]
        own = number < queries
        kinds = _kinds(_WORK, RESULTS, rng) if own else []
        tests = RESULTS
        if own:
            tests = screening // queries + (number < screening % queries)
        tests = min(tests, golds - len(entries)) if not own else tests
        kinds += _kinds(_GOLD, tests, rng)
        topic = f"q{number + 1:03d}"
        for place, label in enumerate(kinds):
            result, document = _RESULTS[label](product, rng), f"r{place + 1}"
            name = f"{topic}/{document}"
            items.append(
                Item(name=name, topic=topic, query=product.query, category=product.department,
                     document=document, title=result.title, text=result.text)
            )  # fmt: skip
            if not own or place >= RESULTS:
                role: Role = "screening" if own else "training"
                entries.append(
                    GoldEntry(item=name, accepted=(result.label,), reason=result.reason, role=role)
                )
    return Project(
        name="Product search",
        scale=Scale(labels=LABELS, relevant=("Matching",), grades=(1.0, 0.0, 0.0, 0.0)),
        guidelines=resources.files(__package__).joinpath("guidelines.md").read_text("utf-8"),
        items=tuple(items),
        golds=tuple(entries),
    )


@dataclass(frozen=True, slots=True)
class _CatalogueProduct:
    """A kind of product: how people search it, what it is sold as, what is sold beside it."""

    query: str
    department: str
    forms: tuple[str, ...]
    beside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _MadeItem:
    """One made search result with its right label and the reason for it."""

    title: str
    text: str
    label: str
    reason: str


def _catalogue() -> tuple[_CatalogueProduct, ...]:
    text = resources.files(__package__).joinpath("catalogue.csv").read_text("utf-8")
    return tuple(
        _CatalogueProduct(
            query=row["query"],
            department=row["department"],
            forms=tuple(row["forms"].split("|")),
            beside=tuple(row["beside"].split("|")),
        )
        for row in csv.DictReader(text.splitlines())
    )


_CATALOGUE = _catalogue()


def _matching(product: _CatalogueProduct, rng: np.random.Generator) -> _MadeItem:
    form = _pick(product.forms, rng)
    return _MadeItem(
        f"{_pick(_MAKERS, rng)} {form}", _words(rng), "Matching",
        f"This is what a person who searches '{product.query}' most likely wants.",
    )  # fmt: skip


def _beside(product: _CatalogueProduct, rng: np.random.Generator) -> _MadeItem:
    thing = _pick(product.beside, rng)
    return _MadeItem(
        f"{_pick(_MAKERS, rng)} {thing}", _words(rng), "Not Matching",
        f"It goes with a '{product.query}' but is none: accessories and parts are Not Matching.",
    )  # fmt: skip


def _elsewhere(product: _CatalogueProduct, rng: np.random.Generator) -> _MadeItem:
    others = [other for other in _CATALOGUE if other.department != product.department]
    other = others[int(rng.integers(len(others)))]
    return _MadeItem(
        f"{_pick(_MAKERS, rng)} {_pick(other.forms, rng)}",
        f"{_words(rng)} People who bought a {product.query} also looked at this.",
        "Off Topic",
        f"A product of another department ({other.department}); only the words "
        f"'{product.query}' are there.",
    )  # fmt: skip


def _soliciting(product: _CatalogueProduct, rng: np.random.Generator) -> _MadeItem:
    title, text = _SOLICITING[int(rng.integers(len(_SOLICITING)))]
    return _MadeItem(
        f"{title} ({product.query})",
        text,
        "Spam",
        "It solicits, and there is no product behind it.",
    )


_RESULTS = {
    "Matching": _matching,
    "Not Matching": _beside,
    "Off Topic": _elsewhere,
    "Spam": _soliciting,
}


def _words(rng: np.random.Generator) -> str:
    """A line of description: a colour, a number and what sellers say."""
    model = f"{'ABCDEFGH'[int(rng.integers(8))]}{int(rng.integers(100, 999))}"
    return f"Model {model}, {_pick(_COLOURS, rng)}. {_pick(_SELLING, rng)}"


def _pick(choices: tuple[str, ...], rng: np.random.Generator) -> str:
    return choices[int(rng.integers(len(choices)))]


def _kinds(mix: tuple[float, ...], count: int, rng: np.random.Generator) -> list[str]:
    """So many labels, drawn by a mix of them."""
    shares = np.array(mix) / sum(mix)
    return [LABELS[kind] for kind in rng.choice(len(LABELS), size=count, p=shares)]
