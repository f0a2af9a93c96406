"""How doubtful gold is: what judges who are right elsewhere say of it, and who contests it.

The answer of judge j to gold g weighs as much as their skill on all *other* gold,

    w = max(0.1, (a - c) / (1 - c)),    a = (right + 2 m) / (seen + 2)

with c the chance of a guess among the labels and m the accuracy of all judges together: a wrong
gold does not make those who see through it look bad. The doubt of a gold is

    (weight of the misses + weight of the contests) / (weight of all answers + of contests + 1)

so a contest counts as a second miss, one miss alone is never more than a half, and gold that nobody
misses has none. Only a judge's first answer counts: before the next they were told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STRENGTH = 2.0  # answers that the common accuracy stands for in a judge's own
_LEAST = 0.1  # weight of any answer: nobody is without a voice


@dataclass(frozen=True, slots=True)
class AnswersToGold:
    """Answers to gold, one row each, in the order they were given."""

    judge: NDArray[np.int64]
    gold: NDArray[np.int64]
    label: NDArray[np.str_]
    right: NDArray[np.bool_]
    contested: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GoldDoubt:
    """How doubtful one gold is, and which label the best judges gave."""

    doubt: float
    best: str


def measure_doubts(answers: AnswersToGold, labels: int) -> dict[int, GoldDoubt]:
    """The doubt of each gold that was answered; ``labels`` is how many a guess chooses among."""
    first = _first(answers)
    if not first.size:
        return {}
    judge = np.unique(answers.judge[first], return_inverse=True)[1]
    golds, gold = np.unique(answers.gold[first], return_inverse=True)
    right = answers.right[first]
    contested = _contested(answers, first)
    weight = _weights(judge, right, labels)
    loud = weight * contested
    against = np.bincount(gold, weights=weight * ~right + loud, minlength=golds.size)
    total = np.bincount(gold, weights=weight + loud, minlength=golds.size)
    best = _best(gold, answers.label[first], weight, golds.size)
    return {
        int(name): GoldDoubt(float(doubt), said)
        for name, doubt, said in zip(golds, against / (total + 1.0), best, strict=True)
    }


def _first(answers: AnswersToGold) -> NDArray[np.intp]:
    """The rows of each judge's first answer to each gold."""
    pairs = np.stack([answers.judge, answers.gold], axis=1)
    return np.sort(np.unique(pairs, axis=0, return_index=True)[1]) if len(pairs) else np.arange(0)


def _contested(answers: AnswersToGold, first: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether a judge contests a gold, by any of their answers to it."""
    loud = set(
        zip(
            answers.judge[answers.contested].tolist(),
            answers.gold[answers.contested].tolist(),
            strict=True,
        )
    )
    pairs = zip(answers.judge[first].tolist(), answers.gold[first].tolist(), strict=True)
    return np.fromiter((pair in loud for pair in pairs), dtype=np.bool_, count=first.size)


def _weights(
    judge: NDArray[np.intp], right: NDArray[np.bool_], labels: int
) -> NDArray[np.float64]:  # (answer,)
    """The skill of the judge of each answer, on all gold but the one answered."""
    seen = np.bincount(judge)[judge] - 1
    hits = np.bincount(judge, weights=right)[judge] - right
    accuracy = (hits + _STRENGTH * right.mean()) / (seen + _STRENGTH)
    chance = 1.0 / max(labels, 2)
    return np.asarray(np.maximum(_LEAST, (accuracy - chance) / (1.0 - chance)))


def _best(
    gold: NDArray[np.intp], label: NDArray[np.str_], weight: NDArray[np.float64], golds: int
) -> list[str]:
    """The label of most weight of each gold."""
    names, code = np.unique(label, return_inverse=True)
    flat = np.bincount(gold * names.size + code, weights=weight, minlength=golds * names.size)
    return [str(names[place]) for place in flat.reshape(golds, names.size).argmax(axis=1)]


def find_better_label(
    found: Mapping[int, GoldDoubt], gold: int, accepted: tuple[str, ...]
) -> str | None:
    """The label of the best judges, where it is not one that the gold accepts."""
    one = found.get(gold)
    return one.best if one is not None and one.best not in accepted and one.doubt > 0 else None
