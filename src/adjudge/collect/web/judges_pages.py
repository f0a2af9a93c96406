"""The requester's pages of judges: who they are, how good, what to do, whom to invite."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import Response

from adjudge.collect.consensus import refit
from adjudge.collect.rules.two_accuracies import Gap, explain_gap
from adjudge.collect.values.requesting import JudgeRow, ProjectHead, may
from adjudge.collect.web._forms import PROVEN, Form, SentForm, asked_word, read_number
from adjudge.collect.web._joining import invite_link, origin
from adjudge.collect.web._login import LoggedIn, Who, page_router
from adjudge.collect.web._model_runs import SAMPLE, ModelRun
from adjudge.collect.web._pages import root
from adjudge.collect.web._state import state_of
from adjudge.errors import AdjudgeError, NotFound, Refused
from adjudge.models.registry import DEFAULT

router = page_router("/projects/{project}/judges")
_MOST_INVITES = 1_000
_MOST_AT_ONCE = 1_000
_STAGES = ("consent", "training", "working", "warned", "finished", "failed", "blocked")
_ASKED = ("endpoint", "model", "prompt", "most", "budget", "price_in", "price_out")  # of models
_SHOWN = 200  # judges on a page


@dataclass(frozen=True, slots=True)
class _SeenJudge:
    """A judge as the list shows them: their row, and what the consensus says of them."""

    row: JudgeRow
    fitted: dict[str, Any]  # accuracy, accuracy_low, accuracy_high, advice, why; empty before a fit
    gap: Gap

    @property
    def advice(self) -> str:
        """Keep, train, drop or watch; empty before the first fit."""
        return str(self.fitted.get("advice") or "")


_NONE = -1.0  # below every figure: who has none comes last
_ORDERS: dict[str, tuple[str, Callable[[_SeenJudge], Any], bool]] = {
    "last": ("Last seen", lambda one: one.row.last or one.row.came, True),
    "name": ("Judge", lambda one: one.row.name.casefold(), False),
    "judged": ("Judged", lambda one: one.row.judged, True),
    "gold": ("On gold", lambda one: _or(one.row.accuracy), True),
    "consensus": ("In the consensus", lambda one: _or(one.fitted.get("accuracy")), True),
    "seconds": ("Seconds per item", lambda one: _or(one.row.seconds), True),
    "pay": ("Pay", lambda one: one.row.pay, True),
}


def _or(figure: float | None) -> float:
    return _NONE if figure is None else figure


@router.get("")
def _judges(request: Request, project: str, who: Who) -> Response:
    """Every judge, to be sorted, filtered and acted on; and invitations."""
    summary = who.services.projects.get_head(project)
    invites = []
    if may(summary.role, "manager"):
        invites = [
            (invite, invite_link(request, invite))
            for invite in who.services.judges.get_invites(project)
        ]
    return who.show_project(
        "All judges",
        "judges",
        project,
        project=summary,
        policy=who.services.projects.get_policy(project)[0],
        invites=invites,
        stages=_STAGES,
        orders={name: order[0] for name, order in _ORDERS.items()},
        **_listed(who, project, summary),
    )


@router.get("/models")
def _models(project: str, who: Who) -> Response:
    """Let a language model judge, and see how far those are that do."""
    from adjudge.collect.model_judge.prompts import PROMPTS

    models = state_of(who.request).models
    runs = models.find(project)
    rows = {row.judge: row for row in who.services.judges.get_all(project)}
    _, audit = refit.find_audit(who.services, project)
    return who.show_project(
        "LLM judges",
        "models",
        project,
        policy=who.services.projects.get_policy(project)[0],
        server=f"{origin(who.request)}{root(who.request)}",
        prompts=tuple(PROMPTS),
        runs=[(run, rows.get(run.judge), models.has_key(project, run.model)) for run in runs],
        verdicts=audit.verdicts if audit else {},
        given={
            **dict.fromkeys(_ASKED, ""),
            "prompt": "guidelines",
            "most": str(SAMPLE),
            "price_in": "0",
            "price_out": "0",
        },
    )


@router.post("/models")
def _start_model(project: str, form: SentForm, who: Who) -> Response | str:
    """Let a model judge a sample, or go on with the rest."""
    who.services.projects.check_role(project, "manager")
    given = {name: form.text(name, most=500) for name in _ASKED}
    try:
        if "api" not in who.services.projects.get_policy(project)[0].channels:
            raise Refused("bad-form", "models may not judge here: set 'api' as a way to come")
        run = ModelRun(
            endpoint=given["endpoint"],
            model=given["model"],
            prompt=given["prompt"],
            most=form.number("most") if given["most"] else None,
            budget=read_number("budget", given["budget"]) if given["budget"] else None,
            price_in=read_number("price_in", given["price_in"] or "0"),
            price_out=read_number("price_out", given["price_out"] or "0"),
        )
        state_of(who.request).models.start(project, run, form.fields.get("key", "").strip())
    except AdjudgeError as fault:
        return _models(project, who.again(fault, given=given))
    return f"/projects/{project}/judges/models"


@router.post("/models/stop")
def _stop_model(project: str, form: SentForm, who: Who) -> str:
    """Stop a model after its present page."""
    state_of(who.request).models.stop(project, form.need("model", most=500))
    return f"/projects/{project}/judges/models"


@router.get("/audit")
def _audit(project: str, who: Who) -> Response:
    """The audit of the project's LLM judges: a verdict on each, and the checks behind it."""
    made, audit = refit.find_audit(who.services, project)
    audited = audit.verdicts if audit else {}
    models = [row for row in who.services.judges.get_all(project) if row.kind == "model"]
    missing = [row for row in models if row.judge not in audited]
    return who.show_project("Audit", "audit", project, made=made, audit=audit, missing=missing)


