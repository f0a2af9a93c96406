"""The requester's page of an experiment: its arms, and the report by arm."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from adjudge.collect.rules.policy import Policy
from adjudge.collect.services.arms import PRESETS, preset_arms, read_arms
from adjudge.collect.values.arms import JUDGES, VOTE, ArmReport
from adjudge.collect.values.project import Arm
from adjudge.collect.web import _policy_form
from adjudge.collect.web._forms import SentForm
from adjudge.collect.web._login import LoggedIn, Who, require_login
from adjudge.collect.web._pages import go
from adjudge.data.scale import as_number
from adjudge.errors import AdjudgeError, BadSetting, NotFound, Refused

router = APIRouter(prefix="/projects/{project}/arms", include_in_schema=False)

_MORE = 2  # empty arms in the form, to be filled in
_RESAMPLES = 400  # a page is waited for
_LEFT, _WIDE, _ROW, _TOP = 150.0, 480.0, 46.0, 34.0  # of the chart, in its own units
_MIX = "any, uniform, population, or a share for each label"
_KEYS = {  # of an arm, as the page of settings says them
    "name": "What the arm is called",
    "guidelines": "Guidelines of its own, Markdown",
} | {
    field.name: field.title + (f": {_MIX}" if field.name.endswith("_mix") else "")
    for field in _policy_form.fields(Policy())
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


def _chart_of(report: ArmReport) -> _Chart | None:
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
    return _show(require_login(request), project)


def _show(
    who: LoggedIn,
    project: str,
    *,
    rows: Sequence[Mapping[str, str]] | None = None,
    written: str = "",
    problem: str = "",
    status: int = 200,
) -> Response:
    """``rows`` and ``written``: what a form was sent with that has a problem."""
    report = who.services.arms.report(project, resamples=_RESAMPLES)
    known = who.services.arms.get_all(project)
    names = list(dict.fromkeys(one.measure for one in report.measures))
    policy = who.services.projects.get_policy(project)[0]
    return who.show_project(
        "Arms",
        "requester/arms.html",
        project,
        status=status,
        arms=known,
        report=report,
        chart=_chart_of(report),
        measures=names,
        clear=[one for one in report.differences if one.second and (one.adjusted or 1.0) <= 0.05],
        warnings=who.services.arms.get_warnings(project),
        presets=PRESETS,
        keys=_KEYS,
        standard={field.name: _in_form(field.value) for field in _policy_form.fields(policy)},
        rows=rows or [*map(_to_row, known), *[dict.fromkeys(_KEYS, "")] * _MORE],
        written=written,
        given=written or _as_text(known),
        problem=problem,
    )


def _as_text(known: Sequence[Arm]) -> str:
    """The arms as a person edits them in JSON."""
    rows = [json.dumps(arm.to_dict(), ensure_ascii=False) for arm in known]
    return "[\n  " + ",\n  ".join(rows) + "\n]"


def _to_row(arm: Arm) -> dict[str, str]:
    """An arm as the form has it."""
    return {name: _in_form(getattr(arm, name)) for name in _KEYS}


def _in_form(value: object) -> str:
    """A setting as text; empty where it is that of the project."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _policy_form.in_form(value)


def _from_row(row: Mapping[str, str]) -> dict[str, Any]:
    """An arm of the form as JSON has it, without what is as in the project."""
    made: dict[str, Any] = {name: text for name, text in row.items() if text}
    if "feedback" in made:
        made["feedback"] = made["feedback"] == "yes"
    pairs = made.get("refresher_pairs", "")
    if pairs:
        if not pairs.isdecimal():
            raise BadSetting("refresher_pairs", pairs, "a whole number")
        made["refresher_pairs"] = int(pairs)
    for name in ("training_mix", "screening_mix"):
        if ":" in made.get(name, ""):
            made[name] = dict(_share(name, part) for part in made[name].split(","))
    return made


def _share(name: str, part: str) -> tuple[str, float]:
    label, _, text = part.rpartition(":")
    share = as_number(text.strip())
    if share is None:
        raise BadSetting(name, part.strip(), "a label and its share, such as Spam: 0.2")
    return label.strip(), share


@router.post("")
def _set_arms(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Set the arms, by a preset, by the fields of the form or as written."""
    labels = who.services.projects.get_head(project).labels
    gold = who.services.exports.get_gold(project)
    known = gold.texts() if gold is not None else []
    chosen, written = form.text("preset", most=100), form.text("arms", most=500_000)
    rows = None
    try:
        if chosen:
            made = preset_arms(chosen, labels=labels, gold=known)
        elif form.text("how") == "form":
            lists = [form.lists.get(name, []) for name in _KEYS]
            rows = [
                dict(zip(_KEYS, map(str.strip, row), strict=True))
                for row in zip(*lists, strict=False)
            ]
            named = [_from_row(row) for row in rows if row["name"]]
            made = read_arms(named, labels=labels, gold=known)
        else:
            try:
                given = json.loads(form.need("arms", most=500_000))
            except (json.JSONDecodeError, RecursionError):
                raise Refused("bad-form", "The arms are no JSON.") from None
            made = read_arms(given, labels=labels, gold=known)
        who.services.arms.set_all(project, made)
    except AdjudgeError as fault:
        if isinstance(fault, NotFound):
            raise
        fixed = isinstance(fault, Refused) and fault.code == "arms-fixed"
        status = 409 if fixed else 422
        said = str(fault)
        return _show(who, project, rows=rows, written=written, problem=said, status=status)
    return go(request, f"/projects/{project}/arms?done=arms")
