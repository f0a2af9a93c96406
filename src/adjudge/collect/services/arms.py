"""The arms of an experiment: what they may differ in, presets, and the report by arm.

Judges are put into arms at random as they come (``rules.routing.assign_arm``) and stay there. Arms
share the items, the gold and all of the policy but what an ``Arm`` sets.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, select, update

from adjudge.collect.items.closing import change_needed
from adjudge.collect.rules.decisions import training_length
from adjudge.collect.services._arm_report import report_arms
from adjudge.collect.services._gold_design import (
    count_missing,
    expect_mix,
    find_absent,
    find_ruling,
)
from adjudge.collect.services._stored_projects import (
    check_arms,
    describe_arms,
    read_stored_arms,
    store_arms,
)
from adjudge.collect.services.caller import Service, reads, writes
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import arms, projects
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.arms import ArmReport
from adjudge.collect.values.project import Arm, Mix
from adjudge.data.gold import Gold
from adjudge.data.scale import canonical
from adjudge.errors import BadData, BadSetting, Refused, UnknownName

if TYPE_CHECKING:
    from adjudge.models.model import Model

_PAPER_JUDGMENTS = 5  # trusted judgments per item, in each arm

# Le and others (2010), table 1: percent of each label in an arm's training data, which both
# trained and screened.
_PAPER_LABELS = ("Matching", "Not Matching", "Off Topic", "Spam")
FIVE_MIXES: dict[str, tuple[float, ...]] = {
    "mix-1": (72.7, 8.0, 19.3, 0.0),
    "mix-2": (58.0, 23.3, 18.0, 0.7),
    "mix-3": (45.3, 47.3, 7.3, 0.0),
    "mix-4": (34.7, 56.0, 9.3, 0.7),
    "mix-5": (12.7, 84.0, 3.3, 0.0),
}
PRESETS = ("five-mixes", "uniform-or-population", "feedback-or-none")
_FIELDS = tuple(field.name for field in dataclasses.fields(Arm))


@dataclass(frozen=True, slots=True)
class ArmService(Service):
    """What a requester can do with the arms of a project."""

    @reads()
    def get_all(self, request: Request) -> tuple[Arm, ...]:
        """The arms of the project's experiment, in their order."""
        return read_stored_arms(request.on, request.project.id)

    @writes(lock=True)
    def set_all(self, request: Request, given: Sequence[Arm]) -> tuple[Arm, ...]:
        """Make these the arms, under a new version of the policy.

        Once a judge has come, the arms that are there stay as they are, and others may follow them.
        Refused: ``arms-fixed``.
        """
        project, policy = request.project.id, request.project.policy
        before = read_stored_arms(request.on, project)
        if before == tuple(given):
            return before
        came = request.on.execute(
            select(projects.c.arrivals).where(projects.c.id == project)
        ).scalar_one()
        if came and before != tuple(given[: len(before)]):
            fixed = [arm.name for arm in before]
            message = f"judges have come: arms {', '.join(fixed)} stay; you can only add arms"
            raise Refused("arms-fixed", message, arms=fixed)
        if not came:
            request.on.execute(delete(arms).where(arms.c.project == project))
        store_arms(request.on, project, given, policy, first=len(before) if came else 0)
        if policy.judgments_by_arm and len(before) != len(given):
            change_needed(request.on, project, policy)
        newer = {name: projects.c[name] + 1 for name in ("policy_version", "version")}
        request.on.execute(update(projects).where(projects.c.id == project).values(**newer))
        fresh = request.reloaded()
        figures = describe_arms(fresh.project.policy, given)
        fresh.log("arms-changed", actor=request.actor, **figures)
        return tuple(given)

    @reads()
    def report(
        self,
        request: Request,
        *,
        test: Gold | None = None,
        models: Sequence[Model] = (),
        resamples: int = 1000,
        seed: int = 0,
    ) -> ArmReport:
        """Funnel, judges and aggregates by arm, with intervals and tests of difference.

        Measured against the project's gold, or against ``test``; by majority vote and ``models``.
        """
        return report_arms(request, test=test, models=models, resamples=resamples, seed=seed)

    @reads()
    def get_warnings(self, request: Request) -> list[str]:
        """What is wrong with the arms: too few judgments for each, a training mix that leans."""
        return [*_arm_warnings(request.project), *_arm_gold_warnings(request.project)]


def read_arms(given: object, *, labels: Sequence[str], gold: Iterable[str] = ()) -> tuple[Arm, ...]:
    """Arms from JSON: a list of them, or an object with ``arms`` and, if need be, ``population``.

    The mix ``population`` means the shares stated there or, without them, those of
    ``gold``, the labels of the project's gold.
    """
    population: object = None
    if isinstance(given, Mapping):
        for name in given:
            if name not in ("arms", "population"):
                raise UnknownName("part of a file of arms", str(name), ("arms", "population"))
        population, given = given.get("population"), given.get("arms")
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise BadData("is not a list of arms", expected='[{"name": ..., "training_mix": ...}, ...]')
    counted = population if population is not None else Counter(gold)
    made = tuple(_read_arm(one, place, counted, labels) for place, one in enumerate(given, 1))
    check_arms(made)
    return made


