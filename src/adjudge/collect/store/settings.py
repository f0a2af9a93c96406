"""Settings of the server in its database: any JSON under a name, and the names for a project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.engine import Connection

from adjudge.collect.store.schema import settings

_NAMED = select(settings.c.name, settings.c.value).where(
    settings.c.name.in_(bindparam("names", expanding=True))
)


def read_setting(on: Connection, name: str) -> Any:
    """A setting of the server; None if it was never kept."""
    return on.execute(select(settings.c.value).where(settings.c.name == name)).scalar()


def read_settings(on: Connection, names: Sequence[str]) -> dict[str, Any]:
    """Those of some settings of the server that were kept, by name."""
    return {row.name: row.value for row in on.execute(_NAMED, {"names": list(names)})}


def keep_setting(on: Connection, name: str, value: Any) -> None:
    """Keep a setting of the server."""
    on.execute(delete(settings).where(settings.c.name == name))
    on.execute(insert(settings).values(name=name, value=value))


def find_settings(on: Connection, prefix: str) -> dict[str, Any]:
    """Every setting of the server whose name begins so, by its name."""
    statement = select(settings.c.name, settings.c.value).where(
        settings.c.name.startswith(prefix, autoescape=True)
    )
    return {row.name: row.value for row in on.execute(statement.order_by(settings.c.name))}


def forget_setting(on: Connection, name: str) -> None:
    """Keep a setting of the server no more."""
    on.execute(delete(settings).where(settings.c.name == name))


# The names under which pages keep something of a project, by its slug.
slug_names = (
    *("systems:{}", "systems-asked:{}", "systems-runs:{}"),
    *("assigned:{}", "model-runs:{}"),
)
dismissed_names = "dismissed:{}:".format  # how they begin: one per requester

# The names under which something of a project is kept, by its id.
knowledge_name = "knowledge:{}".format  # what the last fit knows
fixed_name = "fixed-accuracy:{}".format  # the accuracy to expect of a fixed number of judgments
notify_name = "notify:{}".format  # who is notified of what
notified_name = "notified:{}".format  # how far they have been notified
mail_keys_name = "mail-keys:{}".format  # the address of a recipient, by the key in their mail
declined_golds = "gold-declined:{}".format  # the items that are not to be suggested as gold
