"""The API of experiments: the arms of a project, and the report by arm."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from adjudge.collect.services.arms import preset_arms, read_arms
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.arms import ArmReport
from adjudge.collect.web._api_models import ArmIn
from adjudge.collect.web._api_router import api_router, services_of
from adjudge.collect.web._api_values import ApiModel, Name, Shares, Short, Slug, send
from adjudge.errors import BadSetting

router = api_router("arms")
_Resamples = Annotated[int, Field(ge=0, le=10_000)]
_Seed = Annotated[int, Field(ge=0, le=2**53)]


class _ArmsIn(ApiModel):
    """Arms in their order, or the name of a preset; ``population`` is what that mix stands for."""

    arms: list[ArmIn] = Field(default=[], max_length=50)
    preset: Short = ""
    population: Shares | None = None


class _ArmsOut(ApiModel):
    """The arms, without what is as in the project, and what is wrong with them."""

    arms: list[dict[str, Any]]
    warnings: list[str]


class _ReportIn(ApiModel):
    """What to measure arms by: the true labels of judged items, by the items' names."""

    test: dict[Name, Name] = Field(min_length=1, max_length=200_000)
    resamples: _Resamples = 400
    seed: _Seed = 0


@router.get("/projects/{project}/arms", response_model=_ArmsOut)
def _read_project_arms(request: Request, project: Slug) -> Response:
    """The arms of a project's experiment, and what is wrong with them."""
    return _send_arms(services_of(request, project), project)


@router.put("/projects/{project}/arms", response_model=_ArmsOut)
def _set_project_arms(request: Request, project: Slug, body: _ArmsIn) -> Response:
    """Set the arms; once a judge has come, they can only be added to."""
    services = services_of(request, project)
    labels = services.projects.get_head(project).labels
    gold = services.exports.get_gold(project)
    known = gold.texts() if gold is not None else []
    if body.preset and body.arms:
        raise BadSetting("preset", body.preset, "either arms or preset")
    if body.preset:
        made = preset_arms(body.preset, labels=labels, gold=known)
    else:
        given = {"arms": [arm.given() for arm in body.arms], "population": body.population}
        made = read_arms(given, labels=labels, gold=known)
    services.arms.set_all(project, made)
    return _send_arms(services, project)


def _send_arms(services: RequesterServices, project: str) -> Response:
    arms: list[dict[str, Any]] = [arm.to_dict() for arm in services.arms.get_all(project)]
    return send({"arms": arms, "warnings": services.arms.get_warnings(project)})


@router.get("/projects/{project}/arms/report", response_model=ArmReport)
def _read_arm_report(
    request: Request,
    project: Slug,
    resamples: Annotated[_Resamples, Query()] = 400,
    seed: Annotated[_Seed, Query()] = 0,
) -> Response:
    """Funnel, judges and majority vote by arm, against the project's gold."""
    services = services_of(request, project)
    return send(services.arms.report(project, resamples=resamples, seed=seed))


@router.post("/projects/{project}/arms/report", response_model=ArmReport)
def _make_arm_report(request: Request, project: Slug, body: _ReportIn) -> Response:
    """The same against true labels of items that were judged as work; nothing of them is kept."""
    import pyarrow as pa

    from adjudge.data.gold import Gold

    services = services_of(request, project)
    columns = {"item": list(body.test), "gold": list(body.test.values())}
    test = Gold.from_table(pa.table(columns), source="the test labels")
    return send(services.arms.report(project, test=test, resamples=body.resamples, seed=body.seed))
