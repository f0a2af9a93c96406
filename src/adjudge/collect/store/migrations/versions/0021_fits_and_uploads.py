"""Tables for fits, plans, rankings and uploads, which were settings of the server.

Revision 0021, after 0020. What existing databases hold is moved. Settings of projects that were
deleted are dropped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TABLES = ("fits", "fit_labels", "plans", "rankings", "drafts", "uploads")
_SETTINGS = sa.table("settings", sa.column("name", sa.String), sa.column("value", sa.JSON))


def upgrade() -> None:
    """Bring the schema up."""
    tables = _create()
    on = op.get_bind()
    names: dict[str, int] = {}  # of projects, as settings were named by them
    for row in on.execute(sa.text("SELECT id, slug, made FROM projects")):
        born = f"{row.slug}@{datetime.fromtimestamp(row.made, UTC).timestamp():.0f}"
        names[hashlib.blake2s(born.encode(), digest_size=9).hexdigest()] = row.id
    fits: dict[tuple[int, str, str], dict[str, Any]] = {}
    plans: dict[int, dict[str, Any]] = {}
    rankings: dict[int, dict[str, Any]] = {}
    for project, _, value in _settings(on, "fits", names):
        for key, fit in value.items():
            known = {**fit, "question": fit.get("question", "")}
            fits.setdefault(_key(project, key), {}).update(known)
    for project, _, value in _settings(on, "fits-asked", names):
        for key, asked in value.items():
            fits.setdefault(_key(project, key), {})["asked"] = asked
    for kind in ("judges", "sure", "report"):
        for project, rest, value in _settings(on, f"fit-{kind}", names):
            if _key(project, rest) in fits:
                fits[_key(project, rest)][kind] = value
    for project, rest, value in _settings(on, "fit-labels", names):
        key, _, page = rest.rpartition(":")
        if _key(project, key) in fits:
            _insert(tables["fit_labels"], _key(project, key), page=int(page), rows=value)
    for project, _, value in _settings(on, "plan", names):
        plans[project] = {"plan": value, **value["wish"]}
    for project, _, value in _settings(on, "plan-asked", names):
        plans.setdefault(project, {}).update({"asked": value["at"], **value["wish"]})
    for project, _, value in _settings(on, "plan-tried", names):
        if project in plans and plans[project].get("asked") == value["at"]:
            plans[project]["tried"] = value["tried"]
    for project, _, value in _settings(on, "ranking", names):
        rankings[project] = {"ranking": value}
    for project, _, value in _settings(on, "ranking-report", names):
        if project in rankings:
            rankings[project]["report"] = value
    for fit, values in fits.items():
        _insert(tables["fits"], fit, **values)
    for project, values in plans.items():
        _insert(tables["plans"], (project,), **values)
    for project, values in rankings.items():
        _insert(tables["rankings"], (project,), **values)
    for project, _, value in _settings(on, "new", names):
        held = {"upload": value["files"], "columns": value["columns"]}
        _insert(tables["drafts"], (project,), **held)
    people = {
        row.public: row.id for row in on.execute(sa.text("SELECT public, id FROM requesters"))
    }
    for requester, name, value in _settings(on, "new-files", people):
        made = float(name.partition("-")[0])
        _insert(tables["uploads"], (), name=name, requester=requester, made=made, **value)


def _of_project() -> sa.Column[int]:
    return sa.Column("project", _BIG, sa.ForeignKey("projects.id"), primary_key=True)


def _of_fit() -> tuple[sa.Column[Any], ...]:
    model = sa.Column("model", sa.String(200), primary_key=True)
    question = sa.Column("question", sa.Text(), server_default="", primary_key=True)
    return _of_project(), model, question


def _create() -> dict[str, sa.Table]:
    """The new tables."""
    return {
        "fits": op.create_table(
            "fits",
            *_of_fit(),
            sa.Column("asked", sa.Double()),
            sa.Column("state", sa.String(10)),
            sa.Column("judgments", sa.Integer(), server_default="0", nullable=False),
            sa.Column("seconds", sa.Double()),
            sa.Column("made", sa.Text(), server_default="", nullable=False),
            sa.Column("problem", sa.Text(), server_default="", nullable=False),
            sa.Column("items", sa.Integer(), server_default="0", nullable=False),
            sa.Column("begun", sa.Double(), server_default="0", nullable=False),
            sa.Column("judges", sa.JSON()),
            sa.Column("sure", sa.JSON()),
            sa.Column("report", sa.JSON()),
        ),
        "fit_labels": op.create_table(
            "fit_labels",
            *_of_fit(),
            sa.Column("page", sa.Integer(), primary_key=True),
            sa.Column("rows", sa.JSON(), nullable=False),
        ),
        "plans": op.create_table(
            "plans",
            _of_project(),
            sa.Column("accuracy", sa.Double(), nullable=False),
            sa.Column("pay_per_page", sa.Text(), nullable=False),
            sa.Column("gold_share", sa.Double(), nullable=False),
            sa.Column("asked", sa.Double()),
            sa.Column("tried", sa.Integer(), server_default="0", nullable=False),
            sa.Column("plan", sa.JSON()),
        ),
        "rankings": op.create_table(
            "rankings",
            _of_project(),
            sa.Column("ranking", sa.JSON(), nullable=False),
            sa.Column("report", sa.JSON()),
        ),
        "drafts": op.create_table(
            "drafts",
            _of_project(),
            sa.Column("upload", sa.String(40), nullable=False),
            sa.Column("columns", sa.JSON(), nullable=False),
        ),
        "uploads": op.create_table(
            "uploads",
            sa.Column("name", sa.String(40), primary_key=True),
            sa.Column("requester", _BIG, sa.ForeignKey("requesters.id"), nullable=False),
            sa.Column("made", sa.Double(), nullable=False),
            sa.Column("files", sa.JSON(), nullable=False),
        ),
    }


def _settings(
    on: sa.Connection, kind: str, owners: dict[str, int]
) -> Iterator[tuple[int, str, Any]]:
    """The settings ``kind:OWNER[:REST]``, as the owner's id, the rest and the value; taken out."""
    owned = _SETTINGS.c.name.startswith(f"{kind}:", autoescape=True)
    for name in on.execute(sa.select(_SETTINGS.c.name).where(owned)).scalars().all():
        this = _SETTINGS.c.name == name
        _, owner, rest = f"{name}:".split(":", 2)
        if owner in owners:
            value = on.execute(sa.select(_SETTINGS.c.value).where(this)).scalar_one()
            yield owners[owner], rest.removesuffix(":"), value
        on.execute(sa.delete(_SETTINGS).where(this))


def _key(project: int, key: str) -> tuple[int, str, str]:
    """The primary key of a fit, whose setting was named ``model`` or ``model@question``."""
    model, _, question = key.partition("@")
    return project, model, question


def _insert(table: sa.Table, key: tuple[Any, ...], **values: Any) -> None:
    named = dict(zip(("project", "model", "question"), key, strict=False))
    op.get_bind().execute(sa.insert(table).values({**values, **named}))


def downgrade() -> None:
    """Take the schema back; fits and plans are made again, and files are sent again."""
    for name in _TABLES:
        op.drop_table(name)
