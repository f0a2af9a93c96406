"""Items and gold changed while judges work: every answer to a changed gold is graded again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.closing import restore_trust
from adjudge.collect.items.storing import add_items, check_accepted, withdraw_others
from adjudge.collect.rules.decisions import Decision, after_regrade
from adjudge.collect.rules.golds import gold_warnings
from adjudge.collect.store.database import StoredRow, batches
from adjudge.collect.store.request import (
    Request,
    columns_of,
    outdate_fits,
    record_of,
    write_log,
)
from adjudge.collect.store.schema import contests, golds, items, judges, judgments, pages
from adjudge.collect.store.snapshot import ProjectSnapshot, answers_of, bump
from adjudge.collect.values.gold import Regrade
from adjudge.collect.values.judging import DRY_RUN
from adjudge.collect.values.project import ROLES, GoldEntry, Item
from adjudge.collect.values.requesting import Imported
from adjudge.data.source import count_of
from adjudge.errors import BadSetting, NotFound, Refused

_CORRECTED = "A known answer was corrected:"  # how every notice of a regrade begins
_SAID = {
    "unblocked": f"{_CORRECTED} your work counts again. We are sorry.",
    "training-passed": f"{_CORRECTED} you have passed the training.",
    # Stored in databases, where `_is_tally` looks for this text.
    "recovered": f"{_CORRECTED} the warning no longer stands.",  # codespell:ignore stands
}


def import_items(
    request: Request,
    given: Sequence[Item],
    entries: Sequence[GoldEntry],
    *,
    keep_others: bool = True,
) -> Imported:
    """Add or change items and gold; without ``keep_others``, withdraw all others.

    The caller holds answers off (``edit_gold_alone``) before anything is locked: a judge who
    answers may wait for one of the items.
    """
    project = request.project
    stored = add_items(
        request.on, project.id, given, entries, scale=project.scale, policy=project.policy
    )
    withdrawn, retired = 0, list[int]()
    if not keep_others:
        kept, graded = {item.name for item in given}, {entry.item for entry in entries}
        withdrawn, retired = withdraw_others(request.on, project.id, kept, graded)
    bump(request.on, project.id)
    fresh = request.reloaded()
    figures: dict[str, Any] = {
        "added": stored.added,
        "changed": stored.changed,
        "withdrawn": withdrawn,
        "golds": {
            gold: accepted
            for gold, accepted in answers_of(fresh.project).items()
            if int(gold) not in project.golds
        },
    }
    fresh.log("items-stored", actor=request.actor, **figures)
    changed = [*stored.regrade, *retired]
    if changed:
        _regrade(fresh, changed)
    if changed or figures["golds"]:
        outdate_fits(request.on, project.id)
    return Imported(
        added=stored.added,
        changed=stored.changed,
        withdrawn=withdrawn,
        golds_added=stored.golds_added,
        golds_changed=stored.golds_changed + len(retired),
        warnings=tuple(warn_of_gold(fresh)),
    )


def edit_gold(request: Request, item: str, changes: Mapping[str, Any]) -> Regrade:
    """Change a gold and regrade every answer to it."""
    gold = _gold_of(request.project, item)
    if "accepted" in changes:
        check_accepted(changes["accepted"], request.project.scale, item)
    if changes.get("role", "both") not in ROLES:
        raise BadSetting("role", changes["role"], " or ".join(ROLES))
    request.on.execute(
        update(golds).where(golds.c.id == gold).values(**changes, version=golds.c.version + 1)
    )
    bump(request.on, request.project.id)
    fresh = request.reloaded()
    outdate_fits(request.on, request.project.id)
    return _regrade(fresh, [gold], item)


def _gold_of(snapshot: ProjectSnapshot, item: str) -> int:
    """The gold of an item, by the item's name."""
    for gold, facts in snapshot.golds.items():
        if facts.name == item:
            return gold
    raise NotFound("gold", item)


