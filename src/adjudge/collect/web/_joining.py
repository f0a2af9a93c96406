"""Ways to come to a project: signed links that expire, and what panels put in theirs."""

from __future__ import annotations

import ipaddress
import time
from dataclasses import asdict
from datetime import datetime

from starlette.requests import Request

from adjudge.collect.judging.arriving import MEMBER, Admit, too_many_new
from adjudge.collect.judging.arriving import PARAMETER as DRY_RUNS
from adjudge.collect.rules.policy import Policy
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.judging import DRY_RUN, Arrival, JudgeView, ProjectView
from adjudge.collect.values.requesting import Invite, MemberLink
from adjudge.collect.web._pages import root
from adjudge.collect.web._security import Forged
from adjudge.collect.web._state import State, state_of
from adjudge.errors import NotFound, Refused

_DAY = 86_400.0
_HOUR = 3_600.0
_PARTICIPANT = ("PROLIFIC_PID", "participant")  # names of the id, where the policy has none
_LONGEST = 200  # characters of one parameter


def welcome(state: State, project: str) -> ProjectView:
    """What a stranger may know of a project: ``NotFound`` where only those with a link come."""
    if "open" not in state.services.projects.get_policy(project)[0].channels:
        raise NotFound("project", project)
    return state.judging.project(project)


def check_way(state: State, arrival: Arrival) -> None:
    """Raise ``NotFound`` for somebody new who comes in a way that the project does not have."""
    ways = state.services.projects.get_policy(arrival.project)[0].channels
    if arrival.channel not in ways and state.judging.find(arrival) is None:
        raise NotFound("project", arrival.project)


def from_panel(request: Request, project: str) -> Arrival | None:
    """Who comes from a panel, which puts a participant's id in the link."""
    given = request.query_params
    if not given:
        return None
    named = state_of(request).judging.participant_parameter(project)
    names = (named,) if named else _PARTICIPANT
    key = next((given[name] for name in names if given.get(name)), "")
    if not key:
        return None
    parameters = {name: value for name, value in given.items() if name not in names}
    texts = [key, *parameters, *parameters.values()]
    if len(parameters) > 20 or any(len(text) > _LONGEST or "\0" in text for text in texts):
        raise Refused("bad-form", f"a parameter of this link is over {_LONGEST} characters")
    return Arrival(project=project, channel="panel", key=key, parameters=parameters)


def invite_link(request: Request, invite: Invite) -> str:
    """The link of an invitation: short, since its key alone is more than anybody could guess."""
    return f"{origin(request)}{root(request)}/i/{invite.invite}"


def member_link(request: Request, link: MemberLink) -> str:
    """The address by which somebody becomes a member of a project."""
    return f"{origin(request)}{root(request)}/member/{link.link}"


def from_invite(state: State, key: str) -> Arrival:
    """Who comes by the link of an invitation, which ends when the invitation does."""
    invite = state.judging.find_invite(key) if len(key) <= _LONGEST else None
    if invite is None or invite.revoked:
        raise Refused("invite-unknown", "this invitation is not known, or was taken back")
    if _ends(invite.expires, invite.made, state.settings.join_days) < time.time():
        raise Refused("link-expired", "this link has expired; ask for a new one")
    return Arrival(project=invite.project, channel="invite", key=invite.invite)


