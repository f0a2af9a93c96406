"""Judgments and gold as people hold them: files, tables of any dataframe library, mappings."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.telling import told_in_python

JudgmentsLike: TypeAlias = Judgments | Any  # a file, or a table of any library
GoldLike: TypeAlias = Gold | Any  # or a mapping

_Function = TypeVar("_Function", bound=Callable[..., Any])


def judgments_given(given: JudgmentsLike) -> Judgments:
    """Judgments from a file, a table of any dataframe library, or as they are."""
    if isinstance(given, Judgments):
        return given
    reader = Judgments.read if isinstance(given, str | Path) else Judgments.from_table
    with told_in_python(reader=reader.__qualname__):
        return reader(given)


def gold_given(given: GoldLike) -> Gold:
    """Gold from a file, a table, a mapping of items to truths, or as it is."""
    if isinstance(given, Gold):
        return given
    if isinstance(given, str | Path):
        with told_in_python(reader="Gold.read"):
            return Gold.read(given)
    if isinstance(given, dict) and not {"item", "document"} & given.keys():
        return Gold.of(given)
    return Gold.from_table(given)


_TAKEN: dict[str, Callable[[Any], Any]] = {"judgments": judgments_given, "gold": gold_given}


def takes_tables(function: _Function) -> _Function:
    """Let ``judgments`` and ``gold`` of a function be whatever holds them, or None."""
    places = [
        (place, name)
        for place, name in enumerate(inspect.signature(function).parameters)
        if name in _TAKEN
    ]

    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        given = list(args)
        for place, name in places:
            if place < len(given):
                if given[place] is not None:
                    given[place] = _TAKEN[name](given[place])
            elif named.get(name) is not None:
                named[name] = _TAKEN[name](named[name])
        return function(*given, **named)

    return called  # type: ignore[return-value]  # the same signature
