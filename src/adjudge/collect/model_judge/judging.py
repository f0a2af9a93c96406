"""A model at work: pages from a project, answers from an endpoint, until there is no more to do.

The model gets its pages as a person does: training with feedback on mistakes, hidden gold, trust,
warning and block. What it is told of its mistakes goes into its next questions, as a
person would keep it in mind.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol

from adjudge.collect.model_judge.both_orders import SideTally, settle
from adjudge.collect.model_judge.endpoint import Endpoint
from adjudge.collect.model_judge.ledger import AnswerLedger
from adjudge.collect.model_judge.question import BesideQuestion, Question
from adjudge.collect.model_judge.samples import ask_samples
from adjudge.collect.values.judging import Answer, Feedback, JudgeView, Outcome, Page, ProjectView
from adjudge.errors import BudgetSpent

_LESSONS = 12  # mistakes that the model is reminded of
_FEW = 80  # characters that name a result without a title


class Work(Protocol):
    """Where a judge gets pages and leaves answers: the service itself, or a server over HTTP."""

    def project(self) -> ProjectView:
        """Guidelines and labels."""
        ...

    def arrive(self) -> JudgeView:
        """Come in, and consent."""
        ...

    def page(self) -> Page | None:
        """The next page, None where there is none."""
        ...

    def submit(self, page: Page, answers: list[Answer]) -> Outcome:
        """Leave the answers."""
        ...

    def state(self) -> JudgeView:
        """Where the judge stands."""
        ...


@dataclass(slots=True, kw_only=True)
class ModelTally:
    """How a model's work went."""

    pages: int = 0
    judged: int = 0
    from_ledger: int = 0
    unanswered: int = 0
    stopped: str | None = None  # why, where it is the budget
    judge: JudgeView | None = None
    sides: SideTally = field(default_factory=SideTally)  # of pairs, asked in both orders


async def judge(
    work: Work,
    endpoint: Endpoint,
    ledger: AnswerLedger,
    *,
    concurrency: int = 8,
    most: int | None = None,
    samples: int = 1,
    learn: bool = True,
    on_page: Callable[[ModelTally], None] | None = None,
) -> ModelTally:
    """Judge pages until none is left, the judge is stopped, or ``most`` pairs are judged.

    ``learn``: tell the model of its missed golds, as people are told. Of several ``samples`` the
    commonest answer counts. Pairs are asked in both orders. Where the budget is spent, it stops
    before a page is submitted, and says so in the tally; what was answered of the page is in the
    ledger.
    """
    project = work.project()
    endpoint.prompt.check(project.labels)
    learn = learn and endpoint.prompt.name == "guidelines"  # a preset has no room for lessons
    tally = ModelTally(judge=work.arrive())
    room = asyncio.Semaphore(concurrency)
    lessons: list[str] = []
    while most is None or tally.judged < most:
        page = await asyncio.to_thread(work.page)
        if page is None:
            break
        guidelines = _with_lessons(project.guidelines, lessons if learn else [])

        async def one(
            row: int, question: Question, guide: str = guidelines, kept: Page = page
        ) -> Answer:
            started = time.monotonic()
            replies, known = [], 0
            both = () if question.beside is None else (question.mirrored,)
            for asked in (question, *both):
                sampled = await ask_samples(
                    asked, guidelines=guide, labels=kept.labels, endpoint=endpoint, ledger=ledger,
                    room=room, samples=samples,
                )  # fmt: skip
                replies.append(sampled.commonest)
                known += sampled.known
            reply = replies[0]
            if both:
                tally.sides.add(replies[0].label, replies[1].label)
                reply = settle(replies[0], replies[1], kept.labels)
            tally.from_ledger += known
            tally.unanswered += reply.label not in kept.labels and known < samples * len(replies)
            return Answer(
                row=row,
                label=reply.label,
                comment=reply.reason,
                seconds=round(time.monotonic() - started, 3),
            )

        given = {answer.row for answer in page.answers} if page.kind == "training" else set()
        questions = [(row, q) for row, q in _questions(page) if row not in given]
        try:
            answers = await _together([one(row, question) for row, question in questions])
        except BudgetSpent as spent:
            tally.stopped = str(spent)
            break
        outcome = await asyncio.to_thread(work.submit, page, answers)
        lessons = (lessons + _lessons(page, outcome.feedback))[-_LESSONS:]
        tally.pages += 1
        tally.judged += len(answers)
        tally.judge = outcome.judge
        if on_page is not None:
            on_page(tally)
    tally.judge = await asyncio.to_thread(work.state)
    return tally


async def _together(asked: list[Coroutine[Any, Any, Answer]]) -> list[Answer]:
    """The answers to all; where one fails, the others end before the failure is told."""
    tasks = [asyncio.ensure_future(one) for one in asked]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _questions(page: Page) -> list[tuple[int, Question]]:
    return [
        (
            row.row,
            Question(
                query=group.query, need=group.need, category=group.category, title=row.title,
                text=row.text, url=row.url,
                beside=None if row.beside is None else BesideQuestion(
                    title=row.beside.title, text=row.beside.text, url=row.beside.url
                ),
            ),
        )
        for group in page.groups
        for row in group.rows
    ]  # fmt: skip


def _lessons(page: Page, feedback: tuple[Feedback, ...]) -> list[str]:
    """What the judge was told of its mistakes, a line each."""
    asked = dict(_questions(page))
    return [
        f'For the query "{asked[told.row].query}" and {_named(asked[told.row])} you '
        f'answered "{told.given}"; accepted: {", ".join(told.accepted)}. {told.reason}'.strip()
        for told in feedback
        if not told.right and told.row in asked
    ]


def _named(question: Question) -> str:
    """What was judged, in few words."""
    if question.beside is None:
        return f'the result "{question.title}"'
    left, right = (one.title or one.text[:_FEW] for one in (question, question.beside))
    return f'the results "{left}" (left) and "{right}" (right)'


def _with_lessons(guidelines: str, lessons: list[str]) -> str:
    if not lessons:
        return guidelines
    listed = "\n".join(f"- {lesson}" for lesson in lessons)
    return f"{guidelines}\n\n## Mistakes you made before\n\n{listed}"
