"""Many numeric labels as a few grades of equal width."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import Scale, as_number, canonical
from adjudge.errors import BadData, BadSetting, shown

if TYPE_CHECKING:
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments


def put_into_bins(
    judgments: Judgments, bins: int, golds: tuple[Gold | None, ...] = ()
) -> tuple[Judgments, tuple[Gold | None, ...]]:
    """Numeric labels as so many grades of equal width, each by the number in its middle."""
    if bins < 2:
        raise BadSetting("bin", bins, "at least 2 grades")
    numbers = [as_number(label) for label in judgments.scale.labels]
    if any(number is None for number in numbers):
        raise BadSetting("bin", bins, f"labels that are numbers, not {judgments.scale}")
    known = np.array(numbers, dtype=np.float64)
    low, width = float(known.min()), float(np.ptp(known)) / bins or 1.0
    names = [canonical(round(low + width * (place + 0.5), 6)) for place in range(bins)]

    def place_of(values: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.clip(((values - low) / width).astype(np.int64), 0, bins - 1)

    scale = Scale.parse("<".join(names))
    grade = place_of(known).astype(scale.label_dtype)
    made = replace(judgments, scale=scale, label=grade[judgments.label])
    kept: list[Gold | None] = []
    for gold in golds:
        own = None if gold is None else tuple(names[at] for at in place_of(_numbers(gold)))
        if gold is None or own is None:
            kept.append(None)
            continue
        values = tuple(dict.fromkeys(own))
        code = np.array([values.index(name) for name in own], dtype=gold.value.dtype)
        kept.append(replace(gold, values=values, value=code[gold.value]))
    return made, tuple(kept)


def _numbers(gold: Gold) -> NDArray[np.float64]:
    """The values of gold, which have to be numbers too."""
    found = [as_number(value) for value in gold.values]
    for value, number in zip(gold.values, found, strict=True):
        if number is None:
            raise BadData(
                f"gold {shown(value)} is no number, and the labels to put into grades are",
                source=gold.source,
                value=value,
                expected="a number",
            )
    return np.array(found, dtype=np.float64)
