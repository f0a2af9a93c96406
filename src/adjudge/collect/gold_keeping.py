"""Gold of a stored project: its forecast, its roles by design, and items approved as gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.catalogue import bump
from adjudge.collect.dossier import Dossier
from adjudge.collect.gold_design import (
    GoldDesign,
    GoldForecast,
    Suggestion,
    absent,
    design,
    expected_mix,
    forecast,
    missing_for,
    ruling,
    suggest,
)
from adjudge.collect.policy import Mix, training_length
from adjudge.collect.project import GoldEntry, Role
from adjudge.collect.records import line, write_log
from adjudge.collect.running import import_items
from adjudge.collect.store.schema import golds, items, judges
from adjudge.collect.views import Imported
from adjudge.errors import BadSetting, NotFound, Refused

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus

_PAGES = 15  # pages of work that a judge does, where nothing is known of her


def forecast_of(on: Connection, dossier: Dossier, judges_expected: int | None) -> GoldForecast:
    """How much gold a project needs; judges are taken from those who worked, if none are stated."""
    work = on.execute(
        select(func.count()).where(
            items.c.project == dossier.project,
            items.c.gold.is_(False),
            items.c.state != "withdrawn",
        )
    ).scalar_one()
    policy = dossier.policy
    if judges_expected is None:
        pages = on.execute(
            select(func.avg(judges.c.pages)).where(
                judges.c.project == dossier.project, judges.c.pages > 0
            )
        ).scalar()
        each = policy.pairs_per_page * (1 - policy.screening_share)
        wanted = work * policy.judgments_per_item / max(1.0, each)
        judges_expected = max(1, round(wanted / float(pages or _PAGES)))
        judges_expected = max(judges_expected, policy.judgments_per_item)
    return forecast(
        policy,
        items=int(work),
        labels=dossier.scale.labels,
        judges=judges_expected,
        training=dossier.training,
        screening=dossier.screening,
    )


def arm_gold_warnings(dossier: Dossier) -> list[str]:
    """What is wrong with the training gold of arms, as their judges are shown it."""
    labels = dossier.scale.labels
    leaning: list[str] = []
    unseen: dict[str, list[str]] = {}
    lacking: list[str] = []
    for name, arm in dossier.arms.items():
        wanted = arm.policy.training_mix
        count = training_length(arm.policy, len(dossier.training))
        mix = expected_mix(dossier.training, count, wanted, labels)
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


def suggest_for(dossier: Dossier, consensus: Consensus, count: int) -> list[Suggestion]:
    """New gold for a project: what the consensus is surest of, of the labels that gold lacks."""
    active = [gold for gold in dossier.golds.values() if gold.active]
    mix: Mix = dossier.policy.training_mix
    return suggest(
        consensus,
        count,
        known=[gold.name for gold in dossier.golds.values()],
        mix="uniform" if mix == "any" else mix,
        have=Counter(gold.accepted[0] for gold in active),
    )


def approve(
    on: Connection,
    dossier: Dossier,
    item: str,
    *,
    accepted: Sequence[str],
    reason: str,
    role: Role,
    actor: str,
    now: float,
) -> Imported:
    """Make gold of an item that was work, by a person's word.

    Its judgments stay; it is given out as work no more. Refused: ``gold-already``.
    """
    row = on.execute(
        select(items.c.gold).where(
            items.c.project == dossier.project,
            items.c.name == item,
            items.c.state != "withdrawn",
        )
    ).one_or_none()
    if row is None:
        raise NotFound("item", item)
    if row.gold:
        raise Refused("gold-already", f"{item} is gold already: edit it instead")
    entry = GoldEntry(item=item, accepted=tuple(accepted), reason=reason, role=role)
    return import_items(on, dossier, (), (entry,), actor=actor, now=now)


def assign_roles(
    on: Connection,
    dossier: Dossier,
    *,
    training: int | None,
    training_mix: Mix,
    screening_mix: Mix,
    seed: int,
    actor: str,
    now: float,
) -> GoldDesign[int]:
    """Split the gold into training and screening, each to its mix; no gold has both roles then.

    Gold that is in neither set screens too.
    """
    cards = [gold.card for gold in dossier.golds.values() if gold.active]
    if not cards:
        raise BadSetting("gold", None, "a project with gold")
    count = dossier.policy.training_pairs if training is None else training
    made = design(
        cards,
        training=count,
        training_mix=training_mix,
        screening_mix=screening_mix,
        labels=dossier.scale.labels,
        seed=seed,
    )
    trains = set(made.training)
    on.execute(
        update(golds).where(golds.c.id == bindparam("which")).values(role=bindparam("new_role")),
        [
            {"which": card.item, "new_role": "training" if card.item in trains else "screening"}
            for card in cards
        ],
    )
    bump(on, dossier.project)
    figures = {"training": len(made.training), "screening": len(cards) - len(made.training)}
    write_log(on, [line(dossier, now, "gold-designed", actor=actor, seed=seed, **figures)])
    return made
