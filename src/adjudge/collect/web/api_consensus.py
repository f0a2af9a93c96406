"""The API of questions and of the consensus, by question."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from adjudge.collect.consensus import refit
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.collect.web._api_models import QuestionIn
from adjudge.collect.web._api_router import api_router, services_of
from adjudge.collect.web._api_values import ApiModel, Listed, PublicId, Short, Slug, send_list

router = api_router("consensus")


class _QuestionsIn(ApiModel):
    """The further questions that a project is to have."""

    questions: list[QuestionIn] = Field(max_length=20)


class _ModelIn(ApiModel):
    """The model to fit, and to the answers to which question; empty for the first."""

    model: Literal[refit.MODEL_NAMES]  # type: ignore[valid-type]
    question: Short = ""


@router.get("/projects/{project}/questions", response_model=Listed[FurtherQuestion])
def _list_questions(request: Request, project: Slug) -> Response:
    """The further questions, beside the first."""
    return send_list(services_of(request, project).projects.get_questions(project))


@router.put("/projects/{project}/questions", response_model=Listed[FurtherQuestion])
def _set_questions(request: Request, project: Slug, body: _QuestionsIn) -> Response:
    """Replace the further questions, while nobody has judged."""
    projects = services_of(request, project).projects
    projects.set_questions(project, [one.value() for one in body.questions])
    return send_list(projects.get_questions(project))


@router.get("/projects/{project}/consensus", response_model=Listed[refit.ModelFit])
def _list_fits(
    request: Request, project: Slug, question: Annotated[Short, Query()] = ""
) -> Response:
    """Which models are fitted."""
    return send_list(refit.list_fits(services_of(request, project), project, question=question))


@router.post(
    "/projects/{project}/consensus", response_model=Listed[refit.ModelFit], status_code=202
)
def _ask_for_fit(request: Request, project: Slug, body: _ModelIn) -> Response:
    """Ask for a fit of a model; it is made in the background."""
    services = services_of(request, project)
    refit.ask(services, project, body.model, question=body.question)
    return send_list(refit.list_fits(services, project, question=body.question), 202)


@router.get("/projects/{project}/consensus/{model}", response_model=Listed[dict[str, Any]])
def _read_fit(
    request: Request,
    project: Slug,
    model: PublicId,
    page: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    question: Annotated[Short, Query()] = "",
) -> Response:
    """A page of the labels by a model, the least sure first."""
    services = services_of(request, project)
    return send_list(refit.read_labels(services, project, model, page, question=question))
