"""The API of items and gold: listed, looked at, decided, edited, designed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from adjudge.collect.rules.sent import (
    ApiModel,
    Comment,
    GoldRole,
    Line,
    Name,
    Reason,
    Shares,
    Short,
)
from adjudge.collect.services.items import FILTERS
from adjudge.collect.values.gold import Contest, GoldRow, Regrade
from adjudge.collect.values.requesting import ItemDetail, ListedItem
from adjudge.collect.web._api import Listed, Services, Slug, api_router

router = api_router("items")
_Filter = Literal[FILTERS]  # type: ignore[valid-type]
_Mix = Literal["any", "uniform"] | Shares
_Number = Annotated[int, Field(ge=0, le=2**53)]


class _ItemNameIn(ApiModel):
    """An item by its name."""

    item: Name


class _AdjudicateIn(_ItemNameIn):
    """The final label of an item; ``gold``: fits learn from it."""

    label: Name
    reason: Reason = ""
    gold: bool = True


class _MoreIn(_ItemNameIn):
    """How many judgments more an item is to have."""

    more: Annotated[int, Field(ge=1, le=50)]


class _GoldEdit(_ItemNameIn):
    """A change of gold; what is not given stays."""

    accepted: list[Name] | None = Field(default=None, min_length=1, max_length=100)
    reason: Reason | None = None
    reasons: dict[Line, Reason] | None = None
    role: GoldRole | None = None
    active: bool | None = None


class _SettleIn(ApiModel):
    """The answer to a judge who disagreed."""

    upheld: bool
    answer: Comment = ""


@dataclass(frozen=True, slots=True)
class ItemsOut:
    """One page of items, and how many there are in all."""

    total: int
    results: list[ListedItem]


@router.get("/projects/{project}/items")
def _list_items(
    services: Services,
    project: Slug,
    which: Annotated[_Filter, Query(alias="filter")] = "all",
    search: Annotated[Short, Query()] = "",
    sort: Annotated[Literal["query", "unsure", "judgments", "newest"], Query()] = "query",
    page: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    size: Annotated[int, Query(ge=1, le=1_000)] = 50,
) -> ItemsOut:
    """A page of the items: filtered, searched and sorted."""
    found, total = services.items.get_all(
        project, which=which, search=search, sort=sort, page=page, size=size
    )
    return ItemsOut(total, found)


@router.get("/projects/{project}/item")
def _read_item(services: Services, project: Slug, item: Annotated[Name, Query()]) -> ItemDetail:
    """One item: its text, every judgment, the consensus, and what was decided."""
    return services.items.get(project, item)


@router.post("/projects/{project}/item/adjudicate")
def _adjudicate(services: Services, project: Slug, body: _AdjudicateIn) -> ItemDetail:
    """Give an item its final label; the shown fits are computed again."""
    services.items.adjudicate(project, body.item, body.label, reason=body.reason, gold=body.gold)
    return services.items.get(project, body.item)


@router.post("/projects/{project}/item/reopen")
def _reopen(services: Services, project: Slug, body: _ItemNameIn) -> ItemDetail:
    """Undo that an item was decided or skipped."""
    services.items.reopen(project, body.item)
    return services.items.get(project, body.item)


@router.post("/projects/{project}/item/more")
def _ask_for_more(services: Services, project: Slug, body: _MoreIn) -> ItemDetail:
    """Ask for more judgments of an item."""
    services.items.ask_for_more(project, body.item, body.more)
    return services.items.get(project, body.item)


@router.post("/projects/{project}/item/skip")
def _skip(services: Services, project: Slug, body: _ItemNameIn) -> ItemDetail:
    """Skip an item: no judge gets it."""
    services.items.skip(project, body.item)
    return services.items.get(project, body.item)


@router.get("/projects/{project}/golds")
def _list_golds(services: Services, project: Slug) -> Listed[GoldRow]:
    """Every gold, with misses and contests."""
    return Listed(services.gold.get_all(project))


@router.patch("/projects/{project}/golds")
def _edit_gold(services: Services, project: Slug, body: _GoldEdit) -> Regrade:
    """Change a gold, and grade every answer to it again."""
    return services.gold.edit(project, **dict(body))


@router.get("/projects/{project}/contests")
def _list_contests(
    services: Services, project: Slug, settled: Annotated[bool | None, Query()] = False
) -> Listed[Contest]:
    """Disagreements of judges with gold."""
    return Listed(services.gold.get_contests(project, settled=settled))


@router.post("/projects/{project}/contests/{contest}")
def _settle_contest(
    services: Services, project: Slug, contest: _Number, body: _SettleIn
) -> Contest:
    """Answer a judge who disagreed."""
    return services.gold.settle(project, contest, upheld=body.upheld, answer=body.answer)
