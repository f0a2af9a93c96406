"""The requester's pages of experiments with their report, and of the plan for a target accuracy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from adjudge.collect.consensus import planner
from adjudge.collect.consensus.planner import Wish
from adjudge.collect.rules.policy import Policy
from adjudge.collect.services.arms import PRESETS, preset_arms, read_arms
from adjudge.collect.values.arms import JUDGES, VOTE
from adjudge.collect.values.project import Arm
from adjudge.collect.web import _policy_form
from adjudge.collect.web._forms import PROVEN, SentForm, read_number
from adjudge.collect.web._login import Who, page_router
from adjudge.errors import AdjudgeError, BadSetting, Refused

router = page_router("/projects/{project}")

_MORE = 2  # empty arms in the form, to be filled in
_RESAMPLES = 400  # a page is waited for
_MIX = "any, uniform, population, or a share for each label"
_KEYS = {  # of an arm, as the page of settings says them
    "name": "What the arm is called",
    "guidelines": "Guidelines of its own, Markdown",
} | {
    field.name: field.title + (f": {_MIX}" if field.name.endswith("_mix") else "")
    for field in _policy_form.fields(Policy())
    if field.name in Arm.__dataclass_fields__
}


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis of shares in a drawing, from a round value to a round value."""

    least: float
    most: float
    step: float
    start: float  # where the least value is, in the drawing's own units
    end: float

    @classmethod
    def over(cls, shares: Iterable[float], start: float, end: float) -> _Axis:
        """Return the axis that holds all of these."""
        known = list(shares)
        step = 0.05 if max(known) - min(known) < 0.25 else 0.1
        least = max(0.0, math.floor(min(known) / step + 1e-9) * step)
        most = min(1.0, math.ceil(max(known) / step - 1e-9) * step)
        return cls(least, max(most, least + step), step, start, end)

    def at(self, value: float) -> float:
        """Return where a value is drawn."""
        share = (min(max(value, self.least), self.most) - self.least) / (self.most - self.least)
        return round(self.start + (self.end - self.start) * share, 1)

    @property
    def ticks(self) -> list[float]:
        """The values that are marked."""
        count = round((self.most - self.least) / self.step)
        return [self.least + place * self.step for place in range(count + 1)]


@router.get("/settings/experiments")
def _arms(who: Who, project: str) -> Response:
    """The arms, and how their judges and labels are."""
    report = who.services.arms.report(project, resamples=_RESAMPLES)
    known = who.services.arms.get_all(project)
    policy = who.services.projects.get_policy(project)[0]
    found = [*report.found(JUDGES, "accuracy"), *report.found(VOTE, "accuracy")]
    ends = [end for one in found for end in (one.value, one.low, one.high) if end is not None]
    return who.show_project(
        "Experiments",
        "arms",
        project,
        arms=known,
        report=report,
        axis=_Axis.over([*ends, 1.0], 150.0, 630.0) if ends else None,
        measures=list(dict.fromkeys(one.measure for one in report.measures)),
        clear=[one for one in report.differences if one.second and (one.adjusted or 1.0) <= 0.05],
        warnings=who.services.arms.get_warnings(project),
        presets=PRESETS,
        keys=_KEYS,
        standard={field.name: _in_form(field.value) for field in _policy_form.fields(policy)},
        rows=[*map(_to_row, known), *[dict.fromkeys(_KEYS, "")] * _MORE],
    )


def _to_row(arm: Arm) -> dict[str, str]:
    """Return an arm as the form has it."""
    return {name: _in_form(getattr(arm, name)) for name in _KEYS}


def _in_form(value: object) -> str:
    """Return a setting as text; empty where it is that of the project."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _policy_form.in_form(value)


def _from_row(row: Mapping[str, str]) -> dict[str, Any]:
    """Return an arm of the form as JSON has it, without what is as in the project."""
    return {name: _read(name, text) for name, text in row.items() if text}


def _read(name: str, text: str) -> Any:
    if name == "feedback":
        return text == "yes"
    return text if name in ("name", "guidelines") else _policy_form.read(name, text)


@router.post("/settings/experiments")
def _set_arms(project: str, form: SentForm, who: Who) -> Response | str:
    """Set the arms, by a preset or by the fields of the form."""
    labels = who.services.projects.get_head(project).labels
    gold = who.services.exports.get_gold(project)
    known = gold.texts() if gold is not None else []
    chosen = form.text("preset", most=100)
    rows = [{name: text.strip() for name, text in row.items()} for row in form.rows(*_KEYS)]
    try:
        if chosen:
            made = preset_arms(chosen, labels=labels, gold=known)
        else:
            named = [_from_row(row) for row in rows if row["name"]]
            made = read_arms(named, labels=labels, gold=known)
        who.services.arms.set_all(project, made)
    except AdjudgeError as fault:
        fixed = isinstance(fault, Refused) and fault.code == "arms-fixed"
        sent = {"rows": rows} if rows else {}
        return _arms(who.again(fault, 409 if fixed else 422, **sent), project)
    return f"/projects/{project}/settings/experiments?done=arms"


@router.get("/results/plan")
def _show_plan(who: Who, project: str) -> Response:
    """The last plan, what is asked for, and the form to ask."""
    policy, _ = who.services.projects.get_policy(project)
    asked = planner.read_asked(who.services, project)
    plan = planner.read_plan(who.services, project)
    last = asked.wish if asked else plan.wish if plan else None
    changes, axis = {}, None
    if plan is not None and plan.per_item is not None:
        fresh = planner.list_changes(plan, policy)
        changes = {name: (getattr(policy, name), value) for name, value in fresh.items()}
    if plan is not None and plan.rows:
        ends = [end for row in plan.rows for end in (row.low, row.high)]
        axis = _Axis.over([*ends, plan.wish.accuracy], 236.0, 16.0)
    return who.show_project(
        "Plan",
        "plan",
        project,
        project=who.services.projects.get(project),  # it says whether there are judgments
        policy=policy,
        asked=asked,
        plan=plan,
        axis=axis,
        given={
            "accuracy": f"{last.accuracy:g}" if last else "0.9",
            "pay_per_page": last.pay_per_page if last else str(policy.pay_per_page),
            "gold_share": f"{last.gold_share if last else policy.screening_share:g}",
        },
        changes=changes,
    )


@router.post("/results/plan")
def _ask_for_plan(project: str, form: SentForm, who: Who) -> Response | str:
    """Ask for a plan."""
    given = {name: form.text(name, most=20) for name in ("accuracy", "pay_per_page", "gold_share")}
    try:
        wish = Wish.checked(
            read_number("accuracy", given["accuracy"], "a number"),
            given["pay_per_page"] or "0",
            read_number("share of gold", given["gold_share"], "a number"),
        )
        planner.ask(who.services, project, wish)
    except (BadSetting, Refused) as fault:
        return _show_plan(who.again(fault, given=given), project)
    return f"/projects/{project}/results/plan"


@router.post("/results/plan/use", dependencies=[PROVEN])
def _use_plan(project: str, who: Who) -> str:
    """Change the policy to what the plan recommends."""
    plan = planner.read_plan(who.services, project)
    if plan is None or plan.per_item is None:
        raise Refused("no-plan", "there is no plan that recommends a number of judgments")
    policy, _ = who.services.projects.get_policy(project)
    changes = planner.list_changes(plan, policy)
    if changes:
        who.services.projects.set_policy(project, changes)
    return f"/projects/{project}/results/plan?done=plan-used"
