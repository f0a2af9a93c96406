"""The requester's pages of items: the list, and one with everything that can be done with it."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import Response

from adjudge.collect.consensus import refit
from adjudge.collect.services.items import FILTERS, SORTS, UNSURE
from adjudge.collect.web._forms import Form, SentForm
from adjudge.collect.web._login import LoggedIn, Who, require_login
from adjudge.collect.web._pages import go
from adjudge.errors import AdjudgeError, BadSetting, NotFound, Refused

router = APIRouter(prefix="/projects/{project}", include_in_schema=False)
_SIZE = 50
_ABOUT = {
    "all": "All",
    "open": "Open",
    "done": "Done",
    "disputed": "Disputed",
    "unsure": f"Unsure (below {UNSURE:.0%})",
    "unjudged": "Judged by nobody",
    "gold": "Gold",
    "skipped": "Skipped or set aside",
}
_ORDERS = {
    "query": "Query",
    "unsure": "Least sure first",
    "judgments": "Most judgments first",
    "newest": "Newest judgment first",
}


@router.get("/items")
def _items(request: Request, project: str, who: Who) -> Response:
    """Every item, searched, filtered and sorted."""
    given = request.query_params
    which = given.get("filter", "all") if given.get("filter") in FILTERS else "all"
    sort = given.get("sort", "query") if given.get("sort") in SORTS else "query"
    search = given.get("search", "")[:200]
    number = given.get("page", "0")
    page = int(number) if number.isdecimal() and len(number) < 7 else 0
    found, total = who.services.items.get_all(
        project, which=which, search=search, sort=sort, page=page, size=_SIZE
    )
    return who.show_project(
        "Items",
        "requester/items.html",
        project,
        items=found,
        total=total,
        filters=_ABOUT,
        sorts=_ORDERS,
        which=which,
        sort=sort,
        search=search,
        page=page,
        pages=-(-total // _SIZE),
    )


@router.get("/item")
def _item(request: Request, project: str) -> Response:
    """One item."""
    return _show(require_login(request), project, request.query_params.get("item", ""))


def _show(who: LoggedIn, project: str, item: str, problem: str = "", status: int = 200) -> Response:
    return who.show_project(
        "Items",
        "requester/item.html",
        project,
        status=status,
        item=who.services.items.get(project, item),
        problem=problem,
    )


@router.post("/item")
def _act(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Decide an item, open it again, ask for more judgments, make it gold, or skip it."""
    item = form.need("item", most=10_000)
    who.services.items.get(project, item)  # theirs, or it is not there
    try:
        done = _do(who, project, item, form)
    except NotFound:
        raise
    except AdjudgeError as fault:
        if isinstance(fault, Refused) and fault.code == "role":
            raise
        return _show(who, project, item, str(fault), 422)
    return go(request, f"/projects/{project}/item?item={quote(item, safe='')}&done={done}")


def _do(who: LoggedIn, project: str, item: str, form: Form) -> str:
    what, services = form.need("do", most=20), who.services
    reason = form.text("reason", most=5_000)
    if what == "adjudicate":
        label = form.need("label", most=1_000)
        services.items.adjudicate(
            project, item, label, reason=reason, gold=bool(form.text("as-gold"))
        )
        refit.ask_again(services, project)
        return "adjudicated"
    if what == "reopen":
        services.items.reopen(project, item)
        refit.ask_again(services, project)
        return "reopened"
    if what == "more":
        services.items.ask_for_more(project, item, form.number("more"))
        return "more-asked"
    if what == "skip":
        services.items.skip(project, item)
        return "skipped"
    if what == "gold":
        accepted = form.lists.get("accepted", [])
        services.gold.approve(project, item, accepted=accepted, reason=reason, role="both")
        return "approved"
    raise BadSetting("do", what, "adjudicate, reopen, more, gold or skip")
