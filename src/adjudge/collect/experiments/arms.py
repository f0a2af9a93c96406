"""The arms of an experiment: what they may differ in, presets of them, and how they are stored.

Judges are put into arms at random as they come (``routing.assign_arm``) and stay there. Arms share
the items, the gold and all of the policy but what an ``Arm`` sets.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.standing import change_needed
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import assign_arm
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import arms, projects
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.project import Arm, Mix
from adjudge.collect.values.requesting import LogEntry
from adjudge.data.scale import canonical
from adjudge.errors import BadData, BadSetting, Refused, UnknownName

_MOST_ARMS = 50
_LONGEST_NAME = 80
_PAPER_JUDGMENTS = 5  # trusted judgments an item, in each arm

# Le and others (2010), table 1: percent of each label in an arm's training data, which both
# trained and screened.
PAPER_LABELS = ("Matching", "Not Matching", "Off Topic", "Spam")
FIVE_MIXES: dict[str, tuple[float, ...]] = {
    "mix-1": (72.7, 8.0, 19.3, 0.0),
    "mix-2": (58.0, 23.3, 18.0, 0.7),
    "mix-3": (45.3, 47.3, 7.3, 0.0),
    "mix-4": (34.7, 56.0, 9.3, 0.7),
    "mix-5": (12.7, 84.0, 3.3, 0.0),
}
PRESETS = ("five-mixes", "uniform-or-population", "feedback-or-none")


_FIELDS = tuple(field.name for field in dataclasses.fields(Arm))


def read_arms(given: object, *, labels: Sequence[str], gold: Iterable[str] = ()) -> tuple[Arm, ...]:
    """Arms from JSON: a list of them, or an object with ``arms`` and, if need be, ``population``.

    The mix ``population`` stands for the shares stated there or, without them, for those of
    ``gold``, the labels of the project's gold.
    """
    population: object = None
    if isinstance(given, Mapping):
        for name in given:
            if name not in ("arms", "population"):
                raise UnknownName("part of a file of arms", str(name), ("arms", "population"))
        population, given = given.get("population"), given.get("arms")
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise BadData("is no list of arms", wanted='[{"name": ..., "training_mix": ...}, ...]')
    counted = population if population is not None else Counter(gold)
    made = tuple(_read_arm(one, place, counted, labels) for place, one in enumerate(given, 1))
    _check_names(made)
    return made


def _read_arm(given: object, place: int, population: object, labels: Sequence[str]) -> Arm:
    """One arm of a file."""
    if not isinstance(given, Mapping):
        raise BadData("is no object", record=f"arm {place}", wanted='{"name": ...}')
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
    """A mix whose labels are on the scale; ``population`` as the shares it stands for."""
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


def _check_names(given: Sequence[Arm]) -> None:
    """Refuse no arms, too many, and names that cannot be told apart."""
    if not 1 <= len(given) <= _MOST_ARMS:
        raise BadSetting("arms", len(given), f"1 to {_MOST_ARMS} arms")
    seen: set[str] = set()
    for arm in given:
        if not arm.name.strip() or len(arm.name) > _LONGEST_NAME or not arm.name.isprintable():
            raise BadSetting("name of an arm", arm.name, f"1 to {_LONGEST_NAME} plain characters")
        if arm.name.casefold() in seen:
            raise BadSetting("name of an arm", arm.name, "a name that no other arm has")
        seen.add(arm.name.casefold())


def preset_arms(name: str, *, labels: Sequence[str], gold: Iterable[str] = ()) -> tuple[Arm, ...]:
    """Arms by the name of a preset.

    ``five-mixes``: the paper's five mixes of training data, for its four labels.
    ``uniform-or-population``: every label as often, or gold in its own shares.
    ``feedback-or-none``: mistakes on gold told at once, or not.
    """
    if name == "five-mixes":
        if set(labels) != set(PAPER_LABELS):
            raise BadSetting("preset", name, f"the labels {', '.join(PAPER_LABELS)}")
        mixes = {arm: dict(zip(PAPER_LABELS, mix, strict=True)) for arm, mix in FIVE_MIXES.items()}
        return tuple(
            Arm(name=arm, training_mix=mix, screening_mix=mix) for arm, mix in mixes.items()
        )
    if name == "uniform-or-population":
        wanted = [
            {"name": mix, "training_mix": mix, "screening_mix": mix}
            for mix in ("uniform", "population")
        ]
        return read_arms(wanted, labels=labels, gold=gold)
    if name == "feedback-or-none":
        return Arm(name="feedback", feedback=True), Arm(name="no-feedback", feedback=False)
    raise UnknownName("preset of arms", name, PRESETS)


def store_arms(
    on: Connection, project: int, given: Sequence[Arm], policy: Policy, *, first: int = 0
) -> None:
    """Store arms in their order, checked against the project's policy, from the ``first`` on."""
    _check_names(given)
    rows = [
        {
            "project": project,
            "position": place,
            "name": arm.name,
            "settings": _settings(arm, policy),
        }
        for place, arm in enumerate(given)
    ]
    on.execute(insert(arms), rows[first:])


