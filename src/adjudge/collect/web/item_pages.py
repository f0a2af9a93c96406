"""The requester's pages of items and gold: listed, decided, edited, designed, suggested."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from fastapi import Request
from starlette.responses import Response

from adjudge.collect.consensus import refit
from adjudge.collect.services.items import FILTERS, SORTS, UNSURE
from adjudge.collect.values.project import ROLES
from adjudge.collect.values.requesting import may
from adjudge.collect.web import _policy_form
from adjudge.collect.web._forms import PROVEN, Form, SentForm, asked_number, asked_word
from adjudge.collect.web._login import LoggedIn, Who, page_router
from adjudge.errors import AdjudgeError, BadSetting, NotFound, Refused
from adjudge.models.registry import DEFAULT

router = page_router("/projects/{project}")
_SIZE = 50
_MOST_GOLDS = 500  # shown: the most doubtful
_MOST_JUDGES = 1_000_000
_SUGGESTIONS = 20  # on a page
_ABOUT = {
    "all": "All",
    "open": "Open",
    "done": "Done",
    "disputed": "Disputed",
    "unsure": f"Unsure (below {UNSURE:.0%})",
    "undecided": "To adjudicate",
    "unjudged": "Not judged yet",
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
    which = asked_word(request, "filter", FILTERS)
    sort = asked_word(request, "sort", SORTS)
    search = request.query_params.get("search", "")[:200]
    page = asked_number(request, "page") or 0
    found, total = who.services.items.get_all(
        project, which=which, search=search, sort=sort, page=page, size=_SIZE
    )
    return who.show_project(
        "All items",
        "items",
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
        reviewers=_find_reviewers(who, project) if found else {},
        assigned=_read_assigned(who, project),
    )


def _find_reviewers(who: LoggedIn, project: str) -> dict[str, str]:
    """Who may adjudicate: whoever asks, and the members whose role allows it."""
    members = who.services.members.get_all(project)
    reviewers = {one.member: one.name for one in members if may(one.role, "reviewer")}
    return {who.requester.requester: who.requester.name, **reviewers}


def _name_assigned(project: str) -> str:
    """The setting with the items that reviewers are to adjudicate."""
    return f"assigned:{project}"


def _read_assigned(who: LoggedIn, project: str) -> dict[str, str]:
    """The reviewer of each item that has one."""
    return dict(who.services.settings.get(_name_assigned(project)) or {})


@router.post("/items/assign")
def _assign(project: str, form: SentForm, who: Who) -> Response | str:
    """Assign items to a reviewer, or to nobody."""
    chosen, reviewer = form.lists.get("item", []), form.text("reviewer", most=100)
    if not chosen:
        return _items(who.request, project, who.showing(422, problem="Tick an item first."))
    if reviewer and reviewer not in _find_reviewers(who, project):
        raise NotFound("reviewer", reviewer)
    assigned = _read_assigned(who, project) | dict.fromkeys(chosen, reviewer)
    kept = {item: one for item, one in assigned.items() if one}
    who.services.settings.keep(_name_assigned(project), kept)
    return f"/projects/{project}/items?filter=undecided&done=assigned"


# -- the queue of items to adjudicate


@router.get("/items/adjudicate")
def _show_queue(request: Request, project: str, who: Who) -> Response:
    """The next item that judges dispute or that the fit is unsure of."""
    asked = request.query_params
    left = who.services.items.list_undecided(project)
    mine = asked.get("mine", "") == "1"
    if mine:
        assigned = _read_assigned(who, project)
        left = [item for item in left if assigned.get(item) == who.requester.requester]
    after, done = asked.get("after", ""), asked_number(request, "n") or 0
    start = left.index(after) + 1 if after in left else 0
    at = asked.get("at", "")
    chosen = at if at in left else next(iter(left[start:] + left[:start]), "")
    return who.show_project(
        "Adjudicate",
        "queue",
        project,
        item=who.services.items.get(project, chosen) if chosen else None,
        left=len(left),
        decided=done,
        last=asked.get("last", ""),
        mine=mine,
    )


@router.post("/items/adjudicate")
def _decide_next(project: str, form: SentForm, who: Who) -> str:
    """Decide an item of the queue, or take the last decision back, and go to the next."""
    item, done = form.need("item", most=10_000), form.number("n")
    known = {"mine": "1"} if form.text("mine") else {}
    if form.text("do") == "reopen":
        _do(who, project, item, form)
        known |= {"at": item, "n": str(max(done - 1, 0))}
    elif item not in who.services.items.list_undecided(project):
        known |= {"n": str(done), "done": "decided-already"}
    else:
        _do(who, project, item, form)
        known |= {"last": item, "n": str(done + 1)}
    return f"/projects/{project}/items/adjudicate?{urlencode(known)}"


@router.get("/item")
def _item(request: Request, project: str, who: Who) -> Response:
    """One item."""
    return _show_item(who, project, request.query_params.get("item", ""))


def _show_item(who: LoggedIn, project: str, item: str) -> Response:
    found = who.services.items.get(project, item)
    return who.show_project("All items", "item", project, item=found)


@router.post("/item")
def _act(project: str, form: SentForm, who: Who) -> Response | str:
    """Decide an item, open it again, ask for more judgments, make it gold, or skip it."""
    item = form.need("item", most=10_000)
    who.services.items.get(project, item)  # theirs, or it is not there
    try:
        done = _do(who, project, item, form)
    except AdjudgeError as fault:
        return _show_item(who.again(fault), project, item)
    return f"/projects/{project}/item?item={quote(item, safe='')}&done={done}"


def _do(who: LoggedIn, project: str, item: str, form: Form) -> str:
    what, services = form.need("do", most=20), who.services
    reason = form.text("reason", most=5_000)
    if what == "adjudicate":
        label, gold = form.need("label", most=1_000), bool(form.text("as-gold"))
        services.items.adjudicate(project, item, label, reason=reason, gold=gold)
        return "adjudicated"
    if what == "reopen":
        services.items.reopen(project, item)
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


# -- gold


@router.get("/settings/gold")
def _gold(project: str, who: Who) -> Response:
    """Every gold, the most doubtful first."""
    golds = who.services.gold.get_all(project)
    contests = who.services.gold.get_contests(project)
    return who.show_project(
        "Gold", "gold", project, golds=golds[:_MOST_GOLDS], total=len(golds), contests=contests
    )


@router.get("/settings/gold/edit")
def _show_gold(request: Request, project: str, who: Who) -> Response:
    """One gold, to be changed."""
    item = request.query_params.get("item", "")
    found = [entry for entry in who.services.gold.get_all(project) if entry.item == item]
    if not found:
        raise NotFound("gold", item)
    said = [contest for contest in who.services.gold.get_contests(project) if contest.item == item]
    return who.show_project("Gold", "gold_edit", project, gold=found[0], contests=said)


@router.post("/settings/gold")
def _edit_gold(project: str, form: SentForm, who: Who) -> str:
    """Change a gold; every answer to it is graded again."""
    who.services.gold.edit(
        project,
        form.need("item", most=10_000),
        accepted=form.lists.get("accepted", []),
        reason=form.text("reason", most=5_000),
        role=form.need("role", most=20),
        active=bool(form.text("active")),
    )
    return f"/projects/{project}/settings/gold?done=gold"


@router.post("/settings/gold/contests/{contest}")
def _settle(project: str, contest: int, form: SentForm, who: Who) -> str:
    """Answer a judge who disagreed."""
    upheld, answer = form.need("upheld", most=5) == "yes", form.text("answer", most=2_000)
    who.services.gold.settle(project, contest, upheld=upheld, answer=answer)
    return f"/projects/{project}/settings/gold?done=settled"


@router.get("/settings/gold/design")
def _design(request: Request, project: str, who: Who) -> Response:
    """How much gold is needed, what there is, and how it could be split."""
    asked = asked_number(request, "judges")
    judges = None if asked is None else min(max(asked, 1), _MOST_JUDGES)
    policy, _ = who.services.projects.get_policy(project)
    return who.show_project(
        "Gold",
        "gold_design",
        project,
        forecast=who.services.gold.forecast(project, judges=judges),
        stated=judges is not None,
        given={"training": policy.training_pairs, "mix": "uniform", "seed": 0},
        preview=None,
    )


@router.post("/settings/gold/design")
def _split(project: str, form: SentForm, who: Who) -> Response | str:
    """Split the gold into training and screening, or show what that would give."""
    given = {name: form.text(name, most=2_000) for name in ("training", "mix", "seed")}
    store = form.text("do", most=20) == "split"
    policy, _ = who.services.projects.get_policy(project)
    try:
        mix = _policy_form.read("training_mix", given["mix"])
        made = who.services.gold.design(
            project,
            training=form.number("training"),
            training_mix=policy.changed({"training_mix": mix}).training_mix,
            seed=form.number("seed"),
            store=store,
        )
    except (BadSetting, Refused) as fault:
        return _design(who.request, project, who.again(fault, given=given))
    if store:
        return f"/projects/{project}/settings/gold/design?done=designed"
    return _design(who.request, project, who.showing(given=given, preview=made))


@router.get("/settings/gold/suggestions")
def _suggestions(who: Who, project: str) -> Response:
    """Items that could become gold, for a person to look at."""
    fit, sure = refit.find_sure(who.services, project)
    fits = refit.list_fits(who.services, project)
    return who.show_project(
        "Gold",
        "gold_suggestions",
        project,
        fit=fit,
        waiting=fit is None and any(one.state in ("wanted", "running") for one in fits),
        found=who.services.gold.describe_suggested(project, sure, _SUGGESTIONS),
        declined=who.services.gold.get_declined(project),
        roles=ROLES,
        tried={},
    )


@router.post("/settings/gold/suggestions")
def _decide(project: str, form: SentForm, who: Who) -> Response | str:
    """Approve a suggestion, decline it, or take a decline back."""
    item, what = form.need("item", most=10_000), form.need("do", most=20)
    accepted, reason = form.lists.get("accepted", []), form.text("reason", most=5_000)
    role = form.text("role", most=20)
    done = {"approve": "approved", "decline": "declined", "again": "reconsidered"}
    try:
        if what == "approve":
            kind = form.choice("role", ROLES)
            who.services.gold.approve(project, item, accepted=accepted, reason=reason, role=kind)
        elif what in done:
            who.services.gold.decline(project, item, again=what == "again")
        else:
            raise BadSetting("do", what, "approve, decline or again")
    except AdjudgeError as fault:
        tried = {"item": item, "accepted": accepted, "reason": reason, "role": role}
        return _suggestions(who.again(fault, tried=tried), project)
    return f"/projects/{project}/settings/gold/suggestions?done={done[what]}"


@router.post("/settings/gold/suggestions/fit", dependencies=[PROVEN])
def _ask_for_fit(project: str, who: Who) -> str:
    """Ask for the consensus that suggestions come from."""
    refit.ask(who.services, project, DEFAULT)
    return f"/projects/{project}/settings/gold/suggestions?done=asked"
