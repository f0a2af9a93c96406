"""Making pages: which items and golds, leased and stored, and how a stored page is shown."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Literal, cast

import numpy as np
from sqlalchemy import bindparam, func, insert, select
from sqlalchemy.engine import Connection

from adjudge.collect.items.closing import preferred
from adjudge.collect.items.counters import arm_room, lease, with_arm_room
from adjudge.collect.judging.answering import answers_so_far, show_row
from adjudge.collect.judging.arriving import check_open
from adjudge.collect.judging.budget import may_begin, rows_left, take_turn
from adjudge.collect.judging.leases import (
    OBTAIN,
    bring_back,
    end_way,
    expire_pages,
    given_before,
    take_up,
)
from adjudge.collect.judging.refreshers import REFRESHER_PAGES, is_refresher
from adjudge.collect.judging.screening import Screening, golds_met
from adjudge.collect.judging.views import any_left, any_open
from adjudge.collect.rules.decisions import golds_lacking, training_left
from adjudge.collect.rules.endings import (
    BUDGET_SPENT,
    CAME_LATE,
    MAX_PAGES,
    NO_GOLD_LEFT,
    NOTHING_LEFT,
)
from adjudge.collect.rules.golds import (
    Pair,
    choose_refresher,
    choose_training,
    confusions,
    from_json,
    is_due,
    to_json,
    why,
)
from adjudge.collect.rules.policy import FULL_PAGE, Policy
from adjudge.collect.rules.routing import EARLY_GOLDS, Plan, Slot, compose, count_early_golds
from adjudge.collect.store.database import to_time
from adjudge.collect.store.request import JudgeRequest, Request
from adjudge.collect.store.schema import OPEN_TO_JUDGE, items, judgments, page_rows, pages
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.judging import DRY_RUN, OTHERS, AskedQuestion, Group, Page
from adjudge.collect.values.judging import Row as PageRow
from adjudge.collect.values.sides import toss
from adjudge.errors import Refused

_PAGE = select(pages).where(pages.c.id == bindparam("page"))
_CANDIDATES = (
    select(items.c.id, items.c.topic, items.c.rank)
    .where(*OPEN_TO_JUDGE)
    .order_by(items.c.rank)
    .limit(bindparam("most"))
)
_ROUNDS = 12  # tries to get a page's items while others are being given theirs
_REFRESHED = select(func.count(), func.coalesce(func.max(pages.c.id), 0)).where(
    pages.c.judge == bindparam("judge"), REFRESHER_PAGES, pages.c.state == "answered"
)
_MISSED = select(judgments.c.gold, judgments.c.label).where(
    judgments.c.judge == bindparam("judge"),
    judgments.c.kind == "work",
    judgments.c.right.is_(False),
    judgments.c.page > bindparam("last"),
    judgments.c.id > bindparam("fresh"),
)
_SHOW = (
    select(
        *(page_rows.c.row, page_rows.c.group, page_rows.c.item, page_rows.c.swapped),
        *(items.c.query, items.c.need, items.c.category, items.c.title, items.c.text),
        *(items.c.url, items.c.image, items.c.beside),
    )
    .join(items, items.c.id == page_rows.c.item)
    .where(page_rows.c.page == bindparam("page"))
    .order_by(page_rows.c.row)
)


def next_page(request: JudgeRequest) -> Page | None:
    """The page a judge has open or has left unanswered, or a new one, or None.

    A request that locks nothing gets the open one alone.
    """
    if not request.locked:
        return _find_open_page(request)
    if request.judge.stage == "consent":
        raise Refused("consent-wanted", "please agree to take part first")
    if request.judge.stage in ("failed", "blocked") or request.ended_untrained:
        return None
    expire_pages(request.on, request.now)
    if (held := _find_open_page(request)) is not None:
        return held
    check_open(request.judge, request.project, "this project is not open at the moment")
    rng = np.random.default_rng([request.project.seed, request.judge.id, request.judge.made])
    if request.judge.reason == CAME_LATE and request.judge.stage == "finished":
        if not any_open(request):
            return None
        request = _move(request, "training-resumed", stage="training", reason="")
    if request.judge.stage == "training":
        return _training_page(request, rng)
    return _refresher_page(request, rng) or _work_page(request, rng)


def _find_open_page(request: JudgeRequest) -> Page | None:
    """The page that a judge has open, if any; nothing is changed.

    One whose time is over is only shown by who could end it, and has not.
    """
    if request.judge.page is None or request.judge.stage in ("consent", "failed", "blocked"):
        return None
    if request.ended_untrained:
        return None
    page = request.on.execute(_PAGE, {"page": request.judge.page}).one_or_none()
    if page is None or page.state != "open":
        return None
    if not request.locked and page.kind == "work" and page.expires <= request.now:
        return None
    return show_page(request, page)


def _refresher_page(request: JudgeRequest, rng: np.random.Generator) -> Page | None:
    """A page of golds of the kinds that a judge confused, if they are due one and work is open."""
    due = _due_refresher(request)
    policy = request.policy
    if due is None or not any_open(request) or rows_left(request) == 0:
        return None
    number, confused = due
    met, count = golds_met(request), policy.refresher_pairs
    chosen = choose_refresher(request.project.training, confused, count, rng, seen=met)
    if not chosen:  # no gold of these kinds may be explained
        return None
    outcome: dict[str, Any] = {"confused": to_json(confused)}
    figures = {"number": number, "misses": sum(confused.values()), "pairs": len(chosen), **outcome}
    request.log("refresher-given", judge=request.judge.id, **figures)
    plan = _by_topic(request.project, chosen)
    reached = request.judge.reached
    return _store(request, "training", plan, reached=reached, attempt=-number, outcome=outcome)


def _due_refresher(request: JudgeRequest) -> tuple[int, dict[Pair, int]] | None:
    """The number of the refresher that a judge is to do now, and what they confused; else None.

    Models have none: they do not learn from feedback.
    """
    policy, judge = request.policy, request.judge
    if policy.refresher_pairs == 0 or judge.kind == "model":
        return None
    if judge.stage not in ("working", "warned"):
        return None
    if policy.max_pages is not None and judge.pages >= policy.max_pages:
        return None
    had, last = request.on.execute(_REFRESHED, {"judge": judge.id}).one()
    if not is_due(policy, misses=policy.refresher_after, had=had):
        return None
    given = {"judge": judge.id, "last": last, "fresh": judge.fresh_from}
    missed = request.on.execute(_MISSED, given).all()
    if not is_due(policy, misses=len(missed), had=had):
        return None
    golds = request.project.golds
    return had + 1, confusions((golds[row.gold].accepted[0], row.label) for row in missed)


def _by_topic(snapshot: ProjectSnapshot, chosen: Sequence[int]) -> Plan[int]:
    """Golds as a page has them, those of a query together."""
    groups: dict[str, list[Slot[int]]] = {}
    for gold in chosen:
        groups.setdefault(snapshot.golds[gold].topic, []).append(Slot(gold, True))
    return list(groups.values())


def _training_page(request: JudgeRequest, rng: np.random.Generator) -> Page | None:
    """A page of training golds, those of a query together."""
    policy = request.policy
    pairs = request.project.training_pairs(request.judge.arm)
    left = training_left(request.judge, policy, pairs=pairs)
    if left <= 0:  # the training was switched off, or its gold withdrawn, meanwhile
        request = _move(request, "training-waived", stage="working")
        return _work_page(request, rng)
    if not may_begin(request):
        end_way(request, BUDGET_SPENT)
        return None
    if request.judge.kind != DRY_RUN and not _is_worth_training(request):
        return None
    shown = golds_met(request)
    count = min(left, policy.pairs_per_page)
    chosen = choose_training(request.project.training, count, policy.training_mix, rng, seen=shown)
    return _store(request, "training", _by_topic(request.project, chosen))


def _is_worth_training(request: JudgeRequest) -> bool:
    """Whether work could follow the training of a judge, who is finished where none is left.

    Nobody begins it while the rest is in others' hands; who has begun goes on as long as it may
    come back.
    """
    if any_open(request):
        return True
    if not any_left(request):
        end_way(request, CAME_LATE)
        return False
    return bool(request.judge.training_seen or request.judge.attempt > 1)


def _move(request: JudgeRequest, event: str, *, stage: str, **more: str) -> JudgeRequest:
    """The request of a judge who is moved to another stage: past a training, or back to it."""
    request.set_judge(stage=stage, **more)
    request.log(event, judge=request.judge.id, stage=stage)
    return request.renewed()


def _work_page(request: JudgeRequest, rng: np.random.Generator) -> Page | None:
    """A page of work with screening golds among it; finishes the judge if nothing is left."""
    policy = request.policy
    if policy.max_pages is not None and request.judge.pages >= policy.max_pages:
        end_way(request, MAX_PAGES)
        return None
    left = rows_left(request)
    if left == 0:
        end_way(request, BUDGET_SPENT)
        return None
    back = bring_back(request, left)
    if back is not None:
        return show_page(request, back)
    screening = Screening.of(request)
    if screening is not None and screening.has_run_out and policy.gold_runs_out == "finish":
        end_way(request, NO_GOLD_LEFT)
        return None
    leased = _lease(request, screening, rng, left)
    if leased is not None:
        plan, reached = leased
        return _store(request, "work", plan, reached=reached)
    if not any_left(request):
        end_way(request, NOTHING_LEFT)
    return None


def _lease(
    request: JudgeRequest, screening: Screening | None, rng: np.random.Generator, left: int | None
) -> tuple[Plan[int], int] | None:
    """Items for a judge's next page, leased to them, and how far down the queue they are then.

    They go through the queue from where they were, so that what they have judged is not looked
    through again at every page; where the rest does not fill a page, from its beginning. ``left``
    is the most rows of work that the budget allows.
    """
    # One page of a project is made at a time: all judges want the items at the queue's front, and
    # would else hold a part of them each while they look for the rest.
    take_turn(request.on, request.judge.project)
    policy = request.policy
    window = 6 * policy.pairs_per_page
    scans = _scans(request, window, left)
    lost = given_before(request)
    golds = [] if screening is None else screening.draw(rng)
    gold_count = min(EARLY_GOLDS, len(request.project.screening))
    lacking = golds_lacking(request.judge, policy, gold_count)
    early = 0 if lacking else count_early_golds(policy, gold_count, (request.project.seed,))
    uncertain_first = policy.closing == "adaptive"
    candidates = _CANDIDATES.where(arm_room) if request.in_arm else _CANDIDATES
    theirs = {"project": request.judge.project, "judge": request.judge.id}
    theirs |= request.in_arm
    for _ in range(_ROUNDS):
        reached, most = scans[0]
        found = request.on.execute(candidates, {**theirs, "reached": reached, "most": most}).all()
        if not reached and len(found) < most:  # that is all there is
            del scans[1:]
        queue = [row for row in found if row[0] not in lost]
        ordered = preferred(request.on, request.project, request.judge.id, queue)[:left]
        plan = compose(
            [(row[0], row[1]) for row in ordered],
            golds,
            policy,
            rng,
            shown=request.judge.shown,
            golds_shown=request.judge.golds_shown - early,
            lacking=lacking,
            seed=(request.project.seed,),
            arrange=None if screening is None else screening.arrange,
        )
        # Further down there may be more uncertain ones.
        full = (1 if uncertain_first and most <= window else FULL_PAGE) * policy.pairs_per_page
        if len(scans) > 1 and sum(map(len, plan)) < full:
            del scans[0]
            continue
        if not plan:
            return None
        ids = sorted(slot.item for group in plan for slot in group if not slot.gold)
        if not ids:  # a short page, and it is gold's turn: no page is gold alone
            golds = []
            continue
        missed = _find_busy(request.on, ids, request.judge.arm, policy)
        if not missed:
            lease(request.on, ids)
            return plan, _find_end(queue, set(ids))
        lost |= missed
    return None


def _scans(request: JudgeRequest, window: int, left: int | None) -> list[tuple[int, int]]:
    """From where, and how far at most, to look down the queue: all of a large one only at need."""
    scans = [(0, window), (0, 8 * window), (0, 1_000_000)]
    if request.judge.reached:
        scans.insert(0, (request.judge.reached, window))
    if left is not None and left < request.policy.pairs_per_page:  # the last page, a short one
        del scans[:-1]
    return scans


def _find_end(queue: Sequence[tuple[Any, ...]], chosen: set[int]) -> int:
    """The rank before the first topic of the queue that is not on the page."""
    topics = {row[1] for row in queue if row[0] in chosen}
    for _, topic, rank in queue:
        if topic not in topics:
            return int(rank) - 1
    return int(queue[-1][2])


def _find_busy(on: Connection, ids: list[int], arm: str, policy: Policy) -> set[int]:
    """Which of these items are just being answered or given back; on SQLite none.

    They are not waited for, since whoever has them may wait for what this judge has.
    """
    if on.dialect.name != "postgresql":
        return set()
    obtained = list(on.execute(OBTAIN, {"ids": ids}).scalars())
    # Only now that they are locked: a judgment of their arm may have regained its trust meanwhile.
    return set(ids) - with_arm_room(on, obtained, arm, policy.arm_limit)


def _store(
    request: JudgeRequest,
    kind: Literal["training", "work"],
    plan: Plan[int],
    *,
    reached: int = 0,
    attempt: int | None = None,
    outcome: dict[str, Any] | None = None,
) -> Page:
    """Store a page and show it; slots hold items, or golds by the gold's own id."""
    judge = request.judge
    made = {
        "public": make_id(),
        "project": judge.project,
        "judge": judge.id,
        "kind": kind,
        "key": make_id(),
        "attempt": judge.attempt if attempt is None else attempt,
        "made": request.now,
        "expires": request.now + 60 * request.policy.lease_minutes,
        "state": "open",
        "outcome": outcome,
    }
    page = request.on.execute(insert(pages).returning(pages.c.id), made).scalar_one()
    rows: list[dict[str, Any]] = []
    for group, slots in enumerate(plan):
        for slot in slots:
            gold = slot.item if slot.gold else None
            item = slot.item if gold is None else request.project.golds[gold].item
            row = {"page": page, "row": len(rows) + 1, "group": group, "item": item, "gold": gold}
            rows.append({**row, "judge": judge.id})
    if request.project.of_pairs:
        sides = toss(request.project.seed, judge.id, judge.made, len(rows)).tolist()
        rows = [{**row, "swapped": swapped} for row, swapped in zip(rows, sides, strict=True)]
    request.on.execute(insert(page_rows), rows)
    values: dict[str, Any] = {"made": judge.made + 1, "reached": reached}
    if kind == "work":
        values["shown"] = judge.shown + len(rows)
        values["golds_shown"] = judge.golds_shown + sum(row["gold"] is not None for row in rows)
    take_up(request, page, **values)
    return show_page(request, SimpleNamespace(id=page, draft=None, **made))


