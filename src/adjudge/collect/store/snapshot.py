"""What pages of a project depend on, loaded once for each version of it and kept in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar, cast

from sqlalchemy import bindparam, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.rules.decisions import training_length
from adjudge.collect.rules.golds import GoldCard, for_screening, for_training
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import from_row
from adjudge.collect.store.schema import arms, golds, items, projects
from adjudge.collect.values.judging import OTHERS
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.data.scale import Scale
from adjudge.errors import Refused, UnknownName

MAIN_ARM = "all"
_Result = TypeVar("_Result")


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
        """The feedback to a judge who gave this label."""
        return self.reasons.get(label, self.reason)

    @property
    def card(self) -> GoldCard[int]:
        """The gold as choosing needs it; named by the gold's own id."""
        return GoldCard(self.gold, self.topic, self.accepted[0])


@dataclass(frozen=True, slots=True)
class _StoredArm:
    """An arm: its complete policy and its guidelines."""

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
    questions: tuple[FurtherQuestion, ...] = ()  # besides the first
    question: str = ""  # see as_question
    colours: dict[str, str] = field(default_factory=dict)  # of labels
    of_pairs: bool = False  # whether its items are two results next to each other
    kept: dict[str, object] = field(default_factory=dict, repr=False)  # what is slow to find

    def keep(self, name: str, key: object, make: Callable[[], _Result]) -> _Result:
        """What ``make`` gives, made again only once the key is another."""
        held = cast(tuple[object, _Result] | None, self.kept.get(name))
        if held is None or held[0] != key:
            held = (key, make())
            self.kept[name] = held
        return held[1]

    def as_question(self, name: str) -> ProjectSnapshot:
        """The project as if a further question were its first: its labels, and no gold.

        What reads judgments or writes exports then reads and writes those of the question. The
        empty name is the first question itself.
        """
        if not name:
            return self
        for question in self.questions:
            if question.name == name:
                if not question.fitted:
                    raise Refused("no-labels", f"{name} is not answered with labels")
                return replace(
                    self, scale=question.scale, golds={}, training=[], screening=[], question=name
                )
        raise UnknownName("question", name, [question.name for question in self.questions])

    def asked_of(self, kind: str, item: int) -> tuple[str, ...]:
        """The further questions that are asked about an item, by their names; none in training."""
        if kind != "work":
            return ()
        return tuple(one.name for one in self.questions if one.is_asked(self.seed, item))

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


def scale_to_json(scale: Scale, colours: Mapping[str, str]) -> dict[str, Any]:
    """A scale as it is stored, with the colours of its labels."""
    known = {label: colours[label] for label in scale.labels if label in colours}
    return {**asdict(scale), "colours": known}


def scale_from_json(stored: dict[str, Any]) -> Scale:
    """A scale from what is stored."""
    lists = {name: tuple(value) for name, value in stored.items() if isinstance(value, list)}
    return Scale(**lists, ordinal=stored["ordinal"])


_PROJECT = select(projects).where(projects.c.id == bindparam("project"))
_MET = items.c.leased + items.c.trusted + items.c.surplus + items.c.broken
_GOLDS = (
    select(golds, items.c.name, items.c.topic, (_MET > 0).label("once_work"))
    .join(items, items.c.id == golds.c.item)
    .where(golds.c.project == bindparam("project"))
    .order_by(golds.c.id)
)
# Items of a project are all pairs or none is.
_BESIDE = select(items.c.beside).where(items.c.project == bindparam("project")).limit(1)
_ARMS = select(arms).where(arms.c.project == bindparam("project")).order_by(arms.c.position)


def load_snapshot(on: Connection, project: int) -> ProjectSnapshot:
    """The snapshot of a project as it is stored now."""
    row = on.execute(_PROJECT, {"project": project}).one()
    policy = Policy.from_stored(row.policy)
    scale = scale_from_json(row.scale)
    known = {
        gold.id: from_row(
            _StoredGold,
            gold,
            gold=gold.id,
            accepted=tuple(gold.accepted),
            once_work=bool(gold.once_work),
        )
        for gold in on.execute(_GOLDS, {"project": project})
    }
    active = [gold for gold in known.values() if gold.active]
    return from_row(
        ProjectSnapshot,
        row,
        policy=policy,
        scale=scale,
        arms={
            arm.name: _StoredArm(
                arm.name,
                Policy.from_stored({**dict(policy), **arm.settings.get("policy", {})}),
                arm.settings.get("guidelines"),
            )
            for arm in on.execute(_ARMS, {"project": project})
        },
        golds=known,
        training=[gold.card for gold in active if for_training(gold.role)],
        screening=[gold.card for gold in active if for_screening(gold.role)],
        allowed=frozenset((*scale.labels, *OTHERS)),
        questions=tuple(FurtherQuestion(**one) for one in row.questions or ()),
        question="",
        colours=dict(row.scale.get("colours", {})),
        kept={},
        of_pairs=on.execute(_BESIDE, {"project": project}).scalar() is not None,
    )


class SnapshotCache:
    """The snapshots in memory, one per project, loaded again when its version has grown."""

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
