"""A model at work: pages from a project, answers from an endpoint, until there is no more to do.

The model gets its pages as a person does: training with feedback on mistakes, hidden gold, trust,
warning and block. The feedback on its mistakes goes into its next questions, as a
person would keep it in mind.

It is asked about a pair in both orders: models prefer the first of two results, or the second,
more than people do (L. Zheng and others 2023, arXiv:2306.05685). A model that contradicts itself
has not decided between the two: that is a tie where ties are allowed. Elsewhere the answer to the
order that the page's coin gave counts, so that no result gains by it.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter

from adjudge.client import Client
from adjudge.collect.model_judge.endpoint import Endpoint
from adjudge.collect.model_judge.ledger import AnswerLedger, ask_samples
from adjudge.collect.model_judge.prompts import NO_ANSWER, OtherQuestion, Question, Reply
from adjudge.collect.services.judging import JudgingService
from adjudge.collect.values.judging import (
    Answer,
    Arrival,
    Feedback,
    JudgeView,
    Outcome,
    Page,
    ProjectView,
)
from adjudge.collect.values.sides import LEFT, RIGHT, TIE, mirror
from adjudge.errors import BudgetSpent

_WIDE = 1.6448536269514722  # standard errors of a 90% interval
_LESSONS = 12  # mistakes that the model is reminded of
_FEW = 80  # characters that name a result without a title
_Value = TypeVar("_Value")


class Work(Protocol):
    """Where a judge gets pages and leaves answers: the service itself, or a server over HTTP."""

    def project(self) -> ProjectView:
        """Guidelines and labels."""

    def arrive(self) -> JudgeView:
        """Come in, and consent."""

    def page(self) -> Page | None:
        """The next page, None where there is none."""

    def submit(self, page: Page, answers: list[Answer]) -> Outcome:
        """Leave the answers."""

    def state(self) -> JudgeView:
        """The present state of the judge."""


class InProcessWork:
    """A model that judges on the server. ``key`` names it: the same key is the same judge."""

    def __init__(self, judging: JudgingService, slug: str, key: str) -> None:
        self._judging, self._slug, self._key = judging, slug, key
        self._judge = ""

    def project(self) -> ProjectView:
        """Guidelines and labels."""
        return self._judging.project(self._slug)

    def arrive(self) -> JudgeView:
        """Come in as a model, and consent."""
        arrival = Arrival(project=self._slug, channel="api", key=self._key, kind="model")
        view = self._judging.arrive(arrival)
        self._judge = view.judge
        return self._judging.consent(view.judge) if view.stage == "consent" else view

    def page(self) -> Page | None:
        """The next page, None where there is none."""
        return self._judging.page(self._judge)

    def submit(self, page: Page, answers: list[Answer]) -> Outcome:
        """Leave the answers."""
        return self._judging.submit(self._judge, page.page, page.key, answers)

    def state(self) -> JudgeView:
        """The present state of the judge."""
        return self._judging.state(self._judge)


class HttpWork:
    """A model that judges at a server. ``key`` names it: with one token, one key is one judge."""

    def __init__(
        self, server: str, slug: str, token: str, key: str, *, patience: float = 30.0
    ) -> None:
        self._client = Client(server, token, patience=patience)
        self._slug, self._key, self._ticket = slug, key, ""

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def project(self) -> ProjectView:
        """Guidelines and labels."""
        return _read(ProjectView, self._client.request("GET", f"/projects/{self._slug}/guidelines"))

    def arrive(self) -> JudgeView:
        """Come in as a model, and consent."""
        sent = {"key": self._key, "kind": "model", "consent": True}
        body = self._client.request("POST", f"/projects/{self._slug}/arrivals", sent)
        self._ticket = body["ticket"]
        return _read(JudgeView, body["judge"])

    def page(self) -> Page | None:
        """The next page, None where there is none."""
        body = self._client.request("POST", f"/judges/{self._ticket}/page")
        return None if body["page"] is None else _read(Page, body["page"])

    def submit(self, page: Page, answers: list[Answer]) -> Outcome:
        """Leave the answers; sent again after a lost connection, they are stored once."""
        sent = {"key": page.key, "answers": [asdict(answer) for answer in answers]}
        return _read(
            Outcome, self._client.request("POST", f"/judges/{self._ticket}/pages/{page.page}", sent)
        )

    def state(self) -> JudgeView:
        """The present state of the judge."""
        return _read(JudgeView, self._client.request("GET", f"/judges/{self._ticket}"))


def _read(kind: type[_Value], body: Any) -> _Value:
    """A value as the server's JSON has it."""
    return TypeAdapter(kind).validate_python(body)


