"""The API of gold by design and of the plan."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from adjudge.collect.consensus import planner, refit
from adjudge.collect.consensus.planner import Asked, ProjectPlan, Wish
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.gold import GoldForecast, SuggestedGold
from adjudge.collect.values.requesting import Imported
from adjudge.collect.web._api_router import api_router, services_of
from adjudge.collect.web._api_values import (
    ApiModel,
    Listed,
    Name,
    Reason,
    Shares,
    Short,
    Slug,
    send,
    send_list,
)

router = api_router("planning")
_Role = Literal["training", "screening", "both"]
_Mix = Literal["any", "uniform"] | Shares


class _DesignIn(ApiModel):
    """A split of the gold: how many train and in which label mix; ``store`` false only looks."""

    training: Annotated[int, Field(ge=0, le=10_000)] | None = None
    training_mix: _Mix = "uniform"
    screening_mix: _Mix = "any"
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    store: bool = True


class _ApproveIn(ApiModel):
    """An item that becomes gold, by a person's word."""

    item: Name
    accepted: list[Name] = Field(min_length=1, max_length=100)
    reason: Reason = ""
    role: _Role = "screening"


class _DeclineIn(ApiModel):
    """An item that is not to be suggested as gold, or may be again."""

    item: Name
    again: bool = False


class _WishIn(ApiModel):
    """What a plan is for; pay and share of gold are the policy's if they are not given."""

    accuracy: Annotated[float, Field(gt=0, lt=1)]
    pay_per_page: Short | None = None
    gold_share: Annotated[float, Field(ge=0, le=0.9)] | None = None


class _DesignOut(ApiModel):
    """How the gold was split, or would be."""

    stored: bool
    training: int
    screening: int
    labels: dict[str, dict[str, int]]  # set -> label -> golds
    missing: dict[str, dict[str, int]]
    warnings: list[str]


class _DeclinedOut(ApiModel):
    """An item that is not to be suggested as gold."""

    item: str


class _PlanOut(ApiModel):
    """The plan that is waited for, and the last one that was made."""

    asked: Asked | None
    plan: ProjectPlan | None


@router.get("/projects/{project}/gold-forecast", response_model=GoldForecast)
def _read_forecast(
    request: Request, project: Slug, judges: Annotated[int | None, Query(ge=1, le=1_000_000)] = None
) -> Response:
    """How much gold is needed, by label, and what is wrong with it."""
    return send(services_of(request, project).gold.forecast(project, judges=judges))


@router.post("/projects/{project}/gold-design", response_model=_DesignOut)
def _design_gold(request: Request, project: Slug, body: _DesignIn) -> Response:
    """Split the gold into a training set of a label mix, and screening gold: the rest."""
    made = services_of(request, project).gold.design(project, **body.model_dump())
    counts = {"training": len(made.training), "screening": len(made.screening)}
    found = {"labels": made.counts, "missing": made.missing, "warnings": made.warnings}
    return send({"stored": body.store, **counts, **found})


@router.get("/projects/{project}/gold-suggestions", response_model=Listed[SuggestedGold])
def _list_suggestions(
    request: Request, project: Slug, limit: Annotated[int, Query(ge=1, le=200)] = 20
) -> Response:
    """Items that could become gold: what the consensus in the background is surest of."""
    services = services_of(request, project)
    _, sure = refit.find_sure(services, project)
    return send_list(services.gold.describe_suggested(project, sure, limit))


@router.post("/projects/{project}/gold-suggestions", response_model=Imported)
def _approve_gold(request: Request, project: Slug, body: _ApproveIn) -> Response:
    """Make gold of an item that was work."""
    return send(services_of(request, project).gold.approve(project, **body.model_dump()))


@router.post("/projects/{project}/gold-suggestions/declined", response_model=Listed[_DeclinedOut])
def _decline_gold(request: Request, project: Slug, body: _DeclineIn) -> Response:
    """Never suggest an item as gold, or let it be suggested again; those declined so far."""
    services = services_of(request, project)
    services.gold.decline(project, body.item, again=body.again)
    return send_list([{"item": item} for item in services.gold.get_declined(project)])


@router.get("/projects/{project}/plan", response_model=_PlanOut)
def _read_plan(request: Request, project: Slug) -> Response:
    """The last plan that was made, and the one that is being made."""
    return send(_plan(services_of(request, project), project))


@router.post("/projects/{project}/plan", response_model=_PlanOut, status_code=202)
def _ask_for_plan(request: Request, project: Slug, body: _WishIn) -> Response:
    """Ask for a plan of judgments, golds and money; it is made in the background."""
    services = services_of(request, project)
    policy, _ = services.projects.get_policy(project)
    pay = policy.pay_per_page if body.pay_per_page is None else body.pay_per_page
    share = policy.screening_share if body.gold_share is None else body.gold_share
    planner.ask(services, project, Wish.checked(body.accuracy, pay, share))
    return send(_plan(services, project), 202)


def _plan(services: RequesterServices, project: str) -> dict[str, Any]:
    asked, plan = planner.read_asked(services, project), planner.read_plan(services, project)
    return {"asked": asked, "plan": plan}
