"""An OpenAI-compatible endpoint: asked over HTTP, again after a fault, within a budget.

Before a request is sent, as much is set aside as it can cost at most: the letters of the prompt at
two a token, and the most tokens that an answer may have. Then what it did cost is booked instead.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import numpy as np

from adjudge.collect.model_judge.prompts import GUIDELINES, NO_ANSWER, Prompt, Question, Reply
from adjudge.errors import BadData, BadSetting, BudgetSpent, EndpointFailed, shown

_LETTERS = 2  # of a token; English has about four, so this is on the safe side
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_LONGEST_PROBLEM = 1_000  # characters
_LONGEST = 60.0  # seconds between two tries


@dataclass(slots=True)
class _Usage:
    """What asking has cost so far."""

    requests: int = 0
    faults: int = 0  # requests that had to be made again
    unread: int = 0  # answers that could not be read
    prompt_tokens: int = 0
    completion_tokens: int = 0


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
            raise BadSetting("budget", self.money, "price-in or price-out too")

    def cost(self, prompt: int, completion: int) -> float:
        """Return the price of tokens of prompts and completions."""
        return (prompt * self.price_in + completion * self.price_out) / 1e6

    @contextmanager
    def holding(self, usage: _Usage, letters: int, answer: int) -> Iterator[None]:
        """Set aside what a request may cost; refuse it where that is more than is left."""
        asked = letters // _LETTERS + 1
        tokens = asked + answer
        money = self.cost(asked, answer)
        spent = usage.prompt_tokens + usage.completion_tokens
        if self.tokens is not None and spent + self._held_tokens + tokens > self.tokens:
            raise BudgetSpent(
                f"{spent:,} of {self.tokens:,} tokens are spent, and the next request may take "
                f"{tokens:,}"
            )
        cost = self.cost(usage.prompt_tokens, usage.completion_tokens)
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


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """Where a model answers, and how patiently it is asked.

    Rate limits (429) and passing faults are tried again, after as long as the server asks for or
    twice as long each time. An answer that cannot be read is asked for again; after ``rereads`` of
    them the judgment is "can't judge".
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    address: str = ""
    temperature: float | None = 0.0
    max_tokens: int = 300
    tries: int = 6
    rereads: int = 2
    timeout: float = 120.0
    first_wait: float = 1.0
    prompt: Prompt = GUIDELINES
    logprobs: bool = False
    budget: SpendingLimit = field(default_factory=SpendingLimit)
    usage: _Usage = field(default_factory=_Usage)
    _client: httpx.AsyncClient | None = field(default=None, repr=False)
    _structured: bool = True
    _chance: np.random.Generator = field(
        default_factory=lambda: np.random.default_rng(0), repr=False
    )

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise BadSetting("endpoint", self.url, "an address such as https://host/v1")
        if not self.model:
            raise BadSetting("model", self.model, "the name of a model of the endpoint")

    async def __aenter__(self) -> Endpoint:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        self._client = httpx.AsyncClient(headers=headers, timeout=self.timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def ask(self, question: Question, *, guidelines: str, labels: tuple[str, ...]) -> Reply:
        """The model's judgment of one pair."""
        said = self.prompt.messages(question, guidelines, labels)
        form = self.prompt.schema and self.prompt.schema(question, labels)
        tokens, cost, problem = 0, 0.0, ""
        for _ in range(self.rereads + 1):
            done = await self._complete(said, form)
            tokens += done.prompt_tokens + done.completion_tokens
            cost += self.budget.cost(done.prompt_tokens, done.completion_tokens)
            try:
                reply = self.prompt.parse(done.content, question, labels)
            except BadData as fault:
                self.usage.unread += 1
                problem = f"{fault.sentence}; the reply was {shown(done.content)}"
                continue
            logprob = _label_logprob(done.choice, done.content, reply.label)
            return replace(reply, logprob=logprob, version=done.version, tokens=tokens, cost=cost)
        reason = f"No reply could be read: {problem}"[:_LONGEST_PROBLEM]
        return Reply(label=NO_ANSWER, reason=reason, unreadable=True, tokens=tokens, cost=cost)

    async def _complete(self, said: list[Any], form: dict[str, Any] | None) -> _Completion:
        """One completion, tried again after passing faults."""
        wait, problem = self.first_wait, ""
        letters = sum(len(part["content"]) for part in said)
        for attempt in range(1, self.tries + 1):
            asked_to_wait: float | None = None
            try:
                with self.budget.holding(self.usage, letters, self.max_tokens):
                    response = await self._post(said, form)
                    if response.status_code == httpx.codes.OK:
                        return self._read(response)
                problem = f"{response.status_code}: {_message(response)}"
                if response.status_code == httpx.codes.BAD_REQUEST and self._ask_for_less():
                    continue
                if response.status_code not in _PASSING:
                    raise EndpointFailed(f"{self.url} answered {problem}", tries=attempt)
                asked_to_wait = _retry_after(response)
            except (httpx.TransportError, _Unusable) as fault:
                problem = str(fault) or type(fault).__name__
            self.usage.faults += 1
            if attempt < self.tries:
                pause = wait * self._chance.uniform(0.75, 1.25)
                await asyncio.sleep(min(_LONGEST, asked_to_wait or pause))
                wait *= 2
        raise EndpointFailed(
            f"{self.url} gave no answer in {self.tries} tries; the last said: {problem}",
            tries=self.tries,
        )

    def _ask_for_less(self) -> bool:
        """After a refusal, leave out what an endpoint may not know: schema, then chances."""
        if self._structured and self.prompt.schema is not None:
            self._structured = False
            return True
        if self.logprobs:
            self.logprobs = False
            return True
        return False

    async def _post(self, said: list[Any], form: dict[str, Any] | None) -> httpx.Response:
        if self._client is None:
            raise EndpointFailed("the endpoint is not open", tries=0)
        body: dict[str, Any] = {
            "model": self.model,
            "messages": said,
            "max_tokens": self.max_tokens,
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.logprobs:
            body["logprobs"] = True
        if self._structured and form is not None:
            body["response_format"] = form
        self.usage.requests += 1
        url = httpx.URL(f"{self.url.rstrip('/')}/chat/completions")
        if not self.address:
            return await self._client.post(url, json=body)
        return await self._client.post(
            url.copy_with(host=self.address),
            json=body,
            headers={"Host": url.netloc.decode()},
            extensions={"sni_hostname": url.host},
        )

    def _read(self, response: httpx.Response) -> _Completion:
        """What a completion holds; a body that is none counts as a passing fault."""
        try:
            body = response.json()
            choice = body["choices"][0]
            content = choice["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError):
            raise _Unusable(f"a body that is no completion: {shown(response.text)}") from None
        usage = body.get("usage") or {}
        done = _Completion(
            content=content if isinstance(content, str) else "",
            choice=choice,
            version=str(body.get("model") or ""),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
        )
        self.usage.prompt_tokens += done.prompt_tokens
        self.usage.completion_tokens += done.completion_tokens
        return done


def _label_logprob(choice: dict[str, Any], content: str, label: str) -> float | None:
    """Return the log-probability of a label in an answer; None where the endpoint has none.

    The tokens of the answer are joined; those that overlap the last occurrence of the label, as a
    word of its own, count together.
    """
    try:
        tokens = [(str(e["token"]), float(e["logprob"])) for e in choice["logprobs"]["content"]]
    except (KeyError, TypeError, ValueError):
        return None
    joined = "".join(text for text, _ in tokens)
    places = [*re.finditer(rf"(?<![^\W_]){re.escape(label)}(?![^\W_])", joined)]
    if not places or content.strip() not in joined:
        return None
    begin, total, end = places[-1].start(), 0.0, 0
    for text, value in tokens:
        start, end = end, end + len(text)
        if start < begin + len(label) and end > begin:
            total += value
    return min(total, 0.0) if math.isfinite(total) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Completion:
    """What an endpoint answered."""

    content: str
    choice: dict[str, Any]
    version: str
    prompt_tokens: int
    completion_tokens: int


class _Unusable(Exception):
    """A 200 that holds no completion."""


def _retry_after(response: httpx.Response) -> float | None:
    """How long the server asks us to wait, in seconds."""
    try:
        return max(0.0, float(response.headers.get("retry-after", "")))
    except ValueError:
        return None


def _message(response: httpx.Response) -> str:
    """What an error says of itself, in the shape of the protocol or as it is."""
    try:
        error = response.json()["error"]
        return str(error["message"] if isinstance(error, dict) else error)[:300]
    except (ValueError, KeyError, TypeError):
        return response.text[:300] or response.reason_phrase
