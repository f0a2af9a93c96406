"""The end of a judge's way: finished, or blocked where their answers to gold lie below the line."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from adjudge.collect.items.standing import untrust
from adjudge.collect.judging.leases import end_pages
from adjudge.collect.judging.views import view_judge
from adjudge.collect.rules.decisions import at_finish
from adjudge.collect.rules.endings import CAME_LATE, NOTHING_LEFT, OWN_WISH
from adjudge.collect.store.request import JudgeRequest, columns_of, record_of
from adjudge.collect.store.schema import pages
from adjudge.errors import Refused

_STATE = (
    select(pages.c.state).where(pages.c.id == bindparam("page")).with_for_update(key_share=True)
)


def finish(request: JudgeRequest) -> None:
    """End at the judge's own wish; nothing if they have ended."""
    if request.judge.stage == "finished" or record_of(request.judge).ended_blocked:
        return
    reason = OWN_WISH
    message = "there is nothing to finish yet: please judge a page first"
    training = request.judge.stage == "training"
    if not training and request.judge.stage not in ("working", "warned"):
        raise Refused("nothing-done", message)
    if training or request.judge.pages == 0:
        if view_judge(request).open_items:
            raise Refused("nothing-done", message)
        # A panel's participant needs a code, also where they came too late.
        reason = CAME_LATE if training else NOTHING_LEFT
    if request.judge.page is not None:
        state = request.on.execute(_STATE, {"page": request.judge.page}).scalar()
        if state == "open":
            end_pages(request.on, [request.judge.page], "returned")
    end_way(request, reason, actor="judge")


def end_way(request: JudgeRequest, reason: str, *, actor: str = "system") -> None:
    """Finish a judge for a reason, and take the trust from who is below the blocking line.

    Nothing if they are finished.
    """
    if request.judge.stage == "finished":
        return
    decision = at_finish(record_of(request.judge), request.policy)
    request.set_judge(**columns_of(decision.record), reason=reason, page=None, last=request.now)
    if decision.stage == "blocked":
        untrust(request.on, request.judge.id, request.project)
    for name in decision.events or ("finished",):
        figures = {**decision.record.figures, "reason": reason}
        request.log(name, judge=request.judge.id, actor=actor, **figures)
