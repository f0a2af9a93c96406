"""The API of what is made of answers: consensus by question, report by arm, plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field

from adjudge.collect.consensus import refit
from adjudge.collect.rules.sent import ApiModel, ArmIn, QuestionIn, Shares, Short
from adjudge.collect.services.arms import preset_arms, read_arms
from adjudge.collect.values.arms import ArmReport
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.collect.web._api import Listed, PublicId, Services, Slug, api_router
from adjudge.errors import BadSetting
from adjudge.models.registry import MODELS

router = api_router("analysis")
_Resamples = Annotated[int, Field(ge=0, le=10_000)]
_Seed = Annotated[int, Field(ge=0, le=2**53)]


class _QuestionsIn(ApiModel):
    """The further questions that a project is to have."""

    questions: list[QuestionIn] = Field(max_length=20)


class _ModelIn(ApiModel):
    """The model to fit, and to the answers to which question; empty for the first."""

    model: Literal[tuple(MODELS)]  # type: ignore[valid-type]
    question: Short = ""


class _ArmsIn(ApiModel):
    """Arms in their order, or the name of a preset; ``population`` says what that mix is."""

    arms: list[ArmIn] = Field(default=[], max_length=50)
    preset: Short = ""
    population: Shares | None = None


@dataclass(frozen=True, slots=True)
class ArmsOut:
    """The arms, without what is as in the project, and what is wrong with them."""

    arms: list[dict[str, Any]]
    warnings: list[str]


@router.get("/projects/{project}/questions")
def _list_questions(services: Services, project: Slug) -> Listed[FurtherQuestion]:
    """The further questions."""
    return Listed(services.projects.get_questions(project))


@router.put("/projects/{project}/questions")
def _set_questions(
    services: Services, project: Slug, body: _QuestionsIn
) -> Listed[FurtherQuestion]:
    """Replace the further questions, while nobody has judged."""
    services.projects.set_questions(project, [one.value() for one in body.questions])
    return Listed(services.projects.get_questions(project))


@router.get("/projects/{project}/consensus")
def _list_fits(
    services: Services, project: Slug, question: Annotated[Short, Query()] = ""
) -> Listed[refit.ModelFit]:
    """Which models are fitted."""
    return Listed(refit.list_fits(services, project, question=question))


@router.post("/projects/{project}/consensus", status_code=202)
def _ask_for_fit(services: Services, project: Slug, body: _ModelIn) -> Listed[refit.ModelFit]:
    """Ask for a fit of a model; it is made in the background."""
    refit.ask(services, project, body.model, question=body.question)
    return Listed(refit.list_fits(services, project, question=body.question))


@router.get("/projects/{project}/consensus/{model}")
def _read_fit(
    services: Services,
    project: Slug,
    model: PublicId,
    page: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    question: Annotated[Short, Query()] = "",
) -> Listed[dict[str, Any]]:
    """A page of the labels by a model, the least sure first."""
    return Listed(refit.read_labels(services, project, model, page, question=question))


@router.get("/projects/{project}/arms")
def _read_project_arms(services: Services, project: Slug) -> ArmsOut:
    """The arms of a project's experiment, and what is wrong with them."""
    arms = [arm.to_dict() for arm in services.arms.get_all(project)]
    return ArmsOut(arms, services.arms.get_warnings(project))


@router.put("/projects/{project}/arms")
def _set_project_arms(services: Services, project: Slug, body: _ArmsIn) -> ArmsOut:
    """Set the arms; after the first judge, arms can only be added."""
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
    return _read_project_arms(services, project)


@router.get("/projects/{project}/arms/report")
def _read_arm_report(
    services: Services,
    project: Slug,
    resamples: Annotated[_Resamples, Query()] = 400,
    seed: Annotated[_Seed, Query()] = 0,
) -> ArmReport:
    """Funnel, judges and majority vote by arm, against the project's gold."""
    return services.arms.report(project, resamples=resamples, seed=seed)
