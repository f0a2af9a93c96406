"""Outside panels: what one asks of a policy, links there and back, how participants ended.

Prolific's rules are those of its help centre ("Attention and comprehension checks", "Reviewing
submissions: how do I decide who to accept/reject?", "Can I be screened out of a study?") and of
its API reference ("The study object"). A missed relevance gold is no attention check in their
sense: nobody is ever to be rejected for it, and no action here is a rejection.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import pyarrow as pa
from sqlalchemy import select

from adjudge.collect.rules.endings import code_of, outcome_of, pay_of, to_money
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import to_time
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import is_real, judges
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.errors import UnknownName

_PANELS = ("prolific",)
PROLIFIC_PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
_PROLIFIC_LINK = "https://app.prolific.com/submissions/complete?cc={code}"
_CODES = {
    "code_finished": "finished",
    "code_failed": "failed the training",
    "code_blocked": "was blocked",
    "code_nothing_left": "found nothing left to judge",
    "code_partial": "judged fewer pages",
}
_LEAST_PAGES = 3
_SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def _new_code() -> str:
    """A completion code that nobody guesses."""
    return "".join(secrets.choice(_SIGNS) for _ in range(8))


def preset_panel(
    panel: str, policy: Policy, *, make_code: Callable[[], str] = _new_code
) -> dict[str, Any]:
    """The settings that a panel asks for, as changes of a policy; codes that differ stay.

    What it cannot know is left for ``panel_warnings`` to ask for: how much is paid.
    """
    if panel not in _PANELS:
        raise UnknownName("panel", panel, _PANELS)
    changes: dict[str, Any] = {
        "panel": panel,
        "participant_parameter": PROLIFIC_PARAMETERS[0],
        "return_link": _PROLIFIC_LINK,
        "training_tries": max(2, policy.training_tries),
    }
    if not policy.least_pages:  # else one page would bring the full code
        changes["least_pages"] = policy.max_pages or _LEAST_PAGES
    if "panel" not in policy.channels:
        changes["channels"] = [*policy.channels, "panel"]
    taken: set[str] = set()
    for name in _CODES:
        code = getattr(policy, name)
        if not code or code in taken:
            changes[name] = code = make_code()
        taken.add(code)
    return {name: value for name, value in changes.items() if getattr(policy, name) != value}


def panel_warnings(policy: Policy, arms: Iterable[Policy] = (), *, trained: bool) -> list[str]:
    """Where a policy does not meet the rules of its panel, in sentences; none if all is well.

    ``arms`` are the policies of the arms; ``trained``: whether there is a training to fail.
    """
    if policy.panel != "prolific":
        return []
    said = []
    if "panel" not in policy.channels:
        said.append("Prolific: the channel panel is closed, so that no participant can come in.")
    if policy.participant_parameter not in ("", PROLIFIC_PARAMETERS[0]):
        said.append("Prolific: the participant's id comes as PROLIFIC_PID, not as "
                    f"{policy.participant_parameter}.")  # fmt: skip
    if trained and policy.training_tries < 2:
        said.append(
            "Prolific: a check of understanding has to give at least two tries, and the training "
            f"gives {policy.training_tries}."
        )
    if trained and any(one.pay_failed <= 0 for one in (policy, *arms)):
        said.append(
            "Prolific: whoever is screened out has to be paid for the time it took, and pay_failed "
            "is 0."
        )
    if not policy.pay_blocked:
        said.append("Prolific: work may not go unpaid for missed gold, and pay_blocked is off.")
    if policy.least_pages < 2 and policy.max_pages != 1:
        said.append("Prolific: the full code is given after one page; least_pages says how many.")
    if policy.own_codes:
        said.append("Prolific: it knows no codes of single participants, and own_codes is on.")
    if "{code}" not in policy.return_link:
        said.append(f"Prolific: the link back ({_PROLIFIC_LINK}) is not set.")
    return said + _code_warnings(policy, trained)


def _code_warnings(policy: Policy, trained: bool) -> list[str]:
    """Completion codes that are missing, or that are the same for several outcomes."""
    unused = {"code_failed"} if not trained else set()
    unused |= set() if policy.least_pages else {"code_partial"}
    needed = [name for name in _CODES if name not in unused]
    missing = [name for name in needed if not getattr(policy, name)]
    said = []
    if missing:
        said.append(f"Prolific: no completion code is set in {', '.join(missing)}.")
    codes: dict[str, list[str]] = {}
    for name in needed:
        if getattr(policy, name):
            codes.setdefault(getattr(policy, name), []).append(name)
    return said + [
        f"Prolific: {' and '.join(names)} are the same completion code, so that their participants "
        "cannot be distinguished."
        for names in codes.values()
        if len(names) > 1
    ]


def _action_of(outcome: str, pay: Decimal) -> str:
    """What to do about a participant at the panel. It never is to reject."""
    if outcome == "unfinished":
        return "wait"
    if pay <= 0 and outcome != "finished":
        return "ask to return"
    by_pages = ("failed", "nothing-left", "partial")
    return "screen-out payment" if outcome in by_pages else "approve"


_COLUMNS = (
    *("participant", "session", "study", "judge", "outcome", "code", "pay_due", "currency"),
    *("action", "pages", "judged", "came", "last", "parameters"),
)


def table_outcomes(request: Request) -> Any:
    """How each participant of a panel ended, as an Arrow table, in the order they came."""
    statement = (
        select(judges)
        .where(judges.c.project == request.project.id, judges.c.channel == "panel", is_real)
        .order_by(judges.c.id)
    )
    rows = [_outcome(row, request.project) for row in request.on.execute(statement)]
    kinds = {"pages": pa.int64(), "judged": pa.int64()}
    kinds |= dict.fromkeys(("came", "last"), pa.timestamp("us", tz="UTC"))
    schema = pa.schema([(name, kinds.get(name, pa.large_string())) for name in _COLUMNS])
    return pa.Table.from_pylist(rows, schema=schema)


def _outcome(row: Any, snapshot: ProjectSnapshot) -> dict[str, Any]:
    policy = snapshot.policy_of(row.arm)
    pay, outcome = to_money(pay_of(row, policy)), outcome_of(row, policy)
    given = {str(name): str(value) for name, value in row.parameters.items()}
    return {
        "participant": row.key,
        "session": given.get("SESSION_ID", ""),
        "study": given.get("STUDY_ID", ""),
        "judge": row.public,
        "outcome": outcome,
        "code": code_of(row, policy, snapshot.seed) or "",
        "pay_due": str(pay),
        "currency": policy.currency,
        "action": _action_of(outcome, pay),
        "pages": row.pages,
        "judged": row.judged,
        "came": to_time(row.came),
        "last": None if row.last is None else to_time(row.last),
        "parameters": json.dumps(given, ensure_ascii=False, sort_keys=True),
    }
