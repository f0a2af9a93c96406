"""What a model has answered already, on disk: nobody pays for an answer twice."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from adjudge.collect.model_judge.endpoint import Endpoint
from adjudge.collect.model_judge.prompts import NO_ANSWER, Question, Reply
from adjudge.errors import BadData


@dataclass(slots=True)
class AnswerLedger:
    """Answers by what was asked: model, prompt, labels, pair, sample. A line of JSON each.

    A line is on disk before the answer is used, so a crash loses at most the requests under way; a
    last line that was cut short is left out.
    """

    path: Path
    answers: dict[str, Reply] = field(default_factory=dict)
    _file: IO[str] | None = None

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[AnswerLedger]:
        """Open the ledger in a file, which is made if it is not there."""
        made = cls(path)
        if path.exists():
            made._read()
        try:
            with path.open("a", encoding="utf-8") as made._file:
                yield made
        except OSError as fault:
            raise BadData(f"cannot be written ({fault.strerror})", source=str(path)) from None

    def _read(self) -> None:
        *lines, cut = self.path.read_text("utf-8", errors="replace").split("\n")
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
                key = record.pop("key")
                self.answers[key] = Reply(**record)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise BadData(
                    "is not a line of a ledger of answers", source=self.path.name, line=number
                ) from None
        if cut:
            part = self.path.with_name(f".{self.path.name}.part")
            part.write_text("".join(f"{line}\n" for line in lines), "utf-8")
            part.replace(self.path)

    def put(self, key: str, reply: Reply) -> None:
        """Keep an answer."""
        self.answers[key] = reply
        if self._file is not None:
            self._file.write(json.dumps({"key": key, **asdict(reply)}, ensure_ascii=False) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())


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
    """The answers of a model to one question, from the ledger where it has them."""
    replies, known = [], 0
    for sample in range(samples):
        key = _key_of(endpoint, guidelines, labels, question, sample)
        reply = ledger.answers.get(key)
        if reply is None:
            async with room:
                reply = await endpoint.ask(question, guidelines=guidelines, labels=labels)
            ledger.put(key, reply)
        else:
            known += 1
        replies.append(reply)
    return SampledAnswers(replies=tuple(replies), known=known)


def _key_of(
    endpoint: Endpoint, guidelines: str, labels: tuple[str, ...], question: Question, sample: int
) -> str:
    """Return what was asked as a short text: anything that may change the answer changes it."""
    words = {name: part for name, part in asdict(question).items() if part is not None}
    asked: list[Any] = [endpoint.model, guidelines, labels, words]
    how = (endpoint.prompt.name, endpoint.temperature, sample)
    if how != ("guidelines", 0.0, 0):  # which the oldest ledgers do not say
        asked += how
    said = json.dumps(asked, ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:32]
