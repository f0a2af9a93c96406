"""A question asked so many times, each sample kept: none is paid for twice."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from adjudge.collect.model_judge._question import NO_ANSWER, Question, Reply
from adjudge.collect.model_judge.endpoint import Endpoint
from adjudge.collect.model_judge.ledger import AnswerLedger


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledAnswers:
    """The answers to one question, and how many of them were known already."""

    replies: tuple[Reply, ...]
    known: int

    @property
    def commonest(self) -> Reply:
        """The answer that was given most often; of equals the first. No answer counts last."""
        usable = [reply for reply in self.replies if reply.label != NO_ANSWER] or self.replies
        label = Counter(reply.label for reply in usable).most_common(1)[0][0]
        return next(reply for reply in usable if reply.label == label)


async def ask_samples(
    question: Question,
    *,
    guidelines: str,
    labels: tuple[str, ...],
    endpoint: Endpoint,
    ledger: AnswerLedger,
    room: asyncio.Semaphore,
    samples: int = 1,
) -> SampledAnswers:
    """The answers of a model to one question, from the ledger as far as it has them."""
    replies, known = [], 0
    for sample in range(samples):
        key = _key_of(
            endpoint.model,
            guidelines,
            labels,
            question,
            prompt=endpoint.prompt.name,
            temperature=endpoint.temperature,
            sample=sample,
        )
        reply = ledger.get(key)
        if reply is None:
            async with room:
                reply = await endpoint.ask(question, guidelines=guidelines, labels=labels)
            ledger.put(key, reply)
        else:
            known += 1
        replies.append(reply)
    return SampledAnswers(replies=tuple(replies), known=known)


def _key_of(
    model: str,
    guidelines: str,
    labels: tuple[str, ...],
    question: Question,
    *,
    prompt: str = "guidelines",
    temperature: float | None = 0.0,
    sample: int = 0,
) -> str:
    """What was asked, as a short text: anything that may change the answer changes it."""
    words = {name: part for name, part in asdict(question).items() if part is not None}
    asked: list[Any] = [model, guidelines, labels, words]
    if (prompt, temperature, sample) != ("guidelines", 0.0, 0):
        asked += [prompt, temperature, sample]
    said = json.dumps(asked, ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:32]
