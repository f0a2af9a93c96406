"""What the PMF paper says, by its own test: paired, over the items of a split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.evaluation.significance import paired_t_test
from adjudge.replications._claims import write_verdict
from adjudge.replications.pmf import FITS, LEAK, PUBLISHED, RANK, RIDGE, RIDGES
from adjudge.replications.replication import Claim

Outcomes = dict[str, list[dict[str, float]]]  # method: split: ACC, SPE, SEN, coverage, covered
Marks = dict[str, list[str]]  # method: split: 1 for every item that is right, 0 for the others


def _mean(outcomes: Outcomes, name: str) -> float:
    return float(np.mean([run["ACC"] for run in outcomes[name]]))


def right_of(text: str) -> NDArray[np.float64]:  # (item,)
    """Marks as numbers."""
    return np.array([float(mark) for mark in text])


@dataclass(frozen=True, slots=True)
class _Compared:
    """Two methods over the items of every split: by more than half of the splits, and in words."""

    ahead: int
    behind: int
    splits: int
    p: float  # the median

    @property
    def better(self) -> bool:
        """Whether the first is significantly better in more than half of the splits."""
        return 2 * self.ahead > self.splits

    @property
    def equal(self) -> bool:
        """Whether neither is significantly better in more than half of the splits."""
        return not self.better and 2 * self.behind <= self.splits


def compare(marks: Marks, first: str, second: str) -> _Compared:
    """A paired test over the items of each split."""
    tests = [
        paired_t_test(right_of(one), right_of(other))
        for one, other in zip(marks[first], marks[second], strict=True)
    ]
    return _Compared(
        ahead=sum(test.different and test.mean > 0 for test in tests),
        behind=sum(test.different and test.mean < 0 for test in tests),
        splits=len(tests),
        p=float(np.median([test.p for test in tests])),
    )


def claims(outcomes: Outcomes, marks: Marks) -> list[Claim]:
    """What the paper says of its methods, by its own test: paired, over the items of a split.

    The same relations are asked of the published ranks, which are such a test's.
    """
    one, two, three, four, five, six, seven = PUBLISHED
    rest = [name for name in PUBLISHED if name not in (five, six)]
    said: list[tuple[str, list[tuple[str, str, str]]]] = [
        ("PMF with majority voting outperforms majority voting.", [(three, ">", one)]),
        ("PMF with majority voting performs as EM does.", [(three, "=", two)]),
        (
            "EM and PMF, without gold, match weighted voting with it.",
            [(two, "=", four), (three, "=", four)],
        ),
        (
            "Filtering judges beats voting without a filter.",
            [(five, ">", one), (six, ">", four)],
        ),
        (
            "Filtering gives the greatest benefit of all: methods 5 and 6 are the best.",
            [(name, ">", other) for name in (five, six) for other in rest],
        ),
        ("With a filter, weights add nothing (methods 5 and 6).", [(five, "=", six)]),
        (
            "Filtering does better without PMF than with it (methods 6 and 7).",
            [(six, ">", seven)],
        ),
        (
            "PMF with weights and filter beats weights alone (methods 7 and 4).",
            [(seven, ">", four)],
        ),
    ]
    return [_claim(text, relations, outcomes, marks) for text, relations in said]


def _claim(
    text: str, relations: list[tuple[str, str, str]], outcomes: Outcomes, marks: Marks
) -> Claim:
    """A claim of which method beats or equals which, by the tests here and by published ranks."""
    names = list(dict.fromkeys(name for a, _, b in relations for name in (a, b)))
    words = [f"{name} {_mean(outcomes, name):.3f}" for name in names]
    tests = []
    for a, sign, b in relations:
        test = compare(marks, a, b)
        tests.append(
            f"{a[0]} {sign} {b[0]}: {'yes' if _related(marks, a, sign, b) else 'no'}, better in "
            f"{test.ahead} of {test.splits} splits, worse in {test.behind}, p {test.p:.2g}"
        )
    readings = [_read(how, relations, outcomes, marks) for how in (*list(FITS)[1:], LEAK)]
    said = "; ".join(reading for reading in readings if reading)
    return Claim(
        text=text,
        holds=all(_related(marks, *relation) for relation in relations),
        published=", ".join(
            f"{name} {PUBLISHED[name][0]:.3f} (rank {PUBLISHED[name][1]})" for name in names
        )
        + ".",
        evidence=f"{', '.join(words)}; {'; '.join(tests)}.",
        criterion=_TESTED,
        reading=f"λ = {RIDGE:g}, fitted to the minimum, judges measured on training gold; {said}."
        if said
        else "",
        source="page 2",
        passes=all(_ranked(*relation) for relation in relations),
    )


_TESTED = (
    "if paired tests over the items say so in more than half of the splits; of the published, if "
    "their ranks, which come of such tests, do."
)


def _read(how: str, relations: list[tuple[str, str, str]], outcomes: Outcomes, marks: Marks) -> str:
    """What another reading says of the relations; nothing where it has none of the methods."""

    def other(name: str) -> str:
        return f"{name}{how}" if f"{name}{how}" in marks else name

    moved = [(other(a), sign, other(b)) for a, sign, b in relations]
    if moved == relations:
        return ""
    names = dict.fromkeys(name for a, _, b in moved for name in (a, b) if name.endswith(how))
    figures = ", ".join(f"{name[: -len(how)]} {_mean(outcomes, name):.3f}" for name in names)
    holds = all(_related(marks, *relation) for relation in moved)
    leak = " (leakage)" if how == LEAK else ""
    return f"{how[2:]}{leak}: {figures}, {write_verdict(holds)}"


def _related(marks: Marks, first: str, sign: str, second: str) -> bool:
    test = compare(marks, first, second)
    return test.better if sign == ">" else test.equal


def _ranked(first: str, sign: str, second: str) -> bool:
    """The relation by the published ranks of accuracy."""
    mine, theirs = PUBLISHED[first][1], PUBLISHED[second][1]
    return mine < theirs if sign == ">" else mine == theirs


def grid_claim(tried: Sequence[Sequence[float]]) -> Claim:
    """What cross-validation chooses, of the paper's grid and of a longer one."""
    inside = [entry for entry in tried if entry[1] in RIDGES]
    best, every = (min(entries, key=lambda entry: entry[2]) for entries in (inside, tried))
    return Claim(
        text="Cross-validation over all labels chooses D = 30 and λ = 0.1.",
        holds=(best[0], best[1]) == (RANK, RIDGE),
        criterion="if it chooses both of the paper's grid.",
        evidence=f"Of the paper's grid it chooses D = {best[0]:g}, λ = {best[1]:g} here (held-out "
        f"RMSE {best[2]:.4f}); of the longer one D = {every[0]:g}, λ = {every[1]:g} "
        f"({every[2]:.4f}).",
        source="page 2",
    )


def beyond(outcomes: Outcomes, marks: Marks) -> list[Claim]:
    """The best models against the best of the seven, without gold and with it."""
    claims = []
    for gold, theirs in ((False, ("1 MV", "2 EM", "3 PMF+MV")), (True, tuple(PUBLISHED)[3:])):
        mine = [
            name
            for name in outcomes
            if name in marks
            and name[0].isalpha()
            and name.endswith(", gold") == gold
            and "Dawid" not in name
        ]
        best, other = (
            max(names, key=lambda name: _mean(outcomes, name)) for names in (mine, theirs)
        )
        test = compare(marks, best, other)
        claims.append(
            Claim(
                text=f"{'With' if gold else 'Without'} gold, a Bayesian model beats the best of "
                "the seven methods.",
                holds=test.better,
                evidence=f"{best} {_mean(outcomes, best):.3f}, {other} "
                f"{_mean(outcomes, other):.3f} (better in {test.ahead} of {test.splits} splits, "
                f"p {test.p:.2g}).",
                source="beyond the paper",
            )
        )
    return claims
