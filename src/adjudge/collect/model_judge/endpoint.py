"""An OpenAI-compatible endpoint: asked over HTTP, again after a fault, with tokens counted."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

from adjudge.collect.model_judge.question import (
    NO_ANSWER,
    Question,
    Reply,
    messages,
    parse,
    schema,
)
from adjudge.errors import BadData, BadSetting, EndpointFailed, shown

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_LONGEST = 60.0  # seconds between two tries


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
class Endpoint:
    """Where a model answers, and how patiently it is asked.

    A full house (429) and passing faults are tried again, after as long as the server asks for or
    twice as long each time. An answer that cannot be read is asked for again; after ``rereads`` of
    them the judgment is "can't judge".
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    temperature: float | None = 0.0
    max_tokens: int = 300
    tries: int = 6
    rereads: int = 2
    timeout: float = 120.0
    first_wait: float = 1.0
    usage: Usage = field(default_factory=Usage)
    _client: httpx.AsyncClient | None = field(default=None, repr=False)
    _structured: bool = True
    _chance: np.random.Generator = field(
        default_factory=lambda: np.random.default_rng(0), repr=False
    )

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise BadSetting("--endpoint", self.url, "an address such as https://host/v1")
        if not self.model:
            raise BadSetting("--model", self.model, "the name of a model of the endpoint")

    async def __aenter__(self) -> Endpoint:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        self._client = httpx.AsyncClient(headers=headers, timeout=self.timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def ask(self, question: Question, *, guidelines: str, labels: tuple[str, ...]) -> Reply:
        """The model's judgment of one pair."""
        said = messages(question, guidelines=guidelines, labels=labels)
        for _ in range(self.rereads + 1):
            content = await self._complete(said, labels)
            try:
                return parse(content, labels)
            except BadData:
                self.usage.unread += 1
        return Reply(label=NO_ANSWER, reason="The model gave no answer that could be read.")

    async def _complete(self, said: list[Any], labels: tuple[str, ...]) -> str:
        """The text of one completion, tried again after passing faults."""
        wait, problem = self.first_wait, ""
        for attempt in range(1, self.tries + 1):
            asked_to_wait: float | None = None
            try:
                response = await self._post(said, labels)
                if response.status_code == httpx.codes.OK:
                    return self._content(response)
                problem = f"{response.status_code}: {_message(response)}"
                if response.status_code == httpx.codes.BAD_REQUEST and self._structured:
                    self._structured = False  # an endpoint that knows no schema: ask in words alone
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

    async def _post(self, said: list[Any], labels: tuple[str, ...]) -> httpx.Response:
        if self._client is None:
            raise EndpointFailed("the endpoint is not open", tries=0)
        body: dict[str, Any] = {
            "model": self.model,
            "messages": said,
            "max_tokens": self.max_tokens,
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self._structured:
            body["response_format"] = schema(labels)
        self.usage.requests += 1
        return await self._client.post(f"{self.url.rstrip('/')}/chat/completions", json=body)

    def _content(self, response: httpx.Response) -> str:
        """The text of a completion; a body that is none counts as a passing fault."""
        try:
            body = response.json()
            content = body["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError):
            raise _Unusable(f"a body that is no completion: {shown(response.text)}") from None
        usage = body.get("usage") or {}
        self.usage.prompt_tokens += int(usage.get("prompt_tokens") or 0)
        self.usage.completion_tokens += int(usage.get("completion_tokens") or 0)
        return content if isinstance(content, str) else ""


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
