"""Mixes of labels in gold: what rules one, what it lacks, what judges are shown of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.collect.rules.golds import GoldCard, quota
from adjudge.collect.values.project import Mix

_SKEWED = 0.5  # a label with more than this share,
_AHEAD = 1.5  # and so many times the share of the next one, rules a mix


def count_missing(
    have: Mapping[str, float], wanted: int, mix: Mix, labels: Sequence[str]
) -> dict[str, int]:
    """By how much each label falls short of its quota."""
    if mix == "any":
        return {}
    lacking = {
        label: count - int(have.get(label, 0))
        for label, count in quota(mix, labels, wanted).items()
    }
    return {label: count for label, count in lacking.items() if count > 0}


def find_ruling(mix: Mapping[str, float], labels: Sequence[str]) -> tuple[str, float] | None:
    """The label that rules a mix, and its share; None where the mix is even enough."""
    total = sum(mix.values())
    if not total or len(labels) < 2:
        return None
    shares = sorted(((mix.get(label, 0) / total, label) for label in labels), reverse=True)
    (most, label), (next_most, _) = shares[0], shares[1]
    skewed = most > _SKEWED and most >= _AHEAD * next_most - 1e-9
    return (label, most) if skewed else None


def find_absent(mix: Mapping[str, float], labels: Sequence[str]) -> list[str]:
    """The labels that a mix has nothing of; none for an empty mix."""
    return [label for label in labels if not mix.get(label, 0)] if sum(mix.values()) else []


def warn_of_skew(
    mix: Mapping[str, float], labels: Sequence[str], *, what: str = "training"
) -> list[str]:
    """What is wrong with a mix of labels, in sentences: one that rules, and those never shown."""
    said = []
    rules = find_ruling(mix, labels)
    if rules is not None:
        label, most = rules
        said.append(
            f"{most:.0%} of the {what} gold is {label}: judges learn to expect it and lean to it, "
            "and whoever always gives it looks good. An even mix gave the best labels in the "
            "experiment of Le and others (2010)."
        )
    none = find_absent(mix, labels)
    if none:
        said.append(f"No {what} gold is {' or '.join(none)}: judges never meet one there.")
    return said


def expect_mix(
    cards: Sequence[GoldCard[Any]], count: int, mix: Mix, labels: Sequence[str]
) -> dict[str, float]:
    """How many golds of each label a judge's set of so many has, on average, from these cards."""
    pool = Counter(card.label for card in cards)
    count = min(count, len(cards))
    if not count:
        return dict.fromkeys(labels, 0.0)
    if mix == "any":
        return {label: count * pool[label] / len(cards) for label in labels}
    wanted = quota(mix, labels, count)
    got = {label: min(wanted[label], pool[label]) for label in labels}
    spare = {label: pool[label] - got[label] for label in labels}
    left, room = count - sum(got.values()), sum(spare.values())
    return {label: got[label] + (left * spare[label] / room if room else 0.0) for label in labels}
