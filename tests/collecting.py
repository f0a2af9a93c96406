"""What tests of collecting share: simulated projects, a clock that does not move, judges."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from adjudge.collect.rules.adaptive import Knowledge, neutral
from adjudge.collect.rules.routing import STICKY, item_state
from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer, Arrival, JudgeView, Outcome, Page
from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.data.scale import Scale
from adjudge.errors import Refused

# Of tests that ask for a database of each kind, those that send PostgreSQL nothing that others do
# not: there in the full run alone. What many change at once is tried on both in every run.
sqlite_first = pytest.mark.parametrize(
    "database",
    ["sqlite", pytest.param("postgresql", marks=pytest.mark.full)],
    indirect=True,
)

LABELS = ("Matching", "Not Matching", "Off Topic", "Spam")
SCALE = Scale(labels=LABELS)


def refused(code: str) -> pytest.RaisesExc[Refused]:
    """Expect a refusal with this code."""
    return pytest.raises(Refused, check=lambda error: error.code == code)


@dataclass
class Clock:
    """A clock that moves on request."""

    time: datetime = field(default_factory=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.time

    def forward(self, **by: float) -> None:
        self.time += timedelta(**by)


def made_item(name: str, topic: str, **texts: str) -> Item:
    words = {"title": f"title of {name}", "text": f"text of {name}", **texts}
    return Item(name=name, topic=topic, query=f"query {topic}", need=f"need {topic}", **words)


def made_project(
    *,
    topics: int = 10,
    results: int = 5,
    golds: int = 40,
    gold_topics: str = "shared",
    role: str = "both",
    **policy: Any,
) -> Project:
    """A project of ``topics`` queries; golds under the same queries, or ``apart``."""
    work = [made_item(f"t{t}d{d}", f"t{t}") for t in range(topics) for d in range(results)]
    where = "t{}" if gold_topics == "shared" else "g{}"
    spread = topics if gold_topics == "shared" else golds
    known = [made_item(f"gold{g}", where.format(g % spread)) for g in range(golds)]
    entries = [
        GoldEntry(
            item=f"gold{g}",
            accepted=(LABELS[g % 4],),
            reason=f"gold{g} is {LABELS[g % 4]}",
            role=role,  # type: ignore[arg-type]
        )
        for g in range(golds)
    ]
    settings = {"require_consent": False, **policy}
    return Project(
        name="Made",
        scale=SCALE,
        guidelines="# Guidelines",
        items=(*work, *known),
        golds=tuple(entries),
        policy=settings,
    )


class Bench:
    """A project with its services, and judges whose answers are given."""

    def __init__(self, database: Database, project: Project | None = None, **made: Any) -> None:
        self.database = database
        self.clock = Clock()
        self.judging = JudgingService(database, clock=self.clock)
        self.services = RequesterServices(database, clock=self.clock)
        self.value = project or made_project(**made)
        if self.value.seed is None:
            self.value = replace(self.value, seed=7)  # the same pages at every run
        self.slug = self.services.projects.create(self.value).slug
        self.services.projects.set_state(self.slug, "open")
        with database.read() as on:
            self.project: int = on.execute(
                sa.select(schema.projects.c.id).where(schema.projects.c.slug == self.slug)
            ).scalar_one()

    def arrive(self, key: str = "anna", **more: Any) -> JudgeView:
        arrival = {"project": self.slug, "channel": "open", "key": key, **more}
        return self.judging.arrive(Arrival(**arrival))

    def page(self, judge: str) -> Page:
        """The page that a judge has, or gets now; there has to be one."""
        page = self.judging.page(judge)
        assert page is not None
        return page

    def truths(self, page: Page) -> dict[int, str]:
        """The accepted label of each gold on a page, by row."""
        with self.database.read() as on:
            rows = on.execute(
                sa.select(schema.page_rows.c.row, schema.golds.c.accepted)
                .join(schema.pages, schema.pages.c.id == schema.page_rows.c.page)
                .join(schema.golds, schema.golds.c.id == schema.page_rows.c.gold)
                .where(schema.pages.c.public == page.page)
            )
            return {row.row: row.accepted[0] for row in rows}

    def answers(self, page: Page, *, right: bool = True, label: str = "Matching") -> list[Answer]:
        """Answers to every row: golds right or wrong, work with one label."""
        truths = self.truths(page)
        wrong = {truth: next(name for name in LABELS if name != truth) for truth in LABELS}
        return [
            Answer(
                row=row.row,
                label=label
                if row.row not in truths
                else truths[row.row]
                if right
                else wrong[truths[row.row]],
            )
            for row in page.rows
        ]

    def turn(self, judge: str, *, right: bool = True, label: str = "Matching") -> Outcome:
        """One page fetched and answered."""
        page = self.page(judge)
        answers = self.answers(page, right=right, label=label)
        return self.judging.submit(judge, page.page, page.key, answers)

    def trained(self, key: str = "anna") -> str:
        """A judge who has passed the training."""
        judge = self.arrive(key).judge
        while self.judging.state(judge).stage == "training":
            self.turn(judge)
        assert self.judging.state(judge).stage == "working"
        return judge

    def rows(self, statement: Any) -> list[Any]:
        """What a statement finds in the store."""
        with self.database.read() as on:
            return list(on.execute(statement))

    def items(self) -> list[Any]:
        table = schema.items
        return self.rows(
            sa.select(table).where(table.c.project == self.project).order_by(table.c.id)
        )

    def check(self) -> None:
        """Every invariant of the store, whatever happened before."""
        check_counters(self)
        check_standing(self)
        check_progress(self)
        if self.services.projects.get_policy(self.slug)[0].closing == "adaptive":
            check_needs(self)
        assert self.services.projects.audit(self.slug) == []


def check_counters(bench: Bench) -> None:
    """Counters of items are what the rows say; never more than needed; states follow."""
    pages, rows, given = schema.pages, schema.page_rows, schema.judgments
    leased = {
        row.item: row[1]
        for row in bench.rows(
            sa.select(rows.c.item, sa.func.count())
            .join(pages, pages.c.id == rows.c.page)
            .where(
                pages.c.project == bench.project,
                pages.c.state == "open",
                pages.c.kind == "work",
                rows.c.gold.is_(None),
            )
            .group_by(rows.c.item)
        )
    }
    dry = sa.select(schema.judges.c.id).where(schema.judges.c.kind == "dry-run")
    counts: dict[tuple[int, str], int] = {}
    broken: dict[int, int] = {}
    for row in bench.rows(
        sa.select(given.c.item, given.c.standing, given.c.other, sa.func.count()).where(
            given.c.project == bench.project, given.c.gold.is_(None), given.c.kind == "work",
            given.c.judge.not_in(dry),
        ).group_by(given.c.item, given.c.standing, given.c.other)
    ):  # fmt: skip
        if row.other and row.standing != "pending":
            broken[row.item] = broken.get(row.item, 0) + row[3]
        elif not row.other:
            counts[row.item, row.standing] = row[3]
    policy = bench.services.projects.get_policy(bench.slug)[0]
    limit = policy.set_aside_after
    for item in bench.items():
        pending = counts.get((item.id, "pending"), 0)
        assert item.leased == leased.get(item.id, 0) + pending, item.name
        assert item.trusted == counts.get((item.id, "trusted"), 0), item.name
        assert item.surplus == counts.get((item.id, "surplus"), 0), item.name
        assert item.broken == broken.get(item.id, 0), item.name
        assert item.leased + item.trusted <= item.needed, item.name
        full = item.leased + item.trusted == item.needed
        assert item.surplus == 0 or full or policy.judgments_by_arm, item.name
        if item.state not in STICKY:
            assert item.state == item_state(
                trusted=item.trusted,
                needed=item.needed,
                broken=item.broken,
                set_aside_after=limit,
            )


def check_progress(bench: Bench) -> None:
    """What progress says from counters and indexes is what every single row says."""
    judges, given, pages = schema.judges, schema.judgments, schema.pages
    real = sa.select(judges.c.id).where(judges.c.kind != "dry-run")
    answers = bench.rows(
        sa.select(given).where(
            given.c.project == bench.project, given.c.kind == "work", given.c.judge.in_(real)
        )
    )
    sheets = bench.rows(
        sa.select(pages.c.state).where(
            pages.c.project == bench.project, pages.c.kind == "work", pages.c.judge.in_(real)
        )
    )
    work = [one for one in answers if one.gold is None]
    graded = [one.right for one in answers if one.gold is not None and one.right is not None]
    items = [one for one in bench.items() if not one.gold and one.state != "withdrawn"]
    progress = bench.services.projects.get_progress(bench.slug)
    assert progress.items == len(items)
    assert progress.trusted == sum(one.trusted for one in items)
    assert progress.surplus == sum(one.surplus for one in items)
    assert progress.others == sum(one.other for one in work)
    assert progress.untrusted == sum(not one.other and one.standing == "untrusted" for one in work)
    waiting = {one.item for one in work if one.standing == "pending" and not one.other}
    waiting &= {one.id for one in items if one.state == "open"}
    assert progress.why_open.get("judged by judges not yet checked on gold", 0) == len(waiting)
    assert progress.pages == sum(sheet.state == "answered" for sheet in sheets)
    assert progress.open_pages == sum(sheet.state == "open" for sheet in sheets)
    assert progress.gold_accuracy == (sum(graded) / len(graded) if graded else None)


def check_quotas(bench: Bench) -> int:
    """No arm has more open and trusted judgments on an item than its number, nor surplus besides.

    The most that any arm has on any item. Counted row by row, apart from how the store counts them.
    """
    judges, given = schema.judges, schema.judgments
    pages, rows = schema.pages, schema.page_rows
    number = bench.services.projects.get_policy(bench.slug)[0].judgments_per_item
    # One statement is one look: between two, an open row can become a judgment and be in neither.
    judged = (
        sa.select(given.c.item, judges.c.arm, given.c.standing)
        .join(judges, judges.c.id == given.c.judge)
        .where(given.c.project == bench.project, given.c.kind == "work")
        .where(given.c.gold.is_(None), sa.not_(given.c.other))
    )
    leased = (
        sa.select(rows.c.item, judges.c.arm, pages.c.state)
        .join(pages, pages.c.id == rows.c.page)
        .join(judges, judges.c.id == rows.c.judge)
        .where(pages.c.project == bench.project, pages.c.state == "open", rows.c.gold.is_(None))
    )
    taken: dict[tuple[int, str], int] = {}
    surplus: set[tuple[int, str]] = set()
    for item, arm, standing in bench.rows(sa.union_all(judged, leased)):
        if standing in {"trusted", "open", "pending"}:
            taken[item, arm] = taken.get((item, arm), 0) + 1
        elif standing == "surplus":
            surplus.add((item, arm))
    assert max(taken.values(), default=0) <= number, taken
    assert all(taken.get(place, 0) == number for place in surplus), surplus
    return max(taken.values(), default=0)


def check_needs(bench: Bench) -> None:
    """In an adaptive project every item needs what its judgments say, worked out one by one."""
    policy = bench.services.projects.get_policy(bench.slug)[0]
    stored = bench.services.settings.get(f"knowledge:{bench.project}")
    known = neutral(SCALE) if stored is None else Knowledge.from_json(stored)
    given = schema.judgments
    answers: dict[int, list[tuple[int, int]]] = {}
    for row in bench.rows(
        sa.select(given).where(
            given.c.project == bench.project, given.c.kind == "work", given.c.gold.is_(None),
            ~given.c.other, given.c.standing.in_(("trusted", "surplus")),
        )
    ):  # fmt: skip
        answers.setdefault(row.item, []).append((row.judge, LABELS.index(row.label)))
    for item in bench.items():
        if item.gold:
            continue
        information = np.ones_like(known.prior)
        for judge, label in answers.get(item.id, []):
            rates = np.maximum(known.confusion_of(judge), 1e-3)
            information = information * (rates / rates.sum(axis=1, keepdims=True))[:, label]
        many = len(answers.get(item.id, []))  # which count for fewer where judges err together
        fewer = 1 / (1 + max(many - 1, 0) * known.correlation)
        joint = np.maximum(known.prior, 1e-3) * information**fewer
        sure = joint.max() / joint.sum()
        assert item.surplus == 0, item.name
        done = item.trusted >= policy.most_of_an_item or (
            item.trusted >= policy.least_judgments and sure >= policy.sure
        )
        if done:
            assert item.needed == item.trusted + item.leased, item.name
        else:
            least = max(policy.least_judgments, item.trusted + 1)
            assert item.needed == max(least, item.trusted + item.leased), item.name
        if item.state == "closed":
            assert done, item.name
        elif item.state == "open" and item.needed == item.leased + item.trusted:
            assert item.leased > 0, f"{item.name} is stuck"


def check_standing(bench: Bench) -> None:
    """Never a blocked judge's judgment trusted, or a dry run's; one open page a judge; one
    judgment an item.
    """
    judges, given, pages = schema.judges, schema.judgments, schema.pages
    for row in bench.rows(
        sa.select(judges.c.public, judges.c.stage, judges.c.kind, given.c.standing)
        .where(sa.not_(given.c.other & (given.c.standing == "pending")))  # counts nowhere
        .join(given, given.c.judge == judges.c.id)
        .where(judges.c.project == bench.project)
        .distinct()
    ):
        never = row.stage == "blocked" or row.kind == "dry-run"
        assert (row.standing == "untrusted") == never, row
    for row in bench.rows(
        sa.select(pages.c.judge, sa.func.count())
        .where(pages.c.project == bench.project, pages.c.state == "open")
        .group_by(pages.c.judge)
    ):
        assert row[1] == 1
    twice = (
        sa.select(given.c.judge, given.c.item)
        .where(given.c.project == bench.project, given.c.gold.is_(None))
        .group_by(given.c.judge, given.c.item)
        .having(sa.func.count() > 1)
    )
    assert bench.rows(twice) == []
