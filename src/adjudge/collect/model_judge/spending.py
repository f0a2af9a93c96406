"""What asking may cost: a budget in money and in tokens that is never gone beyond.

Before a request is sent, as much is set aside as it can cost at most: the letters of the prompt at
two a token, and the most tokens that an answer may have. Then what it did cost is booked instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from adjudge.errors import BadSetting, BudgetSpent

_LETTERS = 2  # of a token; English has about four, so this is on the safe side


@dataclass(slots=True)
class Usage:
    """What asking has cost so far."""

    requests: int = 0
    faults: int = 0  # requests that had to be made again
    unread: int = 0  # answers that could not be read
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def cost(self, prompt: float, completion: float) -> float:
        """Money, at so much a million tokens."""
        return (self.prompt_tokens * prompt + self.completion_tokens * completion) / 1e6


@dataclass(slots=True, kw_only=True)
class SpendingLimit:
    """How much may be spent, and at which prices a million tokens; None is no limit."""

    money: float | None = None
    tokens: int | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    _held_money: float = field(default=0.0, repr=False)
    _held_tokens: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if self.money is not None and not self.price_in and not self.price_out:
            raise BadSetting("--budget", self.money, "prices beside it: --price-in and --price-out")

    @contextmanager
    def holding(self, usage: Usage, letters: int, answer: int) -> Iterator[None]:
        """Set aside what a request may cost; refuse it where that is more than is left."""
        asked = letters // _LETTERS + 1
        tokens = asked + answer
        money = (asked * self.price_in + answer * self.price_out) / 1e6
        spent = usage.prompt_tokens + usage.completion_tokens
        if self.tokens is not None and spent + self._held_tokens + tokens > self.tokens:
            raise BudgetSpent(
                f"{spent:,} of {self.tokens:,} tokens are spent, and the next request may take "
                f"{tokens:,}"
            )
        cost = usage.cost(self.price_in, self.price_out)
        if self.money is not None and cost + self._held_money + money > self.money:
            raise BudgetSpent(
                f"{cost:.4f} of {self.money:g} is spent, and the next request may cost {money:.4f}"
            )
        self._held_money += money
        self._held_tokens += tokens
        try:
            yield
        finally:
            self._held_money -= money
            self._held_tokens -= tokens
