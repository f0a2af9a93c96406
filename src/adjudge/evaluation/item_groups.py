"""Groups of items: their topics, what a pattern finds in their names, or as a mapping says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes
from adjudge.errors import BadData, BadSetting


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Groups:
    """The group of each item."""

    names: tuple[str, ...]  # (group,)
    code: Codes  # (item,) -1 where it is in none


def group_items(judgments: Judgments, by: str | Mapping[str, str]) -> _Groups:
    """The items by ``"topic"``, by a pattern in their names, or by a mapping of item to group.

    A pattern stands for its first group, or for all that it finds: ``_([a-z]+)$`` puts
    ``17_fluency`` into ``fluency``.
    """
    if by == "topic":
        if judgments.topics is None or judgments.topic is None:
            raise BadData(
                "the items have no topics; wanted a column topic, or a pattern in the items' names",
                wanted="topics",
            )
        return _Groups(names=tuple(judgments.topics.to_pylist()), code=judgments.topic)
    items = judgments.items.to_pylist()
    found = _by_pattern(items, by) if isinstance(by, str) else [by.get(item) for item in items]
    names = tuple(dict.fromkeys(name for name in found if name is not None))
    if not names:
        raise BadSetting("by", by, f"groups of items such as {items[0]!r}")
    place = {name: at for at, name in enumerate(names)}
    code = [-1 if name is None else place[name] for name in found]
    return _Groups(names=names, code=np.array(code, dtype=np.int32))


def _by_pattern(items: list[str], pattern: str) -> list[str | None]:
    try:
        rule = re.compile(pattern)
    except re.error as fault:
        raise BadSetting("by", pattern, f"topic, or a regular expression ({fault})") from None
    matches = [rule.search(item) for item in items]
    return [None if m is None else (m[1] if rule.groups else m[0]) for m in matches]