def _regrade(request: Request, gold_ids: Sequence[int], item: str = "") -> Regrade:
    """Grade every answer to these golds by what they accept now, and decide on judges again.

    The caller has changed the golds and holds answers off (``edit_gold_alone``).
    """
    answers = changed = 0
    affected: set[int] = set()
    lines = []
    for gold in gold_ids:
        facts = request.project.golds[gold]
        accepted = list(facts.accepted) if facts.active else None
        figures: dict[str, Any] = {"gold": gold, "item": facts.name, "accepted": accepted}
        lines.append(request.line("gold-edited", actor=request.actor, **figures))
        flips: dict[bool | None, list[int]] = defaultdict(list)
        for row in request.on.execute(
            select(judgments.c.id, judgments.c.judge, judgments.c.label, judgments.c.right).where(
                judgments.c.gold == gold
            )
        ):
            answers += 1
            right = facts.right(row.label)
            if right != row.right:
                flips[right].append(row.id)
                affected.add(row.judge)
        for right, ids in flips.items():
            changed += len(ids)
            for part in batches(ids):
                request.on.execute(
                    update(judgments).where(judgments.c.id.in_(part)).values(right=right)
                )
    write_log(request.on, lines)
    unblocked, passed = _put_right(request, sorted(affected))
    return Regrade(
        item=item,
        answers=answers,
        changed=changed,
        judges=len(affected),
        unblocked=tuple(unblocked),
        passed=tuple(passed),
        upheld=_uphold(request, gold_ids),
    )


def _tallies_of(on: Connection, ids: Sequence[int]) -> dict[int, dict[int, Counter[str]]]:
    """Every judge's answers to gold, counted by try and grade, since their fresh start.

    The grades are "right", "wrong" and "ungraded"; work has try 0.
    """
    found: dict[int, dict[int, Counter[str]]] = {judge: defaultdict(Counter) for judge in ids}
    statement = (
        select(
            judgments.c.judge,
            judgments.c.kind,
            pages.c.attempt,
            judgments.c.right,
            func.count().label("count"),
        )
        .join(pages, pages.c.id == judgments.c.page)
        .join(judges, judges.c.id == judgments.c.judge)
        .where(
            judgments.c.gold.is_not(None),
            (judgments.c.kind == "training") | (judgments.c.id > judges.c.fresh_from),
        )
        .group_by(judgments.c.judge, judgments.c.kind, pages.c.attempt, judgments.c.right)
    )
    grades = {True: "right", False: "wrong", None: "ungraded"}
    for part in batches(ids):
        for row in on.execute(statement.where(judgments.c.judge.in_(part))):
            attempt = row.attempt if row.kind == "training" else 0
            found[row.judge][attempt][grades[row.right]] += row[4]
    return found


def _put_right(request: Request, ids: Sequence[int]) -> tuple[list[str], list[str]]:
    """Count the tallies of judges again, and lift what they no longer bear out.

    The judges who are unblocked by it, and those who have passed the training by it.
    """
    tallies = _tallies_of(request.on, ids)
    changes, lines = [], []
    freed, unblocked, passed = [], [], []
    for part in batches(ids):
        for judge in request.on.execute(
            select(judges).where(judges.c.id.in_(part)).order_by(judges.c.id)
        ):
            graded, record = tallies[judge.id], record_of(judge)
            policy = request.project.policy_of(judge.arm)
            passes = record.has_passed(graded, policy)
            decision = after_regrade(record.recounted(graded), policy, passed=passes)
            changes.append(_change(judge, decision, tell=policy.feedback))
            figures = decision.record.figures
            lines.append(request.line("regraded", judge=judge.id, **figures))
            lines += [request.line(name, judge=judge.id, **figures) for name in decision.events]
            if "unblocked" in decision.events:
                if judge.kind != DRY_RUN:
                    freed.append(judge.id)
                unblocked.append(judge.public)
            if "training-passed" in decision.events:
                passed.append(judge.public)
    if changes:
        columns = [name for name in changes[0] if name != "which"]
        request.on.execute(
            update(judges)
            .where(judges.c.id == bindparam("which"))
            .values({name[4:]: bindparam(name) for name in columns}),
            changes,
        )
    if freed:
        restore_trust(request.on, freed, request.project)
    write_log(request.on, lines)
    return unblocked, passed


