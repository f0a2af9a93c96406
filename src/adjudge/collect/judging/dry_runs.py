"""Dry runs: somebody goes a judge's whole way to see it, and nothing of it counts.

A dry-run judge is taken in beside the others: they use up no place of the random assignment to
arms, their answers are never trusted, and they are in no figure, report or export.
"""

from __future__ import annotations

from typing import Any, Protocol

from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.judging import DRY_RUN
from adjudge.errors import Refused

PARAMETER = "dry_run"  # of a link: whoever comes by it only tries the project out
_NO = ("", "0", "false", "no", "off")


class _Who(Protocol):
    """A judge, or somebody who comes to be one."""

    @property
    def kind(self) -> str:
        """Person, model or dry run."""

    @property
    def channel(self) -> str:
        """By which way they come."""


def is_dry_run(parameters: dict[str, Any]) -> bool:
    """Whether a judge's parameters mark them as one who only tries the project out."""
    return str(parameters.get(PARAMETER, "")).strip().casefold() not in _NO


def arm_of(snapshot: ProjectSnapshot, parameters: dict[str, Any]) -> str:
    """The arm that a dry run looks at: the one its link names, else the first."""
    wanted = str(parameters.get("arm", ""))
    return wanted if wanted in snapshot.arms else next(iter(snapshot.arms))


def check_open(who: _Who, snapshot: ProjectSnapshot, message: str) -> None:
    """Refuse where a project is not open; a dry run may come before it opens, and in a pause.

    Only a requester's own, which is signed: anybody can call himself a dry run in a panel's link.
    """
    signed = who.kind == DRY_RUN and who.channel != "panel"
    if snapshot.state == "open" or (signed and snapshot.state != "closed"):
        return
    raise Refused("not-open", message)