@router.get("/table")
def _table(project: str, who: Who) -> Response:
    """The part of the page that is asked for again and again."""
    listed = _listed(who, project, who.services.projects.get_head(project))
    return who.show_part("judges_table", project, **listed)


@router.get("/groups")
def _groups(project: str, who: Who) -> Response:
    """Judges who arrived together: how alike they answer, and what would change without them."""
    found = who.services.judges.get_groups(project)
    return who.show_project("Arrivals", "groups", project, groups=found)


def _listed(who: LoggedIn, project: str, head: ProjectHead) -> dict[str, Any]:
    """The judges that the address asks for, in its order, and what it asked for."""
    given = who.request.query_params
    asked = {
        "search": given.get("search", "")[:200],
        "stage": asked_word(who.request, "stage", ("", *_STAGES, "flagged")),
        "advice": given.get("advice", "")[:20],
        "sort": asked_word(who.request, "sort", tuple(_ORDERS)),
        "turned": asked_word(who.request, "turned", ("", "1")),
    }
    everyone = _seen(who, project)
    chosen = [one for one in everyone if _matches(one, asked)]
    _, key, falling = _ORDERS[asked["sort"]]
    chosen.sort(key=key, reverse=falling != bool(asked["turned"]))
    return {
        "judges": chosen[:_SHOWN],
        "found": len(chosen),
        "total": len(everyone),
        "flagged": [one for one in everyone if one.row.flags],
        "asked": asked,
        "address": _address,
        "manages": may(head.role, "manager"),
    }


def _address(asked: dict[str, str], **changed: str) -> str:
    """What the address asks for, with something changed."""
    return urlencode({name: value for name, value in {**asked, **changed}.items() if value})


def _seen(who: LoggedIn, project: str) -> list[_SeenJudge]:
    fitted = {row["judge"]: row for row in _fit_of(who, project)}
    return [
        _with_consensus(row, fitted.get(row.judge, {}))
        for row in who.services.judges.get_all(project)
    ]


def _fit_of(who: LoggedIn, project: str) -> list[dict[str, Any]]:
    """The judges by the default model, or by any that is fitted."""
    rows = refit.read_judges(who.services, project, DEFAULT)
    if rows:
        return rows
    ready = (fit.model for fit in refit.list_fits(who.services, project) if fit.made)
    return next((refit.read_judges(who.services, project, model) for model in ready), [])


def _with_consensus(row: JudgeRow, fitted: dict[str, Any]) -> _SeenJudge:
    figures = (fitted.get(name) for name in ("accuracy", "accuracy_low", "accuracy_high"))
    gap = explain_gap(row.gold_right, row.gold_seen, *figures)
    return _SeenJudge(row, row.heed_flags(fitted), gap)


def _matches(one: _SeenJudge, asked: dict[str, str]) -> bool:
    row = one.row
    if asked["stage"] == "flagged" and not row.flags:
        return False
    if asked["stage"] not in ("", "flagged", row.stage):
        return False
    if asked["advice"] and one.advice != asked["advice"]:
        return False
    words = f"{row.name} {row.judge} {row.channel} {row.arm}".casefold()
    return asked["search"].casefold() in words


@router.post("/bulk")
def _act(request: Request, project: str, form: SentForm, who: Who) -> Response | str:
    """Block, unblock or write to several judges at once; what is wrong is shown on the page."""
    who.services.projects.check_role(project, "manager")
    chosen = list(dict.fromkeys(form.lists.get("judge", [])))
    try:
        return _act_on(who, project, form, chosen)
    except AdjudgeError as fault:
        text = form.fields.get("text", "")
        return _judges(request, project, who.again(fault, ticked=chosen, text=text))


def _act_on(who: LoggedIn, project: str, form: Form, chosen: list[str]) -> Response | str:
    services = who.services.judges
    act, text = form.choice("do", ("message", "block", "unblock")), form.text("text", most=2_000)
    if not chosen or len(chosen) > _MOST_AT_ONCE:
        raise Refused("bad-form", f"tick 1 to {_MOST_AT_ONCE:,} judges; {len(chosen):,} are")
    if act == "message":
        services.send_message(project, chosen, text)
        return f"/projects/{project}/judges?done=messaged"
    known = {row.judge for row in services.get_all(project)}
    for judge in chosen:  # all of them are there before the first is touched
        if judge not in known:
            raise NotFound("judge", judge)
    if act == "block" and not form.text("sure"):
        return _ask_before_block(who, project, chosen, text, action="judges/bulk")
    for judge in chosen:
        (services.block if act == "block" else services.unblock)(project, judge, text[:500])
    return f"/projects/{project}/judges?done=bulk-{act}"


