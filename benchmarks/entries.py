"""The models of the registry that take part, under the names that ``adjudge compare`` has."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from adjudge.evaluation.comparison import Entrant, entrants


def is_sampled(entry: Entrant) -> bool:
    """Whether it draws from a posterior rather than climbing to one."""
    return _has(entry.model, "chains") and getattr(entry.model, "method", "gibbs") == "gibbs"


def is_factored(entry: Entrant) -> bool:
    """Whether it factors the matrix of items and judges: another kind of work than a sweep."""
    return _has(entry.model, "regularisation")


def _has(model: Any, setting: str) -> bool:
    return setting in {field.name for field in fields(model)}


def entries(*, gold: bool = False, full: bool = False) -> list[Entrant]:
    """Every model once for each way in which it is fitted; the samplers where all is asked for."""
    found = entrants(gold=gold)
    return found if full else [entry for entry in found if not is_sampled(entry)]
