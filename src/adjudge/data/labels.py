"""What the labels of a table look like, and what a person should know before they are believed.

Spellings that differ only in case or in blanks around them are one label; a column of ids, or of
free text, is refused with the question which column was meant; many numeric grades, codes below
zero and judges who contradict themselves are reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.names import Coded, Names
from adjudge.data.scale import Scale, as_number, canonical
from adjudge.data.source import Source, count_of
from adjudge.errors import Remedy, name_columns, shown

_FEW_ROWS = 20  # rows below which nothing is said of how labels are spread
_FEW_LABELS = 10  # labels that are never too many
_CODE, _APART = 9, 4  # the least number that is a code, times the grade below it
_TEXT = 80  # characters of a label above which it is free text
_RANGE = 1_000  # whole numbers within such a range may be grades, however many


def settle_labels(
    coded: Coded,
    where: Mapping[str, str],
    place: Source,
    *,
    scale: Scale | None = None,
    asked: bool = False,
    rows: NDArray[np.int64] | None = None,  # (label,)
) -> Coded:
    """The coded columns with one spelling for each label; what was changed is remarked.

    ``asked``: the person named the column or the scale. ``rows``: of each label, if they are known.
    """
    codes, names = coded["label"]
    texts = names.to_pylist()
    rows = np.bincount(codes[codes >= 0], minlength=len(texts)) if rows is None else rows
    _remark_blanks(texts, rows, where["label"], place)
    if not asked and scale is None:
        _refuse_ids(texts, rows, where["label"], place)
    merged = {} if scale is not None else _one_spelling(texts, rows, where["label"], place)
    if not merged:
        return coded
    settled = {**coded, "label": (codes, _respelt(names, merged))}
    if "gold" in coded:
        settled["gold"] = (coded["gold"][0], _respelt(coded["gold"][1], merged))
    return settled


def _remark_blanks(texts: list[str], rows: NDArray[np.int64], column: str, place: Source) -> None:
    """Note how many labels had blanks around them, which are not part of a label."""
    padded = [at for at, text in enumerate(texts) if text != text.strip() and text.strip()]
    if padded:
        place.remark(
            f"column {column}: blanks around {count_of(int(rows[padded].sum()), 'label')} "
            f"are left out, such as {texts[padded[0]]!r}"
        )


def refuse_text(texts: list[str], rows: int, column: str, place: Source, *, asked: bool) -> None:
    """Ask which column was meant where labels are long texts; if one was named, where they differ.

    Texts are not classes: a model of hundreds of them would take all memory.
    """
    lengths = [len(text) for text in texts if text.strip()]
    if 2 * sum(length > _TEXT for length in lengths) <= len(lengths):
        return
    few = len(lengths) <= _FEW_LABELS or 2 * len(lengths) < rows
    if asked and few:
        return
    raise place.error(
        None,
        f"{count_of(len(lengths), 'different value')} of {sum(lengths) // len(lengths):,} "
        f"characters on average, such as {shown(texts[0])}: this is free text, not labels",
        column=column,
        value=len(lengths),
        code="free-text",
        remedies=(name_columns("label"), Remedy("judges-are")),
    )


def _refuse_ids(texts: list[str], rows: NDArray[np.int64], column: str, place: Source) -> None:
    """Ask which column was meant where nearly every row has a label of its own."""
    labels = {canonical(text) for text in texts} - {""}
    count = int(rows.sum())
    if count < _FEW_ROWS or len(labels) <= _FEW_LABELS or 2 * len(labels) < count:
        return
    found = [as_number(label) for label in labels]
    numbers = [number for number in found if number is not None]
    if len(numbers) == len(labels):
        fractions = any(number != int(number) for number in numbers)
        if fractions or max(numbers) - min(numbers) <= _RANGE:
            return  # measurements, which may all differ
    raise place.error(
        None,
        f"{len(labels):,} different labels in {count:,} rows, such as {shown(texts[0])}: these are "
        f"ids or free text rather than labels; name the column that holds the label, even if it "
        f"is {column!r}",
        column=column,
        code="no-labels",
        remedies=(name_columns("label"), Remedy("labels")),
    )


def _one_spelling(
    texts: list[str], rows: NDArray[np.int64], column: str, place: Source
) -> dict[str, str]:
    """The commonest spelling of labels that differ only in case, by what they are in lower case."""
    spellings: dict[str, dict[str, int]] = {}
    for text, count in zip(texts, rows.tolist(), strict=True):
        label = canonical(text)
        if label:
            own = spellings.setdefault(label.casefold(), {})
            own[label] = own.get(label, 0) + count
    several = {low: own for low, own in spellings.items() if len(own) > 1}
    chosen = {low: max(own, key=lambda label: own[label]) for low, own in several.items()}
    for low, own in several.items():
        listed = " and ".join(f"{shown(label)} ({count:,})" for label, count in own.items())
        place.remark(
            f"column {column}: {listed} differ only in case and are taken as one label, "
            f"{shown(chosen[low])}; a scale that has both keeps them apart",
            Remedy("labels"),
        )
    return chosen


def _respelt(names: Names, chosen: dict[str, str]) -> Names:
    texts = [canonical(name) for name in names.to_pylist()]
    return pa.array([chosen.get(text.casefold(), text) for text in texts], pa.large_string())


def remark_scale(scale: Scale, column: str, place: Source) -> None:
    """Note a scale that was read off the labels: many grades, codes, an order not taken."""
    if scale.has_many_grades:
        place.remark(
            f"column {column}: {len(scale.labels):,} numeric grades from {scale.labels[0]} to "
            f"{scale.labels[-1]} are many for classes, and a consensus reads them as numbers",
            Remedy("bin", 5),
        )
        return
    numbers = [as_number(label) for label in scale.labels]
    if not scale.ordinal or any(number is None for number in numbers):
        ordered = () if scale.ordinal else likely_order(scale.labels)
        if ordered and not any("<" in label for label in ordered):
            place.remark(
                f"column {column}: these labels look ordered and are taken without an order",
                Remedy("labels", "<".join(ordered)),
            )
        return
    grades = [number or 0.0 for number in numbers]
    if scale.labels == ("-1", "0", "1"):
        place.remark(
            f"column {column}: -1 is taken as the grade below 0, but may be a code: no answer",
            Remedy("drop-label", ("-1",)),
        )
    below = codes_below(scale)
    if below and not set(below) <= set(place.dropped):
        raise place.error(
            None,
            describe_codes(below, scale),
            column=column,
            value=below,
            code="negative-label",
            remedies=[Remedy("drop-label", below), Remedy("labels", "<".join(scale.labels))],
        )
    far = [at for at in (1, 2) if len(grades) > at + 1 and _is_far(*grades[-at - 1 :][:2])]
    if far and not below:
        above = scale.labels[-far[0] :]
        place.remark(
            f"column {column}: {_are(above)} far above the other grades and taken as the "
            "highest, but may be a code, such as no answer or a broken page",
            Remedy("drop-label", above),
        )


def codes_below(scale: Scale) -> tuple[str, ...]:
    """Return the one or two labels below zero of a scale of whole numbers: they are often codes.

    Labels below zero that have their opposites above are grades.
    """
    numbers = [as_number(label) for label in scale.labels]
    grades = [number for number in numbers if number is not None]
    below = scale.labels[: sum(grade < 0 for grade in grades)]
    integers = len(grades) == len(numbers) and all(grade.is_integer() for grade in grades)
    balanced = grades == [-grade for grade in reversed(grades)]
    return below if integers and len(below) <= 2 and grades[-1] > 0 and not balanced else ()


def describe_codes(below: tuple[str, ...], scale: Scale) -> str:
    """Return what labels below zero may be, as a sentence."""
    return (
        f"{_are(below)} below {scale.labels[len(below)]}: this may be the lowest grade, or a code, "
        "such as for a broken page"
    )


def _are(labels: tuple[str, ...]) -> str:
    return f"{', '.join(labels)} {'is' if len(labels) == 1 else 'are'}"


def _is_far(grade: float, next_grade: float) -> bool:
    """Whether a grade is so far above the one below it that it may be a code."""
    return next_grade >= _CODE and next_grade > _APART * max(grade, 1.0)


_LEAST, _MOST = 3, 9  # labels: two need no order, and many that seem to have one are rather codes

# Each line is an order, lowest first; words for the same step are joined by "/".
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


def likely_order(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels lowest first, where their words have an order that people know; else none."""
    if not _LEAST <= len(labels) <= _MOST:
        return ()
    words = [re.sub(r"[\W_]+", " ", label.casefold()).strip() for label in labels]
    known = (_within(words, order) for order in _ORDERS)
    for steps in (_read_numbers(words), _of_degree(words), *known):
        if len(steps) == len(set(steps)) == len(labels):
            return tuple(label for _, label in sorted(zip(steps, labels, strict=True)))
    return ()


def _read_numbers(words: list[str]) -> list[int]:
    """The numbers that labels begin with: ``1 star``, ``2 stars``."""
    found = [re.match(r"(\d{1,2}) ?[^\W\d]", word) for word in words]
    steps = sorted(int(one[1]) for one in found if one)
    consecutive = len(steps) == len(words) and steps == [*range(steps[0], steps[0] + len(steps))]
    return [int(one[1]) for one in found if one] if consecutive else []


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