@dataclass(slots=True)
class _SideTally:
    """How often a model was asked in both orders, agreed with itself, and took which side."""

    pairs: int = 0
    agreed: int = 0
    left: int = 0  # answers, of both orders, that took the left one
    right: int = 0
    _squares: int = 0  # of the difference of both in each pair

    def add(self, first: str, second: str) -> None:
        """Count the answers to both orders, each as its order was shown."""
        if NO_ANSWER in (first, second):
            return
        self.pairs += 1
        self.agreed += first == mirror(second)
        left, right = ([first, second].count(side) for side in (LEFT, RIGHT))
        self.left, self.right = self.left + left, self.right + right
        self._squares += (left - right) ** 2

    @property
    def position(self) -> tuple[float, float, float] | None:
        """By how much a result gains on the left side, as a share of answers; with 90% bounds.

        0 where sides do not matter, 1 where the left one is always taken, -1 where the right one.
        """
        if not self.pairs:
            return None
        mean = (self.left - self.right) / (2 * self.pairs)
        spread = max(self._squares / (4 * self.pairs) - mean * mean, 0.0)
        error = _WIDE * math.sqrt(spread / self.pairs)
        return mean, mean - error, mean + error


def _settle(first: Reply, second: Reply, labels: tuple[str, ...]) -> Reply:
    """One answer of two: as shown first, and with the sides changed."""
    turned = mirror(second.label)
    if first.label == NO_ANSWER and second.label != NO_ANSWER:
        return replace(second, label=turned)
    if second.label == NO_ANSWER or first.label == turned:
        return first
    label = TIE if TIE in labels else first.label
    said = f"Asked in both orders: {first.label}, then {turned}. {first.reason}"
    return replace(first, label=label, reason=said.strip())


@dataclass(slots=True, kw_only=True)
class ModelTally:
    """How a model's work went."""

    pages: int = 0
    judged: int = 0
    from_ledger: int = 0
    unanswered: int = 0  # could not judge, or gave no reply that could be read
    unreadable: int = 0  # gave no reply that could be read
    problem: str = ""  # of the latest of them
    stopped: str | None = None  # why, where it is the budget
    judge: JudgeView | None = None
    sides: _SideTally = field(default_factory=_SideTally)  # of pairs, asked in both orders


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

    ``learn``: give the model feedback on missed gold, as people get it. Of several ``samples`` the
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
                reply = _settle(replies[0], replies[1], kept.labels)
            tally.from_ledger += known
            tally.unanswered += reply.label not in kept.labels and known < samples * len(replies)
            if reply.unreadable and known < samples * len(replies):
                tally.unreadable, tally.problem = tally.unreadable + 1, reply.reason
            return Answer(
                row=row,
                label=reply.label,
                comment=reply.reason,
                seconds=round(time.monotonic() - started, 3),
                answers=reply.answers,
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
    """The answers to all; where one fails, the others end before the failure is raised."""
    tasks = [asyncio.ensure_future(one) for one in asked]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _questions(page: Page) -> list[tuple[int, Question]]:
    """What is asked about each row; of the further questions those that need an answer."""
    required = [one for one in page.questions if one.required]
    return [
        (
            row.row,
            Question(
                query=group.query, need=group.need, category=group.category, title=row.title,
                text=row.text, url=row.url,
                beside=None if row.beside is None else OtherQuestion(
                    title=row.beside.title, text=row.beside.text, url=row.beside.url
                ),
                further=tuple(one for one in required if one.name in row.asked) or None,
            ),
        )
        for group in page.groups
        for row in group.rows
    ]  # fmt: skip


def _lessons(page: Page, feedback: tuple[Feedback, ...]) -> list[str]:
    """The feedback on the judge's mistakes, one line per mistake."""
    asked = dict(_questions(page))
    return [
        f'For the query "{asked[about.row].query}" and {_named(asked[about.row])} you '
        f'answered "{about.given}"; accepted: {", ".join(about.accepted)}. {about.reason}'.strip()
        for about in feedback
        if not about.right and about.row in asked
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
