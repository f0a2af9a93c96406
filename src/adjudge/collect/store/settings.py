"""Settings of the server in its database: any JSON under a name, and the names for a project."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, insert, select
from sqlalchemy.engine import Connection

from adjudge.collect.store.schema import settings


def read_setting(on: Connection, name: str) -> Any:
    """A setting of the server; None if it was never kept."""
    return on.execute(select(settings.c.value).where(settings.c.name == name)).scalar()


def keep_setting(on: Connection, name: str, value: Any) -> None:
    """Keep a setting of the server."""
    on.execute(delete(settings).where(settings.c.name == name))
    on.execute(insert(settings).values(name=name, value=value))


def find_settings(on: Connection, prefix: str) -> dict[str, Any]:
    """Every setting of the server whose name begins so, by its name."""
    wanted = select(settings.c.name, settings.c.value).where(
        settings.c.name.startswith(prefix, autoescape=True)
    )
    return {row.name: row.value for row in on.execute(wanted.order_by(settings.c.name))}


def name_settings(on: Connection, prefix: str) -> list[str]:
    """The names of settings that begin so, in order, without what is kept under them."""
    wanted = select(settings.c.name).where(settings.c.name.startswith(prefix, autoescape=True))
    return sorted(on.execute(wanted).scalars())


def forget_setting(on: Connection, name: str) -> None:
    """Keep a setting of the server no more."""
    on.execute(delete(settings).where(settings.c.name == name))


def knowledge_name(project: int) -> str:
    """The setting under which what the last fit knows of a project is kept."""
    return f"knowledge:{project}"


def fixed_name(project: int) -> str:
    """The setting under which the accuracy to expect of a fixed number is kept."""
    return f"fixed-accuracy:{project}"


def notify_name(project: int) -> str:
    """The setting under which it is kept who is told what of a project."""
    return f"notify:{project}"


def notified_name(project: int) -> str:
    """The setting under which it is kept how far they have been told."""
    return f"notified:{project}"


def declined_golds(project: int) -> str:
    """The name under which the items are kept that are not to be suggested as gold."""
    return f"gold-declined:{project}"