def _ask_before_block(
    who: LoggedIn, project: str, chosen: list[str], reason: str, *, action: str
) -> Response:
    """Ask whether judges are to be blocked, with what would follow."""
    rows = [row for row in who.services.judges.get_all(project) if row.judge in chosen]
    return who.show_project(
        "All judges",
        "block",
        project,
        chosen=chosen,
        names_of=[row.name for row in rows],
        judgments=sum(row.judged - row.gold_seen for row in rows),
        reason=reason,
        field="text" if action == "judges/bulk" else "reason",
        action=f"{root(who.request)}/projects/{project}/{action}",
    )


@router.post("/invites")
def _invite(project: str, form: SentForm, who: Who) -> Response | str:
    """Make an invitation for each line."""
    notes = [line.strip()[:200] for line in form.text("notes").splitlines() if line.strip()]
    if not 1 <= len(notes) <= _MOST_INVITES:
        problem = f"Invite 1 to {_MOST_INVITES:,} people, one name per line; {len(notes):,} given."
        return _judges(who.request, project, who.showing(422, problem=problem))
    days = form.text("days", most=5)
    lasting = int(days) if days.isdecimal() else state_of(who.request).settings.join_days
    expires = datetime.now(UTC) + timedelta(days=lasting)
    who.services.judges.invite(project, notes, expires=expires)
    return f"/projects/{project}/judges?done=invited#invites"


@router.post("/invites/{invite}/revoke", dependencies=[PROVEN])
def _revoke_invite(project: str, invite: str, who: Who) -> str:
    """Revoke an invitation."""
    who.services.judges.revoke_invite(project, invite)
    return f"/projects/{project}/judges?done=invite-revoked#invites"


@router.get("/links.csv")
def _links(request: Request, project: str, who: Who) -> Response:
    """The links of all invitations that are still good, to send them by mail."""
    import pyarrow as pa

    from adjudge.data.formats.writing import write_csv

    good = [one for one in reversed(who.services.judges.get_invites(project)) if not one.revoked]
    columns = {
        "for": [one.note for one in good],
        "link": [invite_link(request, one) for one in good],
        "until": [f"{one.expires:%Y-%m-%d %H:%M}" if one.expires else "" for one in good],
        "came": ["yes" if one.judge else "no" for one in good],
    }
    table = pa.table({name: pa.array(cells, pa.large_string()) for name, cells in columns.items()})
    file = io.BytesIO(b"\xef\xbb\xbf")  # by which spreadsheets know UTF-8
    file.seek(0, io.SEEK_END)
    write_csv(table, file, guard=True)
    return Response(
        file.getvalue(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{project}-links.csv"'},
    )


@router.get("/{judge}")
def _judge(project: str, judge: str, who: Who) -> Response:
    """One judge: both accuracies, confusion, answers to gold, history."""
    detail = who.services.judges.get(project, judge)
    fitted = {row["judge"]: row for row in _fit_of(who, project)}
    seen = _with_consensus(detail.row, fitted.get(judge, {}))
    return who.show_project(
        "All judges",
        "judge",
        project,
        judge=detail,
        seen=seen,
        elsewhere=who.services.judges.find_elsewhere(project, judge),
    )


@router.post("/{judge}/name")
def _rename(project: str, judge: str, form: SentForm, who: Who) -> Response | str:
    """Call a judge by another name."""
    try:
        who.services.judges.rename(project, judge, form.text("name", most=200))
    except AdjudgeError as fault:
        return _judge(project, judge, who.again(fault))
    return f"/projects/{project}/judges/{judge}?done=renamed"


@router.post("/{judge}/message")
def _message(project: str, judge: str, form: SentForm, who: Who) -> Response | str:
    """Write to a judge."""
    who.services.projects.check_role(project, "manager")
    try:
        who.services.judges.send_message(project, [judge], form.need("text", most=2_000))
    except AdjudgeError as fault:
        return _judge(project, judge, who.again(fault))
    return f"/projects/{project}/judges/{judge}?done=messaged"


@router.post("/{judge}/block")
def _block(project: str, judge: str, form: SentForm, who: Who) -> Response | str:
    """Block a judge by hand, once that was asked about."""
    reason = form.text("reason", most=1_000)
    if not form.text("sure"):
        who.services.judges.get(project, judge)  # or it is not there
        return _ask_before_block(who, project, [judge], reason, action=f"judges/{judge}/block")
    who.services.judges.block(project, judge, reason)
    return f"/projects/{project}/judges/{judge}?done=blocked"


@router.post("/{judge}/unblock")
def _unblock(project: str, judge: str, form: SentForm, who: Who) -> str:
    """Unblock a judge."""
    who.services.judges.unblock(project, judge, form.text("reason", most=1_000))
    return f"/projects/{project}/judges/{judge}?done=unblocked"
