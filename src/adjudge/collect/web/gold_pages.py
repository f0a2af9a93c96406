"""The requester's pages of gold by design: how much is needed, its split, and where more may be."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from adjudge.collect.consensus import refit
from adjudge.collect.values.gold import GoldDesign
from adjudge.collect.values.project import ROLES, Mix, Role
from adjudge.collect.web._forms import PROVEN, SentForm
from adjudge.collect.web._login import LoggedIn, Who, require_login
from adjudge.collect.web._pages import go
from adjudge.errors import AdjudgeError, BadSetting, NotFound, Refused

router = APIRouter(prefix="/projects/{project}/gold", include_in_schema=False)
_MIXES = ("uniform", "any", "stated")
_SHOWN = 20  # suggestions on a page
_MOST_JUDGES = 1_000_000


@router.get("/design")
def _show_design(request: Request, project: str) -> Response:
    """How much gold is needed, what there is, and how it could be split."""
    return _design(require_login(request), project)


def _design(
    who: LoggedIn,
    project: str,
    *,
    given: dict[str, Any] | None = None,
    preview: GoldDesign[int] | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    text = who.request.query_params.get("judges", "")
    judges = int(text) if text.isdecimal() and 0 < len(text) < 8 else None
    judges = None if judges is None else min(max(judges, 1), _MOST_JUDGES)
    policy, _ = who.services.projects.get_policy(project)
    return who.show_project(
        "Gold",
        "requester/gold_design.html",
        project,
        status=status,
        forecast=who.services.gold.forecast(project, judges=judges),
        stated=judges is not None,
        given=given
        or {"training": policy.training_pairs, "mix": "uniform", "shares": {}, "seed": 0},
        mixes=_MIXES,
        preview=preview,
        problem=problem,
    )


@router.post("/design")
def _split(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Split the gold into training and screening, or show what that would give."""
    labels = who.services.projects.get_head(project).labels
    given: dict[str, Any] = {
        "training": form.text("training", most=7),
        "mix": form.text("mix", most=20),
        "seed": form.text("seed", most=9),
        "shares": {label: form.text(f"share-{n}", most=12) for n, label in enumerate(labels)},
    }
    store = form.text("do", most=20) == "split"
    try:
        made = who.services.gold.design(
            project,
            training=_whole("training", given["training"]),
            training_mix=_mix(given["mix"], given["shares"]),
            seed=_whole("seed", given["seed"]),
            store=store,
        )
    except (BadSetting, Refused) as fault:
        return _design(who, project, given=given, problem=str(fault), status=422)
    if store:
        return go(request, f"/projects/{project}/gold/design?done=designed")
    return _design(who, project, given=given, preview=made)


def _whole(name: str, text: str) -> int:
    if not text.isdecimal():
        raise BadSetting(name, text, "a whole number")
    return int(text)


def _mix(chosen: str, shares: dict[str, str]) -> Mix:
    """The mix of a form: a word, or the shares that were stated."""
    if chosen not in _MIXES:
        raise BadSetting("mix", chosen, ", ".join(_MIXES))
    if chosen != "stated":
        return chosen
    mix = {}
    for label, text in shares.items():
        try:
            mix[label] = float(text or 0)
        except ValueError:
            raise BadSetting(f"share of {label}", text, "a number") from None
        if not 0 <= mix[label] < 1e9:
            raise BadSetting(f"share of {label}", text, "a number of at least 0")
    if not sum(mix.values()):
        raise BadSetting("mix", "stated", "at least one share above 0")
    return mix


@router.get("/suggestions")
def _show_suggestions(request: Request, project: str) -> Response:
    """Items that could become gold, for a person to look at."""
    return _suggestions(require_login(request), project)


def _suggestions(
    who: LoggedIn,
    project: str,
    *,
    tried: dict[str, Any] | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    fit, sure = refit.find_sure(who.services, project)
    asked = any(
        one.state in ("wanted", "running") for one in refit.list_fits(who.services, project)
    )
    return who.show_project(
        "Gold",
        "requester/gold_suggestions.html",
        project,
        status=status,
        fit=fit,
        waiting=fit is None and asked,
        found=who.services.gold.describe_suggested(project, sure, _SHOWN),
        declined=who.services.gold.get_declined(project),
        roles=ROLES,
        tried=tried or {},
        problem=problem,
    )


@router.post("/suggestions")
def _decide(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Approve a suggestion, decline it, or take a decline back."""
    item, what = form.need("item", most=10_000), form.need("do", most=20)
    tried: dict[str, Any] = {
        "item": item,
        "accepted": form.lists.get("accepted", []),
        "reason": form.text("reason", most=5_000),
        "role": form.text("role", most=20),
    }
    try:
        if what == "approve":
            who.services.gold.approve(
                project,
                item,
                accepted=tried["accepted"],
                reason=tried["reason"],
                role=_role(tried["role"]),
            )
        elif what in ("decline", "again"):
            who.services.gold.decline(project, item, again=what == "again")
        else:
            raise BadSetting("do", what, "approve, decline or again")
    except NotFound:
        raise
    except AdjudgeError as fault:
        return _suggestions(who, project, tried=tried, problem=str(fault), status=422)
    said = {"approve": "approved", "decline": "declined", "again": "reconsidered"}[what]
    return go(request, f"/projects/{project}/gold/suggestions?done={said}")


def _role(text: str) -> Role:
    for role in ROLES:
        if role == text:
            return role
    raise BadSetting("role", text, " or ".join(ROLES))


@router.post("/suggestions/fit", dependencies=[PROVEN])
def _ask(request: Request, project: str, who: Who) -> Response:
    """Ask for the consensus that suggestions come from."""
    refit.ask(who.services, project, refit.DEFAULT)
    return go(request, f"/projects/{project}/gold/suggestions?done=asked")