def _change(judge: StoredRow, decision: Decision, *, tell: bool) -> dict[str, Any]:
    """The change of a judge's row after a regrade, with their notices.

    Their tally only with ``tell``, as where the policy gives feedback.
    """
    news = [_SAID[event] for event in decision.events if event in _SAID]
    record = decision.record
    if (
        tell
        and not news
        and record.seen
        and (record.seen, record.right) != (judge.seen, judge.right)
    ):
        news = [
            f"{_CORRECTED} {record.right} of your {count_of(record.seen, 'answer')} to such "
            f"{'is' if record.right == 1 else 'are'} right now."
        ]
    # Of several tallies only the last is true; what lifted a block or a warning stays said.
    kept = [text for text in judge.notice if text not in news and not _is_tally(text)]
    page = None if "training-passed" in decision.events else judge.page
    values = {**columns_of(record), "notice": kept + news, "page": page}
    return {"which": judge.id, **{f"new_{name}": value for name, value in values.items()}}


def _is_tally(text: str) -> bool:
    return text.startswith(_CORRECTED) and text not in _SAID.values()


def _uphold(request: Request, gold_ids: Sequence[int]) -> int:
    """Settle the contests that an edit grants: the label is accepted, or the gold out of use."""
    granted: list[StoredRow] = []
    for part in batches(gold_ids):
        granted += request.on.execute(
            select(contests.c.id, contests.c.judge, contests.c.gold)
            .join(judgments, judgments.c.id == contests.c.judgment)
            .where(
                contests.c.gold.in_(part),
                ~contests.c.settled,
                judgments.c.right.is_distinct_from(False),
            )
            .order_by(contests.c.id)
        ).all()
    if not granted:
        return 0
    for part in batches(row.id for row in granted):
        request.on.execute(
            update(contests).where(contests.c.id.in_(part)).values(settled=True, upheld=True)
        )
    for part in batches(row.judge for row in granted):
        notify_judges(request.on, part, "You were right to disagree. The known answer is changed.")
    lines = []
    for row in granted:
        figures = {"contest": row.id, "gold": row.gold, "upheld": True}
        lines.append(
            request.line("contest-settled", judge=row.judge, actor=request.actor, **figures)
        )
    write_log(request.on, lines)
    return len(granted)


def notify_judges(on: Connection, ids: Sequence[int], text: str) -> None:
    """Show a sentence with the next page of judges; given twice it is shown once."""
    rows = on.execute(
        select(judges.c.id, judges.c.notice)
        .where(judges.c.id.in_(ids))
        .order_by(judges.c.id)
        .with_for_update(key_share=True)
    ).all()
    on.execute(
        update(judges).where(judges.c.id == bindparam("which")).values(notice=bindparam("lines")),
        [{"which": row.id, "lines": [*(x for x in row.notice if x != text), text]} for row in rows],
    )


def warn_of_gold(request: Request) -> list[str]:
    """What a requester should know of the project's gold."""
    return gold_warnings(
        request.project.policy,
        training=request.project.training,
        screening=request.project.screening,
        work_topics=_work_topics(request),
    )


def _work_topics(request: Request) -> dict[Any, int]:
    """How many items of work each topic has; kept with the snapshot, since a project is large."""
    statement = select(items.c.topic, func.count()).where(
        items.c.project == request.project.id,
        items.c.gold.is_(False),
        items.c.state != "withdrawn",
    )
    by_topic = statement.group_by(items.c.topic)
    return request.project.keep(
        "work topics", None, lambda: dict(request.on.execute(by_topic).all())
    )


def check_workable(request: Request, item: str) -> None:
    """Refuse an item that is not there, or that is gold already."""
    row = request.on.execute(
        select(items.c.gold).where(
            items.c.project == request.project.id,
            items.c.name == item,
            items.c.state != "withdrawn",
        )
    ).one_or_none()
    if row is None:
        raise NotFound("item", item)
    if row.gold:
        raise Refused("gold-already", f"{item} is gold already: edit it instead")
