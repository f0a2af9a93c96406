"""Links back to a panel: templates that a requester writes, checked, and filled in safely.

The template is the requester's own. What fills it came in a link that anybody can write, so that
values only ever stand in the path or the query, each escaped: no value can change the host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

_LONGEST = 1_000
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_PLACE = re.compile(r"\{([^{}]*)\}")
_HERE = ("localhost", "127.0.0.1", "::1")
_RESERVED = ("dry_run", "arm", "code", "outcome")  # no panel's id may go by these names


def check_parameter(value: str) -> str:
    """Refuse a name that a parameter of a link cannot have; empty is none."""
    if value and (not _NAME.fullmatch(value) or value in _RESERVED):
        wanted = "a name of letters, digits and _ such as PROLIFIC_PID; not " + ", ".join(_RESERVED)
        raise ValueError(wanted)
    return value


def check_template(value: str) -> str:
    """Refuse a template that is no https link, or whose placeholders cannot be filled."""
    if not value:
        return value
    if len(value) > _LONGEST or any(sign <= " " or sign in '\\"<>`\x7f' for sign in value):
        raise ValueError(f"a link of at most {_LONGEST:,} characters without spaces")
    scheme, host = _server(value)
    if not host:
        raise ValueError("https://HOST/..., with placeholders after the host only")
    if scheme != "https" and not (scheme == "http" and host in _HERE):
        raise ValueError("a link that begins with https://")
    for place in _PLACE.findall(value):
        if not _NAME.fullmatch(place):
            raise ValueError(f"{{{place}}} to be {_PLACES}")
    if "{" in _PLACE.sub("", value) or "}" in _PLACE.sub("", value):
        raise ValueError(f"every brace to belong to one of {_PLACES}")
    return value


def _server(link: str) -> tuple[str, str]:
    """The scheme and the host of a link; no host where it is not plain text."""
    try:
        parts = urlsplit(link)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "", ""
    if any(sign in parts.netloc for sign in "@{}"):
        return parts.scheme, ""
    return parts.scheme, host or ""


_PLACES = "{code}, {participant}, {outcome}, or {NAME} of a parameter in the judge's own link"


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """The link with its placeholders filled in; a value that is not there is empty.

    >>> filled("https://panel.example/done?code={code}&who={participant}",
    ...        {"code": "A1", "participant": "x&code=B2"})
    'https://panel.example/done?code=A1&who=x%26code%3DB2'
    """
    return _PLACE.sub(lambda place: _escaped(values.get(place[1], "")), template)


def _escaped(value: str) -> str:
    """A value for a path or a query. Dots alone are dropped: they would climb up a path."""
    return quote(value, safe="", errors="replace") if value.strip(".") else ""
