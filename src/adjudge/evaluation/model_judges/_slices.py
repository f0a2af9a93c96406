"""Slices of items: by system, by topic, by a pattern in their names, or by a mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from adjudge.data.judgments import Judgments
from adjudge.data.model_answers import ModelAnswers
from adjudge.data.names import Codes
from adjudge.errors import BadData, BadSetting

Groups = tuple[tuple[str, ...], Codes]  # (group,), (item,) with -1 for none


def slice_items(answers: ModelAnswers, by: str | Mapping[str, str] | None) -> Groups | None:
    """Return the slices of the items; without ``by`` the systems, where a column has them."""
    if by is None or by == "system":
        if answers.system is not None:
            return answers.system_names, answers.system
        if by is None:
            return None
        raise BadData("there is no column system", expected="a column system")
    return group_items(answers.judgments, by)


def group_items(judgments: Judgments, by: str | Mapping[str, str]) -> Groups:
    """Return the groups of the items, and each one's: by topic, pattern, or a mapping.

    A pattern stands for its first group, or for all that it finds: ``_([a-z]+)$`` puts
    ``17_fluency`` into ``fluency``.
    """
    if by == "topic":
        if judgments.topics is None or judgments.topic is None:
            raise BadData(
                "the items have no topics; wanted a column topic, or a pattern in the items' names",
                expected="topics",
            )
        return tuple(judgments.topics.to_pylist()), judgments.topic
    items = judgments.items.to_pylist()
    found = _by_pattern(items, by) if isinstance(by, str) else [by.get(item) for item in items]
    names = tuple(dict.fromkeys(name for name in found if name is not None))
    if not names:
        raise BadSetting("by", by, f"groups of items such as {items[0]!r}")
    place = {name: at for at, name in enumerate(names)}
    code = [-1 if name is None else place[name] for name in found]
    return names, np.array(code, dtype=np.int32)


def _by_pattern(items: list[str], pattern: str) -> list[str | None]:
    try:
        rule = re.compile(pattern)
    except re.error as fault:
        raise BadSetting("by", pattern, f"topic, or a regular expression ({fault})") from None
    matches = [rule.search(item) for item in items]
    return [None if found is None else found[min(rule.groups, 1)] for found in matches]
