"""Targeted training: when a judge gets a refresher, of which golds, and what they are told of it.

The future work of Le and others (2010): after a block of mistakes, training on the kinds of result
that they confused. Pure functions on plain values; randomness comes in as a generator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from adjudge.collect.rules.golds import GoldCard, fill_quota, quota
from adjudge.collect.rules.policy import Policy

_Key = TypeVar("_Key", bound=Hashable)
Pair = tuple[str, str]  # the accepted label, the given one
_TOLD = 3  # kinds of mistake that are named to a judge


def is_due(policy: Policy, *, misses: int, had: int) -> bool:
    """Whether a judge gets a refresher now.

    ``misses`` are golds missed in work since their last refresher, or since their (fresh) start;
    ``had`` the refreshers they have done.
    """
    if policy.refresher_pairs == 0 or had >= policy.refreshers:
        return False
    return misses >= policy.refresher_after


def confusions(missed: Iterable[Pair]) -> dict[Pair, int]:
    """How often each accepted label was taken for which other, the commonest mistake first."""
    counts = Counter(missed)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _label_weights(confused: Mapping[Pair, int]) -> dict[str, int]:
    """How much each label is to be trained.

    A mistake has two sides: the label that was right, and the one that was given. Both are shown,
    since what tells them apart is what the judge has to learn.

    >>> label_weights({("Spam", "Off Topic"): 2, ("Matching", "Off Topic"): 1})
    {'Spam': 2, 'Off Topic': 3, 'Matching': 1}
    """
    weights: dict[str, int] = {}
    for pair, count in confused.items():
        for label in pair:
            weights[label] = weights.get(label, 0) + count
    return weights


def choose_refresher(
    golds: Sequence[GoldCard[_Key]],
    confused: Mapping[Pair, int],
    count: int,
    rng: np.random.Generator,
    *,
    seen: Iterable[_Key] = (),
) -> list[_Key]:
    """The golds of a refresher: of the labels that they confused alone, in proportion, mixed.

    Within a label golds that they have not seen come first. A label with too little gold is made up
    from the others, so that the refresher is as long as their gold allows.
    """
    weights = _label_weights(confused)
    of_kind = [gold for gold in golds if gold.label in weights]
    labels = sorted({gold.label for gold in of_kind})
    wanted = quota(
        {label: float(weights[label]) for label in labels}, labels, min(count, len(of_kind))
    )
    known = set(seen)
    order = [of_kind[place] for place in rng.permutation(len(of_kind))]
    order.sort(key=lambda gold: gold.item in known)
    chosen = fill_quota(order, wanted, min(count, len(of_kind)))
    return [chosen[place].item for place in rng.permutation(len(chosen))]


def why(confused: Mapping[Pair, int], *, kinds: bool = True) -> str:
    """Why a judge gets a refresher, in words for themselves; ``kinds``: with what they confused."""
    total = sum(confused.values())
    results = "1 result whose answer is known" if total == 1 else (
        f"{total} results whose answers are known"
    )  # fmt: skip
    if not kinds:
        return f"Among your last results you missed {results}."
    told = [
        f"{given} where {accepted} is right" + ("" if count == 1 else f" ({count} times)")
        for (accepted, given), count in list(confused.items())[:_TOLD]
    ]
    more = ", among others" if len(confused) > _TOLD else ""
    return f"Among your last results you missed {results}: you answered {'; '.join(told)}{more}."


def to_json(confused: Mapping[Pair, int]) -> list[list[Any]]:
    """Confusions as JSON has them: accepted, given, how often."""
    return [[accepted, given, count] for (accepted, given), count in confused.items()]


def from_json(stored: Iterable[Sequence[Any]]) -> dict[Pair, int]:
    """Confusions from JSON."""
    return {(str(accepted), str(given)): int(count) for accepted, given, count in stored}


def between(marks: Sequence[int], answers: Iterable[tuple[int, bool]]) -> list[tuple[int, int]]:
    """Golds (seen, right) before the first of these marks, after each, and before the next.

    ``answers`` are (place, right), with places in the same order as the marks.

    >>> between([10, 20], [(3, False), (4, True), (12, True), (25, True)])
    [(2, 1), (1, 1), (1, 1)]
    """
    found = [[0, 0] for _ in range(len(marks) + 1)]
    for place, right in answers:
        part = found[int(np.searchsorted(marks, place))]
        part[0] += 1
        part[1] += right
    return [(seen, right) for seen, right in found]
