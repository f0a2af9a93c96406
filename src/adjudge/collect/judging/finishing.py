"""The end of a judge's way: finished, or blocked where their answers to gold lie below the line."""

from __future__ import annotations

from adjudge.collect.items.standing import untrust
from adjudge.collect.rules.decisions import at_finish
from adjudge.collect.store.records import columns_of, figures_of, record_of, write_log
from adjudge.collect.store.request import JudgeRequest


def end_way(request: JudgeRequest, reason: str, *, actor: str = "system") -> None:
    """Finish a judge for a reason, and take the trust from who is below the blocking line."""
    decision = at_finish(record_of(request.judge), request.policy)
    request.set_judge(**columns_of(decision.record), reason=reason, page=None, last=request.now)
    told = {**figures_of(decision.record), "reason": reason}
    judge = request.judge.id
    if decision.stage == "blocked":
        untrust(request.on, judge, request.project)
        lines = [request.line(name, judge=judge, actor=actor, **told) for name in decision.events]
        write_log(request.on, lines)
        return
    write_log(request.on, [request.line("finished", judge=judge, actor=actor, **told)])
