"""Settings of a model given as text: ``--set NAME=VALUE``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from adjudge.errors import BadSetting, UnknownName


def parse_settings(texts: Iterable[str], kind: Any, such_as: str) -> dict[str, Any]:
    """The settings of a kind of model; one that it does not have is an error."""
    own = [entry.name for entry in fields(kind)]
    hints = get_type_hints(kind)
    chosen: dict[str, Any] = {}
    for text in texts:
        setting, equals, value = text.partition("=")
        if not equals:
            raise BadSetting("--set", text, f"NAME=VALUE, such as {such_as}")
        if setting not in own:
            raise UnknownName(f"setting of {kind.name}", setting, own)
        chosen[setting] = _parse_value(text, value, hints[setting])
    return chosen


def _parse_value(text: str, value: str, hint: Any) -> object:
    """The value of a setting, of the type that its hint names."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if any(get_origin(kind) is Literal and value in get_args(kind) for kind in kinds):
        return value
    try:
        if value[:1] in ("[", "{") and any(get_origin(kind) is tuple for kind in kinds):
            return _make_tuple(json.loads(value))
        if bool in kinds:
            return {"true": True, "false": False}[value.casefold()]
        if int in kinds:
            return int(value)
        if float in kinds:
            return float(value)
        if any(get_origin(kind) is tuple for kind in kinds):
            return _make_tuple(json.loads(value))
    except (KeyError, ValueError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}
        raise BadSetting("--set", text, wanted.get(kinds[0], "numbers such as [3,1]")) from None
    return value


def _make_tuple(value: Any) -> Any:
    return tuple(_make_tuple(entry) for entry in value) if isinstance(value, list) else value
