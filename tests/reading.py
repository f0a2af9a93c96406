"""What was read from a file, and the error where it cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adjudge.data.formats import Content
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.errors import AdjudgeError
from faults import fault_of


def complaint(function: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """Return place and code of the error that a call raises."""
    with pytest.raises(AdjudgeError) as caught:
        function(*arguments, **options)
    return fault_of(caught.value)


def judgments_in(content: Content) -> Judgments:
    """Return the judgments of a content, which must have some."""
    assert content.judgments is not None
    return content.judgments


def gold_in(content: Content) -> Gold:
    """Return the gold of a content, which must have some."""
    assert content.gold is not None
    return content.gold


def judged(content: Content) -> set[tuple[str, str, str]]:
    """Return item, judge and label of each judgment."""
    rows = judgments_in(content).to_table().to_pylist()
    return {(row["item"], row["judge"], row["label"]) for row in rows}