def show_page(request: Request, page: Any) -> Page:
    """A stored page as its judge sees it."""
    groups: list[tuple[Any, list[PageRow]]] = []
    swapped: set[int] = set()
    last = None
    for row in request.on.execute(_SHOW, {"page": page.id}).all():
        if row.group != last:
            groups.append((row, []))
            last = row.group
        groups[-1][1].append(show_row(row, request.project.asked_of(page.kind, row.item)))
        if row.swapped:
            swapped.add(row.row)
    answers, feedback = answers_so_far(request, page, swapped)
    confused = from_json((page.outcome or {}).get("confused", ()))
    return Page(
        page=page.public,
        kind=cast(Literal["training", "work"], page.kind),
        key=page.key,
        expires=to_time(page.expires),
        groups=tuple(
            Group(query=head.query, need=head.need, category=head.category, rows=tuple(rows))
            for head, rows in groups
        ),
        labels=request.project.scale.labels,
        colours=request.project.colours,
        others=OTHERS,
        answers=answers,
        feedback=feedback,
        questions=tuple(
            AskedQuestion(name=one.name, text=one.text, labels=one.choices, required=one.required)
            for one in (request.project.questions if page.kind == "work" else ())
        ),
        why=why(confused, kinds=not request.project.of_pairs) if is_refresher(page) else "",
    )
