"""Judgments by people and by LLM judges, and slices of their items."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import MODEL, PERSON, Judgments
from adjudge.data.model_answers import ModelAnswers
from adjudge.data.names import Codes
from adjudge.errors import BadData, BadSetting

Groups = tuple[tuple[str, ...], Codes]  # (group,), (item,) with -1 for none


def take_answers(answers: Any, people: str | None = None) -> ModelAnswers:
    """Read a file, table or judgments, and set which judges are people.

    ``people`` is a regular expression that finds the names of people; without it a column kind or
    family says who is; without these all judges are LLMs.
    """
    given = answers
    if isinstance(given, Judgments):
        given = ModelAnswers.of(given)
    elif isinstance(given, str | Path) or (
        isinstance(given, list | tuple) and all(isinstance(one, str | Path) for one in given)
    ):
        given = ModelAnswers.read(given)
    elif not isinstance(given, ModelAnswers):
        given = ModelAnswers.from_table(given)
    judgments = given.judgments
    all_models = np.full(judgments.judge_count, MODEL, dtype=np.int8)
    if people is not None:
        try:
            named = replace(judgments, kind=all_models).with_kind_rule(people, "person")
        except BadSetting:
            expected = "a pattern found in the name of a judge"
            raise BadSetting("people", people, expected) from None
        return replace(given, judgments=named)
    kinds = judgments.kind
    if kinds is None:
        kinds = kinds_of(judgments)
        if kinds is not None and any(given.model):  # a column model names LLMs alone
            kinds = np.where([bool(model) for model in given.model], MODEL, kinds).astype(np.int8)
    if kinds is None or not (kinds == PERSON).any():
        kinds = all_models
    return replace(given, judgments=replace(judgments, kind=kinds))


def kinds_of(judgments: Judgments) -> NDArray[np.int8] | None:  # (judge,)
    """Return which judges are people and which are LLMs; None where the judgments do not say.

    Without a column ``kind``, judges with a family are LLMs, and judges without one are people.
    """
    if judgments.kind is not None:
        return judgments.kind
    if judgments.family is None or not (judgments.family >= 0).any():
        return None
    return np.where(judgments.family >= 0, MODEL, PERSON).astype(np.int8)


def slice_items(answers: ModelAnswers, by: str | Mapping[str, str] | None) -> Groups | None:
    """Return the slices of the items; without ``by`` the systems, if a column has them."""
    if by is None or by == "system":
        if answers.system is not None:
            return answers.system_names, answers.system
        if by is None:
            return None
        raise BadData("there is no column system", expected="a column system")
    judgments = answers.judgments
    if by == "topic":
        if judgments.topics is None or judgments.topic is None:
            raise BadData(
                "the items have no topics; expected a column topic, or a pattern in their names",
                expected="topics",
            )
        return tuple(judgments.topics.to_pylist()), judgments.topic
    return _group_items(judgments.items.to_pylist(), by)


def _group_items(items: list[str], by: str | Mapping[str, str]) -> Groups:
    """Group items by a mapping, or by the first group of a pattern: ``_([a-z]+)$``."""
    if isinstance(by, str):
        try:
            rule = re.compile(by)
        except re.error as fault:
            raise BadSetting("by", by, f"topic, or a regular expression ({fault})") from None
        matches = [rule.search(item) for item in items]
        found = [None if match is None else match[min(rule.groups, 1)] for match in matches]
    else:
        found = [by.get(item) for item in items]
    names = tuple(dict.fromkeys(name for name in found if name is not None))
    if not names:
        raise BadSetting("by", by, f"groups of items such as {items[0]!r}")
    code = {name: at for at, name in enumerate(names)} | {None: -1}
    return names, np.array([code[name] for name in found], dtype=np.int32)
