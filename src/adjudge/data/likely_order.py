"""The order that the words of labels suggest: never taken in silence, only asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adjudge.data.source import Source
from adjudge.errors import Remedy

_LEAST, _MOST = 3, 9  # labels: two need no order, and many that seem to have one are rather codes

# Each line is an order, lowest first; words that stand for the same step are joined by "/".
_ORDERS = tuple(
    tuple(frozenset(step.split("/")) for step in line.split(" < "))
    for line in (
        "very bad/terrible/awful/very poor < bad/poor < fair/mediocre/average/acceptable/adequate/"
        "ok/okay < good < very good/great < excellent < perfect/outstanding/ideal",
        "none/zero < very low/lowest < low < medium/moderate/middle/average/mid < high < "
        "very high/highest",
        "very small/tiny < small < medium/moderate/middle/average < large/big < "
        "very large/very big/huge",
        "very short < short < medium/average < long < very long",
        "none/trivial/negligible < minor/mild/low < moderate/medium < major/severe/serious/high < "
        "critical/extreme/fatal",
        "very easy < easy < medium/moderate/average < hard/difficult < very hard/very difficult",
        "beginner/novice < intermediate < advanced < expert",
        "never < rarely/seldom < sometimes/occasionally < often/frequently < usually/mostly < "
        "always",
        "no/none/not at all < maybe/perhaps/possibly/partly/partially/somewhat/a little/slightly < "
        "mostly/largely < yes/fully/completely/very much",
        "false < mostly false < half true/partly true/partially true/mixture < mostly true < true",
        "much worse < worse < slightly worse < same/about the same/equal < slightly better < "
        "better < much better",
        "very negative/strongly negative < negative < slightly negative/somewhat negative < "
        "neutral < slightly positive/somewhat positive < positive < "
        "very positive/strongly positive",
        "very unlikely < unlikely < neutral/possible/possibly < likely < very likely",
        "strongly disagree/completely disagree/totally disagree < disagree < "
        "somewhat disagree/slightly disagree < neutral/undecided/neither/"
        "neither agree nor disagree < somewhat agree/slightly agree < agree < "
        "strongly agree/completely agree/totally agree",
        "very dissatisfied/very unsatisfied < dissatisfied/unsatisfied < "
        "neutral/neither satisfied nor dissatisfied < satisfied < very satisfied",
        "irrelevant < complement < substitute < exact",  # of products for a query
    )
)

# How much of it: "Not relevant", "Partially relevant", "Relevant", "Highly relevant".
_DEGREES = tuple(
    frozenset(step.split("/"))
    for step in (
        "not/not at all/non/never/in/ir/im/un",
        "barely/hardly",
        "slightly/marginally/a little/a bit/weakly",
        "somewhat/partially/partly/fairly/moderately/quite/related but not",
        "mostly/largely/mainly",
        "",
        "very/highly/strongly",
        "fully/completely/perfectly/extremely/totally/exactly/entirely",
    )
)


@dataclass(frozen=True, slots=True)
class LikelyOrder:
    """Labels lowest first, where their words have an order that people know; else none."""

    labels: tuple[str, ...]

    @classmethod
    def of(cls, labels: Sequence[str]) -> LikelyOrder:
        """The order of labels, if there is one."""
        if not _LEAST <= len(labels) <= _MOST:
            return cls(())
        words = [re.sub(r"[\W_]+", " ", label.casefold()).strip() for label in labels]
        known = (_within(words, order) for order in _ORDERS)
        for steps in (_numbered(words), _of_degree(words), *known):
            if len(steps) == len(set(steps)) == len(labels):
                return cls(tuple(label for _, label in sorted(zip(steps, labels, strict=True))))
        return cls(())

    def tell(self, column: str, place: Source) -> None:
        """Remark that labels which are taken without an order have one, and how to say so."""
        if self.labels and not any("<" in label for label in self.labels):
            place.remark(
                f"column {column}: these labels look ordered and are taken without an order",
                Remedy("labels", "<".join(self.labels)),
            )


def _numbered(words: list[str]) -> list[int]:
    """The numbers that labels begin with: ``1 star``, ``2 stars``."""
    found = [re.match(r"(\d{1,2}) ?[^\W\d]", word) for word in words]
    steps = sorted(int(one[1]) for one in found if one)
    whole = len(steps) == len(words) and steps == [*range(steps[0], steps[0] + len(steps))]
    return [int(one[1]) for one in found if one] if whole else []


def _of_degree(words: list[str]) -> list[int]:
    """How much of one and the same thing each label says."""
    heads = {word.split()[-1] for word in words if word}
    head = min(heads, key=len, default="")
    if any(not word.endswith(head) for word in words):
        return []
    said = [word.removesuffix(head).strip() for word in words]
    return [step for one in said for step, known in enumerate(_DEGREES) if one in known]


def _within(words: list[str], order: tuple[frozenset[str], ...]) -> list[int]:
    """The step of each label in an order of words."""
    return [step for word in words for step, known in enumerate(order) if word in known]
