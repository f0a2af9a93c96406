"""A model that judges a table of items, without a project: answers out, with all that is known.

The table of answers is what ``adjudge audit`` and every other command reads: item, model, prompt,
version, sample, label, and with it log-probability, confidence, tokens and cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from adjudge.collect.importing import SHOWN, ImportLimits, Upload, find_roles, read_table
from adjudge.collect.importing.tables import refuse_columns
from adjudge.collect.model_judge.endpoint import Endpoint
from adjudge.collect.model_judge.ledger import AnswerLedger, SampledAnswers, ask_samples
from adjudge.collect.model_judge.prompts import NO_ANSWER, Question
from adjudge.data.formats.opening import read_bytes
from adjudge.errors import BadData, BudgetSpent, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class _AskedItem:
    """An item to judge, by name, and how it is asked."""

    name: str
    topic: str
    document: str
    question: Question


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """What a model answered, item by item; ``stopped`` says why some are missing."""

    items: tuple[_AskedItem, ...]
    sampled: tuple[SampledAnswers, ...]  # as many as were answered, in the order of the items
    stopped: str | None = None

    @property
    def known(self) -> int:
        """Answers that the ledger had."""
        return sum(one.known for one in self.sampled)

    @property
    def unanswered(self) -> int:
        """Answers that could not be read, or were that the model cannot judge."""
        return sum(reply.label == NO_ANSWER for one in self.sampled for reply in one.replies)

    @property
    def unreadable(self) -> int:
        """Answers that could not be read."""
        return sum(reply.unreadable for one in self.sampled for reply in one.replies)

    @property
    def problem(self) -> str:
        """Why the latest answer that could not be read could not be."""
        bad = [reply.reason for one in self.sampled for reply in one.replies if reply.unreadable]
        return bad[-1] if bad else ""

    def to_table(self, model: str, prompt: str, judge: str | None = None) -> Any:
        """One row a sample; those without an answer are left out."""
        rows: list[dict[str, Any]] = []
        for item, sampled in zip(self.items, self.sampled, strict=False):
            for sample, reply in enumerate(sampled.replies, start=1):
                if reply.label == NO_ANSWER:
                    continue
                rows.append(
                    {"item": item.name, "topic": item.topic, "document": item.document,
                     "judge": judge, "model": model, "prompt": prompt, "version": reply.version,
                     "sample": sample, "label": reply.label, "logprob": reply.logprob,
                     "tokens": reply.tokens, "cost": reply.cost, "reason": reply.reason}
                )  # fmt: skip
        table = pa.Table.from_pylist(rows, schema=_SCHEMA)
        optional = ("topic", "document", "judge", "version", "logprob", "cost")
        empty = [name for name in optional if not any(table[name].to_pylist())]
        return table.drop_columns(empty)


_ASKED = ("query", "need", "category", "title", "text", "url")
_LIMITS = ImportLimits(bytes=2_000_000_000, rows=10_000_000)  # a file of the user's own
_SCHEMA = pa.schema(
    [(name, pa.large_string()) for name in
     ("item", "topic", "document", "judge", "model", "prompt", "version")]
    + [("sample", pa.int64()), ("label", pa.large_string()), ("logprob", pa.float64()),
       ("tokens", pa.int64()), ("cost", pa.float64()), ("reason", pa.large_string())]
)  # fmt: skip


def read_items(path: Path) -> tuple[_AskedItem, ...]:
    """The items of a table: item (or query and document), query, and something to judge by."""
    upload = Upload(name=path.name, body=read_bytes(path))
    columns, rows = read_table(upload, _LIMITS)
    found = find_roles(columns)
    if "query" not in found or not any(part in found for part in SHOWN):
        expected = f"query, and something to judge by ({', '.join(SHOWN)})"
        raise refuse_columns(upload, columns, expected)
    items: dict[str, _AskedItem] = {}
    for line, cells in rows:
        parts = {role: cells.get(name, "") for role, name in found.items()}
        topic, document = parts.get("topic") or parts["query"], parts.get("document", "")
        name = parts.get("name") or (f"{topic}/{document}" if document else "")
        if not name:
            problem = "the item has no name; expected item, or query and document"
            raise BadData(problem, source=path.name, line=line)
        if name in items:
            raise BadData(f"item {shown(name)} is there twice", source=path.name, line=line)
        asked: dict[str, Any] = {key: parts[key] for key in _ASKED if key in parts}
        items[name] = _AskedItem(
            name=name, topic=parts.get("topic", ""), document=document, question=Question(**asked)
        )
    if not items:
        raise BadData("there is no item to judge", source=path.name)
    return tuple(items.values())


async def judge_items(
    items: Sequence[_AskedItem],
    endpoint: Endpoint,
    ledger: AnswerLedger,
    *,
    guidelines: str,
    labels: tuple[str, ...],
    samples: int = 1,
    concurrency: int = 8,
    most: int | None = None,
    on_item: Callable[[int], None] | None = None,
) -> Answers:
    """Judge items in their order until all, or ``most``, are judged or the budget is spent."""
    endpoint.prompt.check(labels)
    chosen = tuple(items[:most])
    room = asyncio.Semaphore(concurrency)
    done: list[SampledAnswers] = []
    step = concurrency * 4
    for start in range(0, len(chosen), step):
        block = chosen[start : start + step]
        asked = [
            asyncio.ensure_future(
                ask_samples(
                    item.question, guidelines=guidelines, labels=labels, endpoint=endpoint,
                    ledger=ledger, room=room, samples=samples,
                )
            )
            for item in block
        ]  # fmt: skip
        given = await asyncio.gather(*asked, return_exceptions=True)
        for one in given:
            if isinstance(one, BudgetSpent):
                return Answers(items=chosen, sampled=tuple(done), stopped=str(one))
            if isinstance(one, BaseException):
                raise one
            done.append(one)
        if on_item is not None:
            on_item(len(done))
    return Answers(items=chosen, sampled=tuple(done))
