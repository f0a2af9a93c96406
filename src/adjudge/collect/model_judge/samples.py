"""A question asked so many times, each sample kept: none is paid for twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from adjudge.collect.model_judge.endpoint import Endpoint
from adjudge.collect.model_judge.ledger import AnswerLedger, key_of
from adjudge.collect.model_judge.question import NO_ANSWER, Question, Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledAnswers:
    """The answers to one question, and how many of them were known already."""

    replies: tuple[Reply, ...]
    known: int

    @property
    def commonest(self) -> Reply:
        """The answer that was given most often; of equals the first. No answer counts last."""
        return commonest(self.replies)


def commonest(replies: Sequence[Reply]) -> Reply:
    """The answer that was given most often; of equals the first. No answer counts last."""
    usable = [reply for reply in replies if reply.label != NO_ANSWER] or list(replies)
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
        key = key_of(
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
