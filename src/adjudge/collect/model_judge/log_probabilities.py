"""How probable a model found its own label: the log-probabilities of the label's tokens."""

from __future__ import annotations

import math
from typing import Any


def label_logprob(choice: dict[str, Any], content: str, label: str) -> float | None:
    """The log-probability of a label in an answer; None where the endpoint does not tell.

    The tokens of the answer are laid end to end; those that overlap the last place where the label
    stands, as a word of its own, count together.
    """
    told = choice.get("logprobs")
    tokens = told.get("content") if isinstance(told, dict) else None
    if not isinstance(tokens, list):
        return None
    spans: list[tuple[int, int, float]] = []
    end = 0
    try:
        for entry in tokens:
            text = str(entry["token"])
            spans.append((end, end + len(text), float(entry["logprob"])))
            end += len(text)
    except (KeyError, TypeError, ValueError):
        return None
    laid = "".join(str(entry["token"]) for entry in tokens)
    begin = _last_word(laid, label)
    if begin < 0 or content.strip() not in laid:
        return None
    found = [value for a, b, value in spans if a < begin + len(label) and b > begin]
    total = sum(found)
    return min(total, 0.0) if found and math.isfinite(total) else None


def _last_word(text: str, word: str) -> int:
    """Where a word stands last, with no letter or digit beside it; -1 if nowhere."""
    at = text.rfind(word)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(word) : at + len(word) + 1]
        if not before.isalnum() and not after.isalnum():
            return at
        at = text.rfind(word, 0, at)
    return -1
