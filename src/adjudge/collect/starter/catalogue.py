"""Made products: for each a query, what answers it, what goes with it, and what does not."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources

import numpy as np


@dataclass(frozen=True, slots=True)
class _CatalogueProduct:
    """A kind of product: how people search it, what it is sold as, what is sold beside it."""

    query: str
    department: str
    forms: tuple[str, ...]
    beside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MadeItem:
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


CATALOGUE = _catalogue()
_MAKERS = (
    "Arvo",
    "Belmont",
    "Corda",
    "Delfi",
    "Enno",
    "Faro",
    "Gullwing",
    "Halden",
    "Ionic",
    "Juno",
)
_COLOURS = ("black", "white", "grey", "blue", "green", "red", "oak", "silver")
_SELLING = ("New, in its box.", "Two years of warranty.", "Ships tomorrow.", "Few left.",
            "Returned once, checked.", "Our best seller.")  # fmt: skip
_SOLICITING = (
    ("Earn 900 a week from home", "No product here: message me for the secret. Limited places."),
    ("FREE voucher, click now!!!", "Send your number and card to get your prize today."),
    ("Double your coins overnight", "Send a little now, get twice as much back. Ask me how."),
)


def made(
    product: _CatalogueProduct, labels: list[str], rng: np.random.Generator
) -> tuple[str, list[MadeItem]]:
    """A query for the product, and a result for each wanted label."""
    return product.query, [_RESULTS[label](product, rng) for label in labels]


def _matching(product: _CatalogueProduct, rng: np.random.Generator) -> MadeItem:
    form = _pick(product.forms, rng)
    return MadeItem(
        f"{_pick(_MAKERS, rng)} {form}", _words(rng), "Matching",
        f"This is what a person who searches '{product.query}' most likely wants.",
    )  # fmt: skip


def _beside(product: _CatalogueProduct, rng: np.random.Generator) -> MadeItem:
    thing = _pick(product.beside, rng)
    return MadeItem(
        f"{_pick(_MAKERS, rng)} {thing}", _words(rng), "Not Matching",
        f"It goes with a '{product.query}' but is none: accessories and parts are Not Matching.",
    )  # fmt: skip


def _elsewhere(product: _CatalogueProduct, rng: np.random.Generator) -> MadeItem:
    others = [other for other in CATALOGUE if other.department != product.department]
    other = others[int(rng.integers(len(others)))]
    return MadeItem(
        f"{_pick(_MAKERS, rng)} {_pick(other.forms, rng)}",
        f"{_words(rng)} People who bought a {product.query} also looked at this.",
        "Off Topic",
        f"A product of another department ({other.department}); only the words "
        f"'{product.query}' are there.",
    )  # fmt: skip


def _soliciting(product: _CatalogueProduct, rng: np.random.Generator) -> MadeItem:
    title, text = _SOLICITING[int(rng.integers(len(_SOLICITING)))]
    return MadeItem(
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
