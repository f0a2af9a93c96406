"""Gold of a stored project: its forecast, its roles by design, and items approved as gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import bindparam, func, select, update

from adjudge.collect.gold.design import (
    GoldDesign,
    GoldForecast,
    Suggestion,
    absent,
    chosen_of,
    design,
    expected_mix,
    forecast,
    missing_for,
    ruling,
    suggest,
)
from adjudge.collect.items.storing import count_work
from adjudge.collect.rules.decisions import training_length
from adjudge.collect.rules.golds import gold_warnings
from adjudge.collect.store.conditions import is_real
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import golds, items, judges, judgments
from adjudge.collect.store.settings import declined_golds, keep_setting, read_setting
from adjudge.collect.store.snapshot import ProjectSnapshot, bump
from adjudge.collect.values.project import Mix
from adjudge.collect.values.requesting import SuggestedGold
from adjudge.errors import BadSetting, NotFound, Refused

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus

_PAGES = 15  # pages of work that a judge does, where nothing is known of them
_TEXTS = ("query", "need", "title", "text", "url")


def forecast_project(
    request: Request, judges_expected: int | None, settings: Mapping[str, Any] | None = None
) -> GoldForecast:
    """How much gold a project needs; judges are taken from those who worked, if none are stated.

    ``settings`` are those of a policy that the project does not have, but might.
    """
    work = count_work(request.on, request.project.id)
    policy = request.project.policy.changed(settings or {})
    if policy.judgments_by_arm:  # the sum over arms, as if there were one
        needed = min(1000, policy.judgments_needed(len(request.project.arms)))
        policy = policy.changed({"judgments_per_item": needed, "judgments_by_arm": False})
    if judges_expected is None:
        pages = request.on.execute(
            select(func.avg(judges.c.pages)).where(
                judges.c.project == request.project.id, judges.c.pages > 0, is_real
            )
        ).scalar()
        each = policy.pairs_per_page * (1 - policy.screening_share)
        wanted = work * policy.judgments_per_item / max(1.0, each)
        judges_expected = max(1, round(wanted / float(pages or _PAGES)))
        judges_expected = max(judges_expected, policy.judgments_per_item)
    return forecast(
        policy,
        items=int(work),
        labels=request.project.scale.labels,
        judges=judges_expected,
        training=request.project.training,
        screening=request.project.screening,
    )


def arm_gold_warnings(snapshot: ProjectSnapshot) -> list[str]:
    """What is wrong with the training gold of arms, as their judges are shown it."""
    labels = snapshot.scale.labels
    leaning: list[str] = []
    unseen: dict[str, list[str]] = {}
    lacking: list[str] = []
    for name, arm in snapshot.arms.items():
        wanted = arm.policy.training_mix
        count = training_length(arm.policy, len(snapshot.training))
        mix = expected_mix(snapshot.training, count, wanted, labels)
        rules = ruling(mix, labels)
        if rules is not None:
            leaning.append(f"{name} ({rules[1]:.0%} {rules[0]})")
        for label in absent(mix, labels):
            unseen.setdefault(label, []).append(name)
        missing = missing_for(mix, count, wanted, labels)
        if missing:
            listed = ", ".join(f"{many} {label}" for label, many in missing.items())
            lacking.append(
                f"The training gold cannot give arm {name} its label mix: {listed} more are "
                "needed, and other labels stand in for them."
            )
    if leaning:
        lacking.append(
            f"One label rules the training of arm {', '.join(leaning)}: judges learn to expect it "
            "and lean to it (Le and others, 2010)."
        )
    return lacking + [
        f"No training gold is {label} in arm {', '.join(arms)}: judges never meet one there."
        for label, arms in unseen.items()
    ]


def suggest_items(request: Request, consensus: Consensus, count: int) -> list[Suggestion]:
    """New gold for a project: what the consensus is surest of, of the labels that gold lacks."""
    mix, have = _wanted(request.project)
    known = [gold.name for gold in request.project.golds.values()]
    known += list_declined(request)
    return suggest(consensus, count, known=known, mix=mix, have=have)


def _wanted(snapshot: ProjectSnapshot) -> tuple[Mix, Counter[str]]:
    """The mix that new gold should lead to, and the gold there is, by label."""
    mix: Mix = snapshot.policy.training_mix
    active = (gold for gold in snapshot.golds.values() if gold.active)
    return "uniform" if mix == "any" else mix, Counter(gold.accepted[0] for gold in active)


def describe_suggested(
    request: Request, sure: Sequence[Suggestion], count: int
) -> list[SuggestedGold]:
    """So many of the items that a fit was sure of, with their texts and who gave which label.

    What has become gold or was declined since the fit is left out.
    """
    gone = {gold.name for gold in request.project.golds.values()} | set(list_declined(request))
    mix, have = _wanted(request.project)
    left = [one for one in sure if one.item not in gone]
    chosen = chosen_of(left, count, labels=request.project.scale.truths, mix=mix, have=have)
    texts = {
        row.name: row
        for row in request.on.execute(
            select(items).where(
                items.c.project == request.project.id,
                items.c.name.in_([one.item for one in chosen]),
                items.c.state != "withdrawn",
            )
        )
    }
    votes: dict[int, dict[str, list[str]]] = {}
    for row in request.on.execute(
        select(judgments.c.item, judgments.c.label, judges.c.public)
        .join(judges, judges.c.id == judgments.c.judge)
        .where(
            judgments.c.item.in_([text.id for text in texts.values()]),
            judgments.c.kind == "work",
            judgments.c.gold.is_(None),
            judgments.c.other.is_(False),
            judgments.c.standing != "untrusted",
        )
        .order_by(judgments.c.id)
    ):
        votes.setdefault(row.item, {}).setdefault(row.label, []).append(row.public)
    return [
        SuggestedGold(
            **asdict(one),
            **{name: getattr(texts[one.item], name) for name in _TEXTS},
            votes={label: tuple(who) for label, who in votes.get(texts[one.item].id, {}).items()},
        )
        for one in chosen
        if one.item in texts
    ]


def list_declined(request: Request) -> list[str]:
    """The items that a person has declined to make gold of, in the order of their names."""
    found: list[str] = read_setting(request.on, declined_golds(request.project.id)) or []
    return found


def decline(request: Request, item: str, *, again: bool) -> None:
    """Note that an item is not to be suggested as gold; ``again`` takes that back."""
    check_workable(request, item)
    known = set(list_declined(request))
    if (item in known) is not again:
        return
    changed = known - {item} if again else known | {item}
    keep_setting(request.on, declined_golds(request.project.id), sorted(changed))
    event = "gold-reconsidered" if again else "gold-declined"
    request.log(event, actor=request.actor, item=item)


def design_roles(
    snapshot: ProjectSnapshot,
    *,
    training: int | None,
    training_mix: Mix,
    screening_mix: Mix,
    seed: int,
) -> GoldDesign[int]:
    """A training and a screening set of a project's gold, as ``assign_roles`` would make them."""
    cards = [gold.card for gold in snapshot.golds.values() if gold.active]
    if not cards:
        raise BadSetting("gold", None, "a project with gold")
    return design(
        cards,
        training=snapshot.policy.training_pairs if training is None else training,
        training_mix=training_mix,
        screening_mix=screening_mix,
        labels=snapshot.scale.labels,
        seed=seed,
    )


def assign_roles(request: Request, made: GoldDesign[int], *, seed: int) -> None:
    """Split the gold into training and screening by a design; no gold has both roles then.

    Gold that is in neither set screens too.
    """
    active = [gold.gold for gold in request.project.golds.values() if gold.active]
    trains = set(made.training)
    request.on.execute(
        update(golds).where(golds.c.id == bindparam("which")).values(role=bindparam("new_role")),
        [
            {"which": gold, "new_role": "training" if gold in trains else "screening"}
            for gold in active
        ],
    )
    bump(request.on, request.project.id)
    figures = {"training": len(made.training), "screening": len(active) - len(made.training)}
    request.log("gold-designed", actor=request.actor, seed=seed, **figures)


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
    known = request.project.kept.get("work topics")
    if known is None:
        found = request.on.execute(
            select(items.c.topic, func.count())
            .where(
                items.c.project == request.project.id,
                items.c.gold.is_(False),
                items.c.state != "withdrawn",
            )
            .group_by(items.c.topic)
        )
        known = {row[0]: row[1] for row in found}
        request.project.kept["work topics"] = known
    return cast(dict[Any, int], known)


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
