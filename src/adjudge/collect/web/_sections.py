"""The five sections of a project, and where pages of earlier versions are now."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.responses import RedirectResponse, Response

from adjudge.collect.web._pages import root

SECTIONS = {  # the pages of each; the first is where the section begins
    "Overview": {"Overview": ""},
    "Items": {"All items": "/items", "Adjudicate": "/items/adjudicate"},
    "Judges": {
        "All judges": "/judges",
        "Arrivals": "/judges/groups",
        "LLM judges": "/judges/models",
        "Audit": "/judges/audit",
    },
    "Results": {
        "Consensus": "/results",
        "Ranking": "/results/ranking",
        "Disagreements": "/results/disagreements",
        "Systems": "/results/systems",
        "Report": "/results/report",
        "Plan": "/results/plan",
        "Export": "/results/export",
    },
    "Settings": {
        "Policy": "/settings",
        "Gold": "/settings/gold",
        "Experiments": "/settings/experiments",
        "Members": "/settings/members",
        "Notifications": "/settings/notifications",
        "Log": "/settings/log",
    },
}
_MOVED = {
    "consensus": "results",
    "ranking": "results/ranking",
    "disagreements": "results/disagreements",
    "plan": "results/plan",
    "export": "results/export",
    "gold": "settings/gold",
    "contests": "settings/gold/contests",
    "arms": "settings/experiments",
    "members": "settings/members",
    "notices": "settings/notifications",
    "log": "settings/log",
}

router = APIRouter()


def find_section(page: str, *, of_pairs: bool) -> tuple[str, dict[str, str]]:
    """The section that has a page of this title, and its pages in a project of this kind."""
    title = next(title for title, pages in SECTIONS.items() if page in pages)
    left_out = "Systems" if of_pairs else "Ranking"
    return title, {name: path for name, path in SECTIONS[title].items() if name != left_out}


def _lead_on(request: Request) -> Response:
    """Redirect an address of an earlier version; what is sent to it is sent again (308)."""
    given = request.path_params
    rest = f"/{given['rest']}" if "rest" in given else ""
    target = f"/projects/{given['project']}/{_MOVED[given['old']]}{rest}"
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(quote(root(request) + target) + query, status_code=308)


class _Old(StringConvertor):
    """The names of pages that have moved."""

    regex = "|".join(_MOVED)


register_url_convertor("old", _Old())
for _rest in ("", "/{rest:path}"):
    router.add_route(f"/projects/{{project}}/{{old:old}}{_rest}", _lead_on, methods=["GET", "POST"])