def _read_arm(given: object, place: int, population: object, labels: Sequence[str]) -> Arm:
    """One arm of a file."""
    if not isinstance(given, Mapping):
        raise BadData("is not an object", record=f"arm {place}", expected='{"name": ...}')
    for name in given:
        if name not in _FIELDS:
            raise UnknownName("setting of an arm", str(name), _FIELDS)
    settings = dict(given)
    if not isinstance(settings.get("name"), str):
        raise BadSetting(f"name of arm {place}", settings.get("name"), "a text")
    for name in ("training_mix", "screening_mix"):
        if settings.get(name) is not None:
            settings[name] = _read_mix(settings[name], settings["name"], name, population, labels)
    for name in ("pay_per_page", "pay_failed"):
        if settings.get(name) is not None:
            settings[name] = str(settings[name])
    if settings.get("guidelines") is not None and not isinstance(settings["guidelines"], str):
        raise BadSetting(f"guidelines of arm {place}", settings["guidelines"], "a text")
    return Arm(**settings)


def _read_mix(given: object, arm: str, name: str, population: object, labels: Sequence[str]) -> Mix:
    """A mix whose labels are on the scale; ``population`` as its shares."""
    what = f"{name} of arm {arm}"
    if given == "population":
        given = population
        if not given:
            raise BadSetting(what, "population", "shares under population, or gold to count")
    if isinstance(given, str):
        return given
    if not isinstance(given, Mapping):
        raise BadSetting(what, given, "any, uniform, population, or a share for each label")
    shares: dict[str, float] = {}
    for label, share in given.items():
        if canonical(label) not in labels:
            raise BadSetting(what, label, f"labels of the scale: {', '.join(labels)}")
        if isinstance(share, float) and not math.isfinite(share):
            raise BadSetting(f"{what}, {label}", share, "a share of at least 0")
        shares[canonical(label)] = share
    return shares


def preset_arms(name: str, *, labels: Sequence[str], gold: Iterable[str] = ()) -> tuple[Arm, ...]:
    """Arms by the name of a preset.

    ``five-mixes``: the paper's five mixes of training data, for its four labels.
    ``uniform-or-population``: every label as often, or gold in its own shares.
    ``feedback-or-none``: mistakes on gold shown at once, or not.
    """
    if name == "five-mixes":
        if set(labels) != set(_PAPER_LABELS):
            raise BadSetting("preset", name, f"the labels {', '.join(_PAPER_LABELS)}")
        mixes = {arm: dict(zip(_PAPER_LABELS, mix, strict=True)) for arm, mix in FIVE_MIXES.items()}
        return tuple(
            Arm(name=arm, training_mix=mix, screening_mix=mix) for arm, mix in mixes.items()
        )
    if name == "uniform-or-population":
        settings = [
            {"name": mix, "training_mix": mix, "screening_mix": mix}
            for mix in ("uniform", "population")
        ]
        return read_arms(settings, labels=labels, gold=gold)
    if name == "feedback-or-none":
        return Arm(name="feedback", feedback=True), Arm(name="no-feedback", feedback=False)
    raise UnknownName("preset of arms", name, PRESETS)


def _arm_warnings(snapshot: ProjectSnapshot) -> list[str]:
    """What a requester should know of their arms before judges come; none if there is one arm."""
    many, each = len(snapshot.arms), snapshot.policy.judgments_per_item
    if many < 2 or snapshot.policy.judgments_by_arm or each >= _PAPER_JUDGMENTS * many:
        return []
    return [
        f"Arms share the items, which close at {each} trusted judgments over all {many} arms: "
        f"about {each / many:.2g} per item in each arm. For {_PAPER_JUDGMENTS} in each, set "
        f"judgments_per_item to {_PAPER_JUDGMENTS} and judgments_by_arm."
    ]


def _arm_gold_warnings(snapshot: ProjectSnapshot) -> list[str]:
    """What is wrong with the training gold of arms, as their judges are shown it."""
    labels = snapshot.scale.labels
    leaning: list[str] = []
    unseen: dict[str, list[str]] = {}
    lacking: list[str] = []
    for name, arm in snapshot.arms.items():
        intended = arm.policy.training_mix
        count = training_length(arm.policy, len(snapshot.training))
        mix = expect_mix(snapshot.training, count, intended, labels)
        rules = find_ruling(mix, labels)
        if rules is not None:
            leaning.append(f"{name} ({rules[1]:.0%} {rules[0]})")
        for label in find_absent(mix, labels):
            unseen.setdefault(label, []).append(name)
        missing = count_missing(mix, count, intended, labels)
        if missing:
            listed = ", ".join(f"{many} {label}" for label, many in missing.items())
            lacking.append(
                f"The training gold cannot give arm {name} its label mix: {listed} more are "
                "needed, and other labels fill up."
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
