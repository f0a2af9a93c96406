"""Dry runs: somebody goes a judge's whole way to see it, and nothing of it counts.

A dry-run judge is taken in beside the others: she uses up no place of the random assignment to
arms, her answers are never trusted, and she is in no figure, report or export.
"""

from __future__ import annotations

from typing import Any, Protocol

from sqlalchemy import ColumnElement, select

from adjudge.collect.dossier import Dossier
from adjudge.collect.store.schema import judges, judgments
from adjudge.collect.values import DRY_RUN
from adjudge.errors import Refused

PARAMETER = "dry_run"  # of a link: whoever comes by it only tries the project out
_NO = ("", "0", "false", "no", "off")


class Who(Protocol):
    """A judge, or somebody who comes to be one."""

    @property
    def kind(self) -> str:
        """Person, model or dry run."""

    @property
    def channel(self) -> str:
        """By which way she comes."""


is_real = judges.c.kind != DRY_RUN


def is_dry_run(parameters: dict[str, Any]) -> bool:
    """Whether a judge's parameters mark her as one who only tries the project out."""
    return str(parameters.get(PARAMETER, "")).strip().casefold() not in _NO


def of_real_in(project: int) -> ColumnElement[bool]:
    """The condition on judgments of a project that no dry run made them."""
    dry = select(judges.c.id).where(judges.c.project == project, judges.c.kind == DRY_RUN)
    return judgments.c.judge.not_in(dry)


def arm_of(dossier: Dossier, parameters: dict[str, Any]) -> str:
    """The arm that a dry run looks at: the one its link names, else the first."""
    wanted = str(parameters.get("arm", ""))
    return wanted if wanted in dossier.arms else next(iter(dossier.arms))


def check_open(who: Who, dossier: Dossier, message: str) -> None:
    """Refuse where a project is not open; a dry run may come before it opens, and in a pause.

    Only a requester's own, which is signed: anybody can call himself a dry run in a panel's link.
    """
    signed = who.kind == DRY_RUN and who.channel != "panel"
    if dossier.state == "open" or (signed and dossier.state != "closed"):
        return
    raise Refused("not-open", message)
