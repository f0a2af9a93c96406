"""How many new judges may come by a link that anybody can open: a limit without a captcha."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock

from starlette.requests import Request

from adjudge.collect.judging.arriving import Admit, too_many_new
from adjudge.collect.rules.policy import Policy
from adjudge.collect.web._state import state_of

_MOST_NAMES = 20_000
_Limits = Sequence[tuple[int, float]]  # at most so many in so many seconds; 0 is no limit


class Newcomers:
    """When new judges came, by a name for where from: kept in memory, for each process.

    Of several processes each counts for itself, so that at most so many times more get in; what is
    forgotten in a restart is allowed once more.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._came: OrderedDict[str, list[float]] = OrderedDict()

    def admit(self, name: str, limits: _Limits) -> float:
        """Count one more of this name and give 0, or give the seconds that they have to wait."""
        now = self._clock()
        longest = max((seconds for most, seconds in limits if most), default=0.0)
        with self._lock:
            came = [at for at in self._came.get(name, ()) if now - at < longest]
            wait = max((_wait(came, most, seconds, now) for most, seconds in limits), default=0.0)
            if wait <= 0 and longest:
                came.append(now)
            self._came[name] = came
            self._came.move_to_end(name)
            while len(self._came) > _MOST_NAMES:
                self._came.popitem(last=False)
        return wait


def _wait(came: Sequence[float], most: int, seconds: float, now: float) -> float:
    if not most or len(came) < most:
        return 0.0
    return max(0.0, came[-most] + seconds - now)


def _place_of(address: str) -> str:
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
    """What refuses a new judge of a project who comes from where too many came from.

    Only a keyed hash of the address is kept, and nothing of it is logged. The address is found as
    for the login: behind a proxy that is believed, it is what the proxy says.
    """
    state = state_of(request)
    host = request.client.host if request.client else ""
    name = state.keys.digest("newcomer", f"{project}\0{_place_of(host)}")
    admitted = False

    def admit(policy: Policy) -> None:
        nonlocal admitted
        if admitted:  # the store tries a transaction again if it has to
            return
        limits = ((policy.address_per_minute, 60.0), (policy.address_per_hour, 3600.0))
        wait = state.newcomers.admit(name, limits)
        if wait > 0:
            state.metrics.count("newcomers-limited")
            raise too_many_new(wait)
        admitted = True

    return admit
