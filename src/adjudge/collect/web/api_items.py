"""The API of items: listed, looked at, and decided."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from adjudge.collect.consensus import refit
from adjudge.collect.values.requesting import ItemDetail, ListedItem
from adjudge.collect.web._api_router import api_router, services_of
from adjudge.collect.web._api_values import ApiModel, Name, Reason, Short, Slug, send

router = api_router("items")
_Filter = Literal["all", "open", "done", "disputed", "unsure", "unjudged", "gold", "skipped"]


class _ItemsOut(ApiModel):
    """One page of items, and how many there are in all."""

    total: int
    results: list[ListedItem]


class _AdjudicateIn(ApiModel):
    """The final label of an item; ``gold``: fits learn from it."""

    item: Name
    label: Name
    reason: Reason = ""
    gold: bool = True


class _ItemNameIn(ApiModel):
    """An item by its name."""

    item: Name


class _MoreIn(ApiModel):
    """How many judgments more an item is to have."""

    item: Name
    more: Annotated[int, Field(ge=1, le=50)]


@router.get("/projects/{project}/items", response_model=_ItemsOut)
def _list_items(
    request: Request,
    project: Slug,
    which: Annotated[_Filter, Query(alias="filter")] = "all",
    search: Annotated[Short, Query()] = "",
    sort: Annotated[Literal["query", "unsure", "judgments", "newest"], Query()] = "query",
    page: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    size: Annotated[int, Query(ge=1, le=1_000)] = 50,
) -> Response:
    """A page of the items: filtered, searched and sorted."""
    found, total = services_of(request, project).items.get_all(
        project, which=which, search=search, sort=sort, page=page, size=size
    )
    return send({"total": total, "results": found})


@router.get("/projects/{project}/item", response_model=ItemDetail)
def _read_item(request: Request, project: Slug, item: Annotated[Name, Query()]) -> Response:
    """One item: its text, every judgment, the consensus, and what was decided."""
    return send(services_of(request, project).items.get(project, item))


@router.post("/projects/{project}/item/adjudicate", response_model=ItemDetail)
def _adjudicate(request: Request, project: Slug, body: _AdjudicateIn) -> Response:
    """Give an item its final label; the fits that are shown are made again."""
    services = services_of(request, project)
    services.items.adjudicate(project, body.item, body.label, reason=body.reason, gold=body.gold)
    refit.ask_again(services, project)
    return send(services.items.get(project, body.item))


@router.post("/projects/{project}/item/reopen", response_model=ItemDetail)
def _reopen(request: Request, project: Slug, body: _ItemNameIn) -> Response:
    """Take back that an item was decided or skipped."""
    services = services_of(request, project)
    services.items.reopen(project, body.item)
    refit.ask_again(services, project)
    return send(services.items.get(project, body.item))


@router.post("/projects/{project}/item/more", response_model=ItemDetail)
def _ask_for_more(request: Request, project: Slug, body: _MoreIn) -> Response:
    """Ask for more judgments of an item."""
    services = services_of(request, project)
    services.items.ask_for_more(project, body.item, body.more)
    return send(services.items.get(project, body.item))


@router.post("/projects/{project}/item/skip", response_model=ItemDetail)
def _skip(request: Request, project: Slug, body: _ItemNameIn) -> Response:
    """Give an item to nobody any more."""
    services = services_of(request, project)
    services.items.skip(project, body.item)
    return send(services.items.get(project, body.item))
