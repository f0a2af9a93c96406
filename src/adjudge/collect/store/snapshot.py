"""What pages of a project depend on, loaded once for each version of it and kept in memory."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.rules.golds import GoldCard, for_screening, for_training
from adjudge.collect.rules.policy import Policy, training_length
from adjudge.collect.store.schema import arms, golds, items, projects
from adjudge.collect.values.judging import OTHERS
from adjudge.data.scale import Scale

MAIN_ARM = "all"


@dataclass(frozen=True, slots=True)
class _StoredGold:
    """A gold as grading needs it."""

    gold: int
    item: int
    name: str
    topic: str
    accepted: tuple[str, ...]
    reason: str
    reasons: dict[str, str]
    role: str
    active: bool
    once_work: bool = False  # judges may have met its item as work, before it was gold

    def right(self, label: str) -> bool | None:
        """Whether a label is right; None where this gold does not count any more."""
        return label in self.accepted if self.active else None

    def reason_for(self, label: str) -> str:
        """What a judge who gave this label is told."""
        return self.reasons.get(label, self.reason)

    @property
    def card(self) -> GoldCard[int]:
        """The gold as choosing needs it; named by the gold's own id."""
        return GoldCard(self.gold, self.topic, self.accepted[0])


@dataclass(frozen=True, slots=True)
class _StoredArm:
    """An arm: its policy whole, its guidelines."""

    name: str
    policy: Policy
    guidelines: str | None = None


@dataclass(frozen=True, slots=True)
class ProjectSnapshot:
    """A project at one version: policy, labels, gold."""

    id: int
    slug: str
    name: str
    state: str
    version: int
    policy: Policy
    policy_version: int
    guidelines: str
    scale: Scale
    seed: int
    arms: dict[str, _StoredArm]
    golds: dict[int, _StoredGold]  # by gold id
    training: list[GoldCard[int]]
    screening: list[GoldCard[int]]
    allowed: frozenset[str] = field(default=frozenset())  # labels and others
    kept: dict[str, object] = field(default_factory=dict, repr=False)  # see closing.knowledge_of

    def policy_of(self, arm: str) -> Policy:
        """The policy of an arm."""
        return self.arms[arm].policy if arm in self.arms else self.policy

    def training_pairs(self, arm: str) -> int:
        """How many pairs the training of an arm has; 0 where there is none."""
        return training_length(self.policy_of(arm), len(self.training))

    def guidelines_of(self, arm: str) -> str:
        """The guidelines of an arm."""
        own = self.arms[arm].guidelines if arm in self.arms else None
        return self.guidelines if own is None else own


def scale_to_json(scale: Scale) -> dict[str, Any]:
    """A scale as it is stored."""
    return {
        "labels": list(scale.labels),
        "ordinal": scale.ordinal,
        "truths": list(scale.truths),
        "truth_of": list(scale.truth_of),
        "relevant": list(scale.relevant),
        "grades": list(scale.grades),
    }


def scale_from_json(stored: dict[str, Any]) -> Scale:
    """A scale from what is stored."""
    return Scale(
        labels=tuple(stored["labels"]),
        ordinal=stored["ordinal"],
        truths=tuple(stored["truths"]),
        truth_of=tuple(stored["truth_of"]),
        relevant=tuple(stored["relevant"]),
        grades=tuple(stored.get("grades", ())),  # older projects have none
    )


_PROJECT = select(projects).where(projects.c.id == bindparam("project"))
_MET = items.c.leased + items.c.trusted + items.c.surplus + items.c.broken
_GOLDS = (
    select(golds, items.c.name, items.c.topic, (_MET > 0).label("once_work"))
    .join(items, items.c.id == golds.c.item)
    .where(golds.c.project == bindparam("project"))
    .order_by(golds.c.id)
)
_ARMS = select(arms).where(arms.c.project == bindparam("project")).order_by(arms.c.position)


def load_snapshot(on: Connection, project: int) -> ProjectSnapshot:
    """The snapshot of a project as it is stored now."""
    row = on.execute(_PROJECT, {"project": project}).one()
    policy = Policy.from_dict(row.policy)
    scale = scale_from_json(row.scale)
    known = {
        gold.id: _StoredGold(
            gold.id,
            gold.item,
            gold.name,
            gold.topic,
            tuple(gold.accepted),
            gold.reason,
            dict(gold.reasons),
            gold.role,
            gold.active,
            bool(gold.once_work),
        )
        for gold in on.execute(_GOLDS, {"project": project})
    }
    active = [gold for gold in known.values() if gold.active]
    return ProjectSnapshot(
        id=row.id,
        slug=row.slug,
        name=row.name,
        state=row.state,
        version=row.version,
        policy=policy,
        policy_version=row.policy_version,
        guidelines=row.guidelines,
        scale=scale,
        seed=row.seed,
        arms={
            arm.name: _StoredArm(
                arm.name,
                policy.changed(arm.settings.get("policy", {})),
                arm.settings.get("guidelines"),
            )
            for arm in on.execute(_ARMS, {"project": project})
        },
        golds=known,
        training=[gold.card for gold in active if for_training(gold.role)],
        screening=[gold.card for gold in active if for_screening(gold.role)],
        allowed=frozenset((*scale.labels, *OTHERS)),
    )


class SnapshotCache:
    """The snapshots in memory, one a project, loaded again when its version has grown."""

    def __init__(self) -> None:
        self._kept: dict[int, ProjectSnapshot] = {}
        self._lock = threading.Lock()

    def get(self, on: Connection, project: int, version: int) -> ProjectSnapshot:
        """The snapshot of a project at this version."""
        kept = self._kept.get(project)
        if kept is not None and kept.version == version:
            return kept
        fresh = load_snapshot(on, project)
        with self._lock:
            self._kept[project] = fresh
        return fresh


def bump(on: Connection, project: int) -> None:
    """Note that something changed that pages depend on."""
    on.execute(
        update(projects).where(projects.c.id == project).values(version=projects.c.version + 1)
    )


def answers_of(snapshot: ProjectSnapshot) -> dict[str, list[str]]:
    """The accepted labels of every gold that counts, by its id, for the log."""
    return {str(gold.gold): list(gold.accepted) for gold in snapshot.golds.values() if gold.active}