def read_stored_arms(on: Connection, project: int) -> tuple[Arm, ...]:
    """The arms of a project, in their order."""
    stored = on.execute(select(arms).where(arms.c.project == project).order_by(arms.c.position))
    return tuple(
        Arm(
            name=row.name,
            guidelines=row.settings.get("guidelines"),
            **row.settings.get("policy", {}),
        )
        for row in stored
    )


def set_arms(request: Request, given: Sequence[Arm]) -> tuple[Arm, ...]:
    """Store the arms under a new version of the policy.

    Once a judge has come, the arms that are there stay as they are, and others may follow them.
    Refused: ``arms-fixed``.
    """
    project = request.project.id
    before = read_stored_arms(request.on, project)
    if before == tuple(given):
        return before
    came = request.on.execute(
        select(projects.c.arrivals).where(projects.c.id == project)
    ).scalar_one()
    if came and before != tuple(given[: len(before)]):
        names = ", ".join(arm.name for arm in before)
        raise Refused(
            "arms-fixed",
            f"judges have come already: the arms ({names}) stay, and others can only follow them",
        )
    if not came:
        request.on.execute(delete(arms).where(arms.c.project == project))
    store_arms(request.on, project, given, request.project.policy, first=len(before) if came else 0)
    if request.project.policy.judgments_by_arm and len(before) != len(given):
        change_needed(request.on, project, request.project.policy)
    request.on.execute(
        update(projects)
        .where(projects.c.id == project)
        .values(
            policy_version=projects.c.policy_version + 1,
            version=projects.c.version + 1,
        )
    )
    fresh = request.reloaded()
    figures: dict[str, Any] = {
        "policy": fresh.project.policy.to_dict(),
        "arms": {arm.name: arm.policy for arm in given},
        "order": [arm.name for arm in given],
    }
    fresh.log("arms-changed", actor=request.actor, **figures)
    return tuple(given)


def _settings(arm: Arm, policy: Policy) -> dict[str, Any]:
    """What is stored of an arm; its policy is checked on the way."""
    try:
        policy.changed(arm.policy)
    except BadSetting as fault:
        raise BadSetting(f"{fault.setting} of arm {arm.name}", fault.value, fault.wanted) from None
    stored: dict[str, Any] = {"policy": arm.policy}
    if arm.guidelines is not None:
        stored["guidelines"] = arm.guidelines.replace("\0", "")
    return stored


def arm_warnings(snapshot: ProjectSnapshot) -> list[str]:
    """What a requester should know of their arms before judges come; none if there is one arm."""
    many, each = len(snapshot.arms), snapshot.policy.judgments_per_item
    if many < 2 or snapshot.policy.judgments_by_arm or each >= _PAPER_JUDGMENTS * many:
        return []
    return [
        f"Arms share the items, which close at {each} trusted judgments over all {many} arms: "
        f"about {each / many:.2g} an item in each arm. For {_PAPER_JUDGMENTS} an item in each, set "
        f"judgments_per_item to {_PAPER_JUDGMENTS} and judgments_by_arm."
    ]


def find_misassigned(seed: int, entries: Iterable[LogEntry]) -> list[str]:
    """Judges whose arm is not what the seed and the log say; none if all is well."""
    order: list[str] = []
    faults = []
    for entry in entries:
        figures: Mapping[str, Any] = entry.figures
        if entry.event in ("project-created", "arms-changed"):
            order = list(figures.get("order", figures["arms"]))
        elif entry.event == "arrived" and figures["number"] is not None:  # None: a dry run
            wanted = assign_arm(seed, figures["number"], order)
            if figures["arm"] != wanted:
                faults.append(f"judge {entry.judge}: in arm {figures['arm']}, by seed {wanted}")
    return faults
