"""The values of the API: what is sent, checked, and what comes back, as the schema tells them."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

_Value = TypeVar("_Value")


def _text(least: int, most: int) -> Any:
    return Field(min_length=least, max_length=most, pattern=r"^[^\x00]*$")


# Text of a bounded length that any database can store: none stores NUL.
Key = Annotated[str, _text(1, 200)]
Short = Annotated[str, _text(0, 200)]
Name = Annotated[str, _text(1, 1_000)]
Line = Annotated[str, _text(0, 1_000)]
Comment = Annotated[str, _text(0, 2_000)]
Reason = Annotated[str, _text(0, 5_000)]
Paragraph = Annotated[str, _text(0, 10_000)]
Passage = Annotated[str, _text(0, 100_000)]
Guide = Annotated[str, _text(0, 200_000)]
_Share = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Shares = Annotated[dict[Name, _Share], Field(max_length=100)]

Slug = Annotated[str, InPath(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=80)]
PublicId = Annotated[str, InPath(pattern=r"^[A-Za-z0-9_-]+$", max_length=64)]


class ApiModel(BaseModel):
    """What a caller sends or gets: nothing but what is named."""

    model_config = ConfigDict(extra="forbid")

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        # The schema names a model after its class, and says nothing of what is private here.
        cls.__name__ = cls.__qualname__ = cls.__name__.lstrip("_")


class Listed(ApiModel, Generic[_Value]):
    """A list of things."""

    results: list[_Value]


_PLAIN = frozenset({str, int, float, bool, type(None)})


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def plain(value: Any) -> Any:
    """A value as JSON has it: dataclasses as objects, money as text, moments in ISO 8601."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return [part if type(part) in _PLAIN else plain(part) for part in value]
    if kind is dict:
        return {str(name): plain(part) for name, part in value.items()}
    if dataclasses.is_dataclass(kind):
        held = {}
        for name in _names(kind):
            part = getattr(value, name)
            held[name] = part if type(part) in _PLAIN else plain(part)
        return held
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def send(value: Any, status: int = 200) -> Response:
    """A value as a response; what ``response_model`` says of it stands in the schema."""
    return JSONResponse(plain(value), status_code=status)


def send_list(values: Any, status: int = 200) -> Response:
    """A list of things as a response."""
    return send({"results": values}, status)