def resume_link(request: Request, view: JudgeView) -> str:
    """The link by which a judge goes on with their own work on another device."""
    state = state_of(request)
    # By the day, so that the same page is the same page when it is loaded again.
    ends = int((time.time() // _DAY + 1 + state.settings.judge_days) * _DAY)
    return _link(request, {"p": view.project, "j": view.judge, "e": ends})


def dry_run_link(request: Request, project: str, arm: str, member: str) -> str:
    """A link by which a member tries the project out, as one judge of their own, for a day."""
    held = {"p": project, "d": f"dry-run-{make_id()}", "a": arm, "m": member}
    return _link(request, {**held, "e": int(time.time() + _DAY)})


def _ends(expires: datetime | None, made: datetime, days: float) -> int:
    return int(expires.timestamp() if expires is not None else made.timestamp() + days * _DAY)


def _link(request: Request, held: dict[str, object]) -> str:
    token = state_of(request).keys.sign("join", held)
    return f"{origin(request)}{root(request)}/join/{token}"


def origin(request: Request) -> str:
    """The scheme and host of the server: as it was started with, else as the browser came."""
    given = state_of(request).settings.address
    return given or f"{request.url.scheme}://{request.url.netloc}"


def from_link(state: State, token: str) -> Arrival | tuple[str, str]:
    """Who comes by a signed link: an invited judge, or (project, judge) of one who goes on."""
    try:
        held = state.keys.open("join", token)
    except Forged:
        raise Refused(
            "link-forged", "this link is not one of ours, or a part of it is missing"
        ) from None
    if held["e"] < time.time():
        raise Refused("link-expired", "this link has expired; ask for a new one")
    if "j" in held:
        return held["p"], held["j"]
    if "d" in held:
        parameters = {DRY_RUNS: "1", "arm": held["a"], MEMBER: held.get("m", "")}
        return Arrival(
            project=held["p"], channel="open", key=held["d"], parameters=parameters, kind=DRY_RUN
        )
    return Arrival(project=held["p"], channel="invite", key=held["i"])


def is_another(request: Request, arrival: Arrival | tuple[str, str]) -> bool:
    """Whether the browser is a judge of the project already, and not the one that a link names.

    Who only tries the project out may be as many judges as they like.
    """
    state = state_of(request)
    project = arrival.project if isinstance(arrival, Arrival) else arrival[0]
    present = state.pages.session(request).judges.get(project)
    if present is None:
        return False
    named = state.judging.find(arrival) if isinstance(arrival, Arrival) else arrival[1]
    if named == present:
        return False
    try:
        return state.judging.state(present).kind != DRY_RUN
    except (NotFound, Refused):  # they are nobody any more
        return False


def ticket_of(state: State, arrival: Arrival | tuple[str, str]) -> str:
    """Return what a link said, signed, to be sent with the answer to whether it is meant."""
    held = asdict(arrival) if isinstance(arrival, Arrival) else list(arrival)
    return state.keys.sign("another", held)


def from_ticket(state: State, project: str, ticket: str) -> Arrival | tuple[str, str]:
    """Return who comes by a link that was asked about."""
    try:
        held = state.keys.open("another", ticket, _HOUR)
    except Forged:
        held = ["", ""]
    arrival = Arrival(**held) if isinstance(held, dict) else (held[0], held[1])
    if (arrival.project if isinstance(arrival, Arrival) else arrival[0]) != project:
        raise Refused(
            "link-forged", "this link is not one of ours, or it is too old: open it again"
        )
    return arrival


def place_of(address: str) -> str:
    """What counts as one address: of IPv6 the first half, since one household has all of it.

    >>> place_of("2001:db8:1:2:aaaa::1") == place_of("2001:db8:1:2:bbbb::9")
    True
    """
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address):
        if known.ipv4_mapped is not None:
            return str(known.ipv4_mapped)
        return str(ipaddress.ip_network((known, 64), strict=False))
    return str(known)


def newcomer(request: Request, project: str) -> Admit:
    """Return what refuses a new judge who comes from where too many came from: no captcha needed.

    Only a keyed hash of the address is kept, and nothing of it is logged. The address is found as
    for the login: behind a proxy that is believed, it is what the proxy says.
    """
    state = state_of(request)
    host = request.client.host if request.client else ""
    name = state.keys.digest("newcomer", f"{project}\0{place_of(host)}")
    admitted = False

    def admit(policy: Policy) -> None:
        nonlocal admitted
        if admitted:  # the store tries a transaction again if it has to
            return
        limits = ((policy.address_per_minute, 60.0), (policy.address_per_hour, 3600.0))
        wait = state.newcomers.admit([name], limits)
        if wait > 0:
            state.metrics.count("newcomers-limited")
            raise too_many_new(wait)
        admitted = True

    return admit
