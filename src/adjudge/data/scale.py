"""The scale: which labels a judge can give, and which truths an item can have."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadData, BadSetting, Remedy, shown

MOST_LABELS = 32_000  # that can be classes
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "#n/a", "<na>"))
_MOST_NUMBERS = 20_000_000  # different ones
_SHOWN = 24  # labels that are written out
_MANY = 20  # numeric grades above which they are numbers rather than classes
# The lower of two labels, although the alphabet says otherwise.
_NEGATIVE = re.compile(
    "no|n|false|f|off|negative|bad|spam|irrelevant|non-?relevant|not relevant|not matching"
)


def canonical(value: object) -> str:
    """A label as text: ``1``, ``1.0`` and ``"1.0"`` are one label, ``"1"``; text is stripped."""
    text = str(value).strip()
    number = as_number(text)
    if number is None:
        return text
    return str(int(number)) if number == int(number) else repr(number)


def as_number(text: str) -> float | None:
    """The finite number that a label's text is, or None; grouping by underscores makes text."""
    if "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The labels that judges give and the truths that items have.

    Normally both are the same. ``truths`` may be fewer: binary relevance from graded labels, or a
    label such as "broken link" that is not a grade at all. ``truth_of`` says which truth each label
    votes for, -1 for none. ``relevant`` is the binary collapse: the labels that count as relevant.
    ``grades`` are the numbers that labels mean where tools rate with numbers; without them a
    label that is a number is its own grade, and others have their place on an ordered scale.
    """

    labels: tuple[str, ...]
    ordinal: bool = False
    truths: tuple[str, ...] = ()
    truth_of: tuple[int, ...] = ()
    relevant: tuple[str, ...] = ()
    grades: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.labels)
        too_many = count > MOST_LABELS and not self._are_numbers()
        for wrong, value, expected in (
            (not count, self.labels, "at least one label"),
            (len(set(self.labels)) < count, self.labels, "each label once"),
            (too_many, f"{count} labels", f"at most {MOST_LABELS:,} labels, or numbers"),
        ):
            if wrong:
                raise BadSetting("labels", value, expected)
        if not self.truths:
            if self.truth_of:
                raise BadSetting("truth_of", self.truth_of, "truths next to it")
            object.__setattr__(self, "truths", self.labels)
            object.__setattr__(self, "truth_of", tuple(range(len(self.labels))))
        if len(self.truth_of) != len(self.labels):
            raise BadSetting("truth_of", self.truth_of, f"one truth for each of {self.labels}")
        if not all(-1 <= truth < len(self.truths) for truth in self.truth_of):
            raise BadSetting("truth_of", self.truth_of, "positions in truths, or -1 for none")
        known = set(self.labels)
        strange = [label for label in self.relevant if label not in known]
        if strange:
            raise BadSetting("relevant", strange[0], f"labels of the scale {self}")
        if self.grades:
            self._check_grades()

    def _are_numbers(self) -> bool:
        """Whether these are numbers, of which there may be more than of classes."""
        few = self.ordinal and len(self.labels) <= _MOST_NUMBERS
        return few and all(as_number(label) is not None for label in self.labels)

    @property
    def has_many_grades(self) -> bool:
        """Whether it has more numeric grades than classes could be."""
        return len(self.labels) > _MANY and self._are_numbers()

    def _check_grades(self) -> None:
        if len(self.grades) != len(self.labels):
            raise BadSetting("grades", self.grades, f"one grade for each of {self.labels}")
        if not all(math.isfinite(grade) for grade in self.grades):
            raise BadSetting("grades", self.grades, "numbers")
        if self.ordinal and list(self.grades) != sorted(set(self.grades)):
            raise BadSetting("grades", self.grades, f"grades that rise along {self}")

    def __str__(self) -> str:
        """``0 < 1 < 2`` for an ordinal scale, ``cat, dog`` for a nominal one; of many, a few."""
        between, labels = " < " if self.ordinal else ", ", self.labels
        if len(labels) <= _SHOWN:
            return between.join(labels)
        few = between.join((*labels[:3], "…", labels[-1]))
        return f"{few} ({len(labels):,} labels)"

    @classmethod
    def parse(cls, text: str, *, relevant: Sequence[str] = ()) -> Scale:
        """A scale as people write it: ``0<1<2`` is ordinal, ``cat,dog`` is nominal."""
        ordinal = "<" in text
        labels = tuple(canonical(part) for part in text.split("<" if ordinal else ","))
        if any(not label for label in labels):
            raise BadSetting("labels", text, "labels such as '0<1<2' or 'cat,dog'")
        if not relevant:
            relevant = _guess_relevant(labels, ordinal)
        return cls(labels=labels, ordinal=ordinal, relevant=tuple(canonical(r) for r in relevant))

    @classmethod
    def infer(cls, labels: Iterable[str]) -> Scale:
        """The scale that a set of labels suggests: numbers are ordinal, text is nominal.

        Numbers with 0 as the lowest grade collapse as TREC does: above 0 is relevant. Labels that
        are half numbers, half text are refused, since no order  can be guessed.
        """
        distinct = sorted({canonical(label) for label in labels})
        numbers = [as_number(label) for label in distinct]
        if distinct and all(number is not None for number in numbers):
            ranked = tuple(sorted(distinct, key=float))
            return cls(labels=ranked, ordinal=True, relevant=_guess_relevant(ranked, True))
        if any(number is not None for number in numbers):
            text = next(label for label in distinct if as_number(label) is None)
            found = next(label for label in distinct if as_number(label) is not None)
            raise BadData(
                f"{shown(text)} is text, but other labels are numbers ({found}); expected one kind",
                value=text,
                code="mixed-labels",
                remedies=(Remedy("labels", f"{found},{text}"),),
            )
        if len(distinct) == 2 and _NEGATIVE.fullmatch(distinct[1].casefold()):
            distinct.reverse()
        chosen = tuple(distinct)
        return cls(labels=chosen, relevant=_guess_relevant(chosen, False))

    @property
    def values(self) -> NDArray[np.float64]:  # (label,)
        """The number that each label means: itself if it is one, else its place in order.

        On an ordered scale with grades, its grade; grades of labels without an order may be equal,
        which models could not distinguish.
        """
        return self._numbers_of(self.labels)

    @property
    def truth_values(self) -> NDArray[np.float64]:  # (truth,)
        """The number that each truth means, by the same rule."""
        return self._numbers_of(self.truths)

    def _numbers_of(self, names: tuple[str, ...]) -> NDArray[np.float64]:
        if self.grades and self.ordinal and names == self.labels:
            return np.array(self.grades, dtype=np.float64)
        numbers = [as_number(name) for name in names]
        if all(number is not None for number in numbers):
            return np.array(numbers, dtype=np.float64)
        return np.arange(len(names), dtype=np.float64)

    @property
    def stands(self) -> NDArray[np.bool_]:  # (truth, label)
        """Which labels mean which truth."""
        return np.asarray(np.arange(len(self.truths))[:, None] == np.array(self.truth_of))

    @property
    def label_dtype(self) -> type[np.signedinteger]:
        """The smallest integer that holds a label's code."""
        if len(self.labels) > MOST_LABELS:
            return np.int32
        return np.int8 if len(self.labels) <= 127 else np.int16

    @property
    def truth_relevant(self) -> NDArray[np.bool_] | None:  # (truth,)
        """Which truths count as relevant, or None where the scale has no binary collapse."""
        if not self.relevant:
            return None
        chosen = np.zeros(len(self.truths), dtype=np.bool_)
        for label, truth in zip(self.labels, self.truth_of, strict=True):
            if truth >= 0 and label in self.relevant:
                chosen[truth] = True
        return chosen

    def label_code(self, label: object) -> int:
        """The code of a label, or -1 if it is not on the scale."""
        text = canonical(label)
        return self.labels.index(text) if text in self.labels else -1

    def truth_code(self, value: object) -> int:
        """The code of a truth, given as one or as a label that means one; -1 if neither."""
        text = canonical(value)
        if text in self.truths:
            return self.truths.index(text)
        return self.truth_of[self.labels.index(text)] if text in self.labels else -1

    def with_relevant(self, relevant: Iterable[object]) -> Scale:
        """The same scale with another binary collapse."""
        return replace(self, relevant=tuple(canonical(label) for label in relevant))

    def need_relevant(self) -> tuple[str, ...]:
        """The relevant labels, or an error that says how to name them."""
        if not self.relevant:
            raise BadData(
                f"which of the labels {self} count as relevant is not known",
                code="no-relevant-labels",
                remedies=(Remedy("relevant", "1,2"),),
            )
        return self.relevant

    def with_binary_truth(self) -> Scale:
        """The same labels, with truth only relevant (1) or not (0).

        A negative number is not a grade (TREC's -2 is a broken link), so it votes for neither.
        """
        chosen = self.need_relevant()
        truth_of = tuple(
            int(label in chosen) if (as_number(label) or 0.0) >= 0 else -1 for label in self.labels
        )
        return replace(self, truths=("0", "1"), truth_of=truth_of)

    def collapsed(self) -> tuple[Scale, NDArray[np.int64]]:
        """The binary scale 0 < 1, and the code each label of this scale gets on it."""
        chosen = self.need_relevant()
        binary = Scale(labels=("0", "1"), ordinal=True, relevant=("1",))
        return binary, np.array([int(label in chosen) for label in self.labels], dtype=np.int64)


def _guess_relevant(labels: tuple[str, ...], ordinal: bool) -> tuple[str, ...]:
    """The labels that count as relevant where custom says so: above 0, or the upper of two."""
    numbers = [as_number(label) for label in labels]
    if all(number is not None for number in numbers):
        grades = dict(zip(labels, numbers, strict=True))
        if any(number == 0 for number in numbers) and max(n or 0.0 for n in numbers) > 0:
            return tuple(label for label, number in grades.items() if (number or 0.0) > 0)
    if len(labels) == 2 and (ordinal or _NEGATIVE.fullmatch(labels[0].casefold())):
        return labels[1:]
    return ()
