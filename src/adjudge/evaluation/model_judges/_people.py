"""People and models among the judges: told apart by two files, or by a column kind or family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import MODEL, PERSON, Judgments
from adjudge.errors import BadData


def kinds_of(judgments: Judgments) -> NDArray[np.int8] | None:  # (judge,)
    """Whether each judge is a person or a model, as far as the judgments say; None if not at all.

    A column ``kind`` says it. Without one, judges who have a family are models, and those who have
    none are people: a family is one source of several judges, such as a model asked twice.
    """
    if judgments.kind is not None:
        return judgments.kind
    if judgments.family is None or not (judgments.family >= 0).any():
        return None
    return np.where(judgments.family >= 0, MODEL, PERSON).astype(np.int8)


def split_people(
    people: Judgments | str | Path | Any, models: Judgments | str | Path | Any = None
) -> tuple[Judgments, Judgments]:
    """The judgments of people and those of models, from one source that has both or from two.

    Where the first of two sources has models too, or the second people, they are left out.
    """
    first = _read_judgments(people)
    second = first if models is None else _read_judgments(models)
    kinds = kinds_of(first)
    if kinds is None and models is None:
        raise BadData(
            "it does not say which judges are people and which are models; wanted a second file "
            "of the models' judgments, or a column kind (person or model) or family (of models)",
            wanted="people and models",
        )
    known = _of_kind(first, PERSON, "people")
    asked = _of_kind(second, MODEL, "models")
    return known, asked


def _read_judgments(given: Judgments | str | Path | Any) -> Judgments:
    """Judgments from whatever holds them: a file, a table, or themselves."""
    if isinstance(given, Judgments):
        return given
    if isinstance(given, str | Path):
        return Judgments.read(given)
    return Judgments.from_table(given)


def _of_kind(judgments: Judgments, kind: int, what: str) -> Judgments:
    """The judgments of one kind of judges; all of them where no column tells kinds apart.

    A file that a column says holds the other kind alone is in the wrong place.
    """
    declared = judgments.kind is not None
    kinds = kinds_of(judgments)
    if kinds is None or (not declared and (kinds == kinds[0]).all()):
        return judgments  # a file in which all have families, or none, is of one kind
    wanted = kinds == kind if (kinds == 1 - kind).any() else kinds != 1 - kind
    if not wanted.any():
        other = "models" if kind == PERSON else "people"
        raise BadData(
            f"all {judgments.judge_count:,} judges are {other} by its column kind; wanted {what}",
            wanted=what,
        )
    return judgments.select(judgments=wanted[judgments.judge])
