"""The requester's page of an experiment: its arms, and the report by arm."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import Response

from adjudge.collect.experiments.arms import PRESETS, preset_arms, read_arms
from adjudge.collect.rules.policy import Policy
from adjudge.collect.values.arms import JUDGES, VOTE, ArmReport
from adjudge.collect.values.project import Arm
from adjudge.collect.web import policy_form
from adjudge.collect.web.forms import SentForm
from adjudge.collect.web.login import require_login
from adjudge.collect.web.pages import go
from adjudge.errors import Refused

router = APIRouter(prefix="/projects/{project}/arms", include_in_schema=False)

_RESAMPLES = 400  # a page is waited for
_LEFT, _WIDE, _ROW, _TOP = 150.0, 480.0, 46.0, 34.0  # of the chart, in its own units
_MIX = "any, uniform, population, or a share for each label"
_KEYS = {  # of an arm, as the page of settings says them
    "name": "What the arm is called",
    "guidelines": "Guidelines of its own, Markdown",
} | {
    field.name: field.title + (f": {_MIX}" if field.name.endswith("_mix") else "")
    for field in policy_form.fields(Policy())
    if field.name in Arm.__dataclass_fields__
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dot:
    """One value of one arm in the chart, with its interval."""

    series: str  # "judge" or "vote"
    y: float
    x: float
    low: float
    high: float
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chart:
    """Figure 2: accuracy by arm, as a drawing has it."""

    width: float
    height: float
    ticks: tuple[tuple[float, str], ...]  # place, text
    arms: tuple[tuple[float, str], ...]
    dots: tuple[_Dot, ...]


def chart_of(report: ArmReport) -> _Chart | None:
    """The accuracy of judges and of their majority vote, arm by arm; None without any."""
    series = (("judge", report.found(JUDGES, "accuracy")), ("vote", report.found(VOTE, "accuracy")))
    found = [(kind, one) for kind, ones in series for one in ones if one.value is not None]
    if not found:
        return None
    lows = [one.value if one.low is None else one.low for _, one in found]
    least = max(0.0, min(int(10 * low) / 10 for low in lows if low is not None))
    least = min(least, 0.9)
    row = {arm: _TOP + _ROW * (place + 0.5) for place, arm in enumerate(report.arms)}

    def across(value: float) -> float:
        return round(_LEFT + _WIDE * (value - least) / (1 - least), 1)

    dots = []
    for kind, one in found:
        value = one.value or 0.0
        low = value if one.low is None else one.low
        high = value if one.high is None else one.high
        what = "mean judge" if kind == "judge" else "majority vote"
        dots.append(
            _Dot(
                series=kind,
                y=row[one.arm] + (-7 if kind == "judge" else 7),
                x=across(value),
                low=across(low),
                high=across(high),
                said=f"{one.arm}, {what}: {value:.3f}, from {low:.3f} to {high:.3f}",
            )
        )
    steps = round((1 - least) * 10)
    ticks = tuple(
        (across(least + step / 10), f"{least + step / 10:.1f}") for step in range(steps + 1)
    )
    return _Chart(
        width=_LEFT + _WIDE + 30,
        height=_TOP + _ROW * len(report.arms) + 10,
        ticks=ticks,
        arms=tuple((place, arm) for arm, place in row.items()),
        dots=tuple(dots),
    )


@router.get("")
def _arms(request: Request, project: str) -> Response:
    """The arms, and how their judges and labels are."""
    who = require_login(request)
    report = who.services.arms.report(project, resamples=_RESAMPLES)
    known = who.services.arms.get_all(project)
    names = list(dict.fromkeys(one.measure for one in report.measures))
    return who.show_project(
        "Arms",
        "requester/arms.html",
        project,
        arms=known,
        report=report,
        chart=chart_of(report),
        measures=names,
        clear=[one for one in report.differences if one.second and (one.adjusted or 1.0) <= 0.05],
        warnings=who.services.arms.get_warnings(project),
        presets=PRESETS,
        keys=_KEYS,
        given=_as_text(known),
    )


def _as_text(known: Sequence[Arm]) -> str:
    """The arms as a person edits them."""
    rows = [json.dumps(arm.to_dict(), ensure_ascii=False) for arm in known]
    return "[\n  " + ",\n  ".join(rows) + "\n]"


@router.post("")
def _set_arms(request: Request, project: str, form: SentForm) -> Response:
    """Set the arms, by a preset or as written."""
    services = require_login(request).services
    labels = services.projects.get_head(project).labels
    gold = services.exports.get_gold(project)
    known = gold.texts() if gold is not None else []
    chosen = form.text("preset", most=100)
    if chosen:
        made = preset_arms(chosen, labels=labels, gold=known)
    else:
        try:
            given = json.loads(form.need("arms", most=500_000))
        except (json.JSONDecodeError, RecursionError):
            raise Refused("bad-form", "the arms are no JSON") from None
        made = read_arms(given, labels=labels, gold=known)
    services.arms.set_all(project, made)
    return go(request, f"/projects/{project}/arms?done=arms")
