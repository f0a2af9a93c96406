"""Templates as responses."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.two_accuracies import gold_interval
from adjudge.collect.values.judging import LONGEST_COMMENT
from adjudge.collect.values.sides import in_words, is_of_pairs
from adjudge.collect.web import _policy_form
from adjudge.collect.web._markup import beginning, highlight, unmark
from adjudge.collect.web._security import Session, Sessions
from adjudge.data.source import count_of

_HERE = Path(__file__).resolve().parent
STATIC = _HERE / "static"


def money(amount: Decimal, currency: str) -> str:
    """An amount as people read it: ``1.20 USD``."""
    return f"{amount:.2f} {currency}".strip()


def _interval(right: int, seen: int) -> str:
    """How sure an accuracy on gold is: its 90% interval, as that in the consensus has it."""
    return " to ".join(map(_format_percent, gold_interval(right, seen)))


def _format_percent(share: float | None) -> str:
    """A share as a percentage without decimals, or a dash."""
    return "–" if share is None else f"{100 * share:.0f}%"


def spell_minutes(minutes: float) -> str:
    """A time as people say it: ``45 minutes``, ``3 hours``, ``2 days``."""
    for size, name in ((1_440, "day"), (60, "hour")):
        if minutes >= 2 * size:
            return f"{minutes / size:.0f} {name}s"
    return count_of(max(1, round(minutes)), "minute")


def _remaining(until: datetime) -> str:
    """How long it is until a moment, in words."""
    left = (until - datetime.now(UTC)).total_seconds()
    return "over" if left <= 0 else spell_minutes(left / 60)


def _moment(time: datetime | None) -> str:
    """A moment to the minute, in UTC."""
    return "–" if time is None else f"{time:%Y-%m-%d %H:%M}"


def _figure(value: object) -> str:
    """A figure of the log in a few words; the export of the log has all of it."""
    if isinstance(value, dict):
        if len(value) > 3:
            return f"{len(value)} entries"
        return ", ".join(f"{name} {_figure(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        shown = ", ".join(_figure(part) for part in value[:6])
        return shown + (f" and {len(value) - 6} more" if len(value) > 6 else "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def bar_ends(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Where each part of a bar but the last ends, in percent of it, the last of them first.

    Each is drawn from the beginning of the bar, over those that end later.
    """
    ends = list(accumulate(counts.values()))
    return [(label, round(100 * end / ends[-1])) for label, end in zip(counts, ends, strict=True)][
        -2::-1
    ]


@cache
def _titles() -> tuple[dict[str, str], re.Pattern[str]]:
    """What the page of settings calls each, and what finds those with an underscore."""
    titles = {field.name: field.title for field in _policy_form.fields(Policy())}
    names = "|".join(name for name in titles if "_" in name)
    return titles, re.compile(rf"\b(?:{names})\b")


def _with_titles(text: str) -> str:
    """A setting, or a sentence that names some, in the words of the page of settings."""
    titles, named = _titles()
    said = f"“{titles[text]}”" if text in titles else text
    return named.sub(lambda found: f"“{titles[found[0]]}”", said)


@cache
def _environment() -> Environment:
    """The templates, compiled once a process, and what they may call."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "percent": _format_percent,
        "moment": _moment,
        "remaining": _remaining,
        "minutes": spell_minutes,
        "figure": _figure,
        "bar_ends": bar_ends,
        "highlighted": highlight,
        "unmarked": unmark,
        "beginning": beginning,
        "in_words": in_words,
        "labels_in_words": lambda labels: ", ".join(
            in_words(label, is_of_pairs(labels)) for label in labels
        ),
        "with_titles": _with_titles,
        "counted": count_of,
        "thousands": lambda number: f"{number:,}",
    }
    made.globals |= {"money": money, "stamp": _stamp(), "interval": _interval}
    made.globals |= {"longest_comment": LONGEST_COMMENT}
    return made


class Pages:
    """Every template, with what all of them need: the prefix, the proof for forms, the stamp."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._environment = _environment()

    def session(self, request: Request) -> Session:
        """The session of a request, loaded once."""
        state = request.state
        if getattr(state, "session", None) is None:
            state.session = self._sessions.load(request)
        session: Session = state.session
        return session

    def show(
        self, request: Request, template: str, *, status: int = 200, **context: Any
    ) -> Response:
        """A page, or a part of one, as a response."""
        text = self._environment.get_template(template).render(
            root=root(request),
            proof=self._sessions.proof(self.session(request)),
            request_id=request.state.request_id,
            **context,
        )
        return HTMLResponse(text, status_code=status)


def root(request: Request) -> str:
    """The prefix under which a proxy shows the server, to be put before every path."""
    prefix: str = request.scope.get("root_path", "")
    return prefix


def is_htmx(request: Request) -> bool:
    """Whether the script of the page asks, rather than the browser itself."""
    return "hx-request" in request.headers


def go(request: Request, path: str) -> Response:
    """Lead a browser to another page after a form was sent."""
    target = quote(root(request) + path, safe="/%#?=&:@!$'()*+,;")
    if is_htmx(request):
        return Response(status_code=204, headers={"HX-Redirect": target})
    return RedirectResponse(target, status_code=303)


def _stamp() -> str:
    """A mark that changes when a static file does, so that browsers may keep them for ever."""
    digest = hashlib.sha256()
    for file in sorted(STATIC.rglob("*.*")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
