"""The tables. Times are seconds since 1970 UTC, money is in millionths, ids inside are integers.

What leaves the server are random public ids, never these integers. An item's counters obey, at
every commit: ``leased`` is the number of open pages it is on as work and of its pending labels,
``trusted`` and ``surplus`` the numbers of its judgments of that standing, and
``leased + trusted <= needed``. Where items wait for gold (``gold_before_closing``), a judgment is
pending until its judge is checked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TextClause,
    UniqueConstraint,
    and_,
    bindparam,
    exists,
    false,
    func,
    select,
    text,
    true,
)

from adjudge.collect.values.judging import DRY_RUN

# Migrations, the oldest first.
_MIGRATIONS = Path(__file__).parent / "migrations/versions"
VERSIONS = tuple(sorted(file.name[:4] for file in _MIGRATIONS.glob("[0-9]*.py")))
HEAD = VERSIONS[-1]  # the store is migrated to it on start

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_Big = BigInteger().with_variant(Integer(), "sqlite")  # SQLite numbers rows only by INTEGER


def _id() -> Column[int]:
    return Column("id", _Big, primary_key=True)


def _public() -> Column[str]:
    return Column("public", String(32), nullable=False, unique=True)


def _to(name: str, table: str, *, nullable: bool = False, index: bool = False) -> Column[int]:
    return Column(name, _Big, ForeignKey(f"{table}.id"), nullable=nullable, index=index)


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, server_default="")


def _count(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default="0")


def _index(name: str, *columns: Column[Any], where: TextClause, unique: bool = False) -> None:
    """An index of the rows that a condition holds for."""
    Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


requesters = Table(
    "requesters",
    metadata,
    _id(),
    _public(),
    Column("name", String(200), nullable=False, unique=True),
    Column("password", Text, nullable=False),  # an argon2 hash
    Column("admin", Boolean, nullable=False),
    Column("made", Double, nullable=False),
    Column("guest", Boolean, nullable=False, server_default=false()),  # makes no projects
    Column("disabled", Boolean, nullable=False, server_default=false()),  # may not log in
)

projects = Table(
    "projects",
    metadata,
    _id(),
    Column("slug", String(80), nullable=False, unique=True),
    _text("name"),
    _to("owner", "requesters", nullable=True),
    Column("state", String(10), nullable=False),
    _text("guidelines"),
    Column("scale", JSON, nullable=False),
    Column("policy", JSON, nullable=False),
    Column("policy_version", Integer, nullable=False),
    Column("version", Integer, nullable=False),  # grows with any change that pages depend on
    Column("seed", BigInteger, nullable=False),
    _count("arrivals"),
    Column("made", Double, nullable=False),
    Column("questions", JSON),  # besides the first, whose labels are the scale; None for none
)

arms = Table(
    "arms",
    metadata,
    _id(),
    _to("project", "projects"),
    Column("position", Integer, nullable=False),
    Column("name", String(80), nullable=False),
    Column("settings", JSON, nullable=False),
    UniqueConstraint("project", "name"),
)

items = Table(
    "items",
    metadata,
    _id(),
    _to("project", "projects"),
    Column("name", Text, nullable=False),
    *map(_text, ("topic", "query", "document", "need", "category")),
    *map(_text, ("title", "text", "url", "image")),
    Column("beside", JSON(none_as_null=True)),  # of a pair: the right one's id, title, text, ...
    Column("rank", _Big, nullable=False),  # the routing order
    Column("gold", Boolean, nullable=False),
    _count("leased"),
    _count("trusted"),
    _count("surplus"),
    _count("broken"),  # answers that could not judge it
    Column("needed", Integer, nullable=False),
    Column("state", String(10), nullable=False),
    Column("probability", Double),  # of its likeliest truth, in an adaptive project
    _count("asked"),  # trusted judgments that a requester asked for by hand, 0 for none
    Column("consensus", Text),  # its label by the last fit of the default model
    Column("sure", Double),  # and the probability of that label
    UniqueConstraint("project", "name"),
)
# SQLite uses the index for exactly this condition, and does not see that a < b is b > a.
_HAS_ROOM = text("state = 'open' AND NOT gold AND needed - leased - trusted > 0")
ITEM_HAS_ROOM = text(  # the same where other tables are joined
    "items.state = 'open' AND NOT items.gold AND items.needed - items.leased - items.trusted > 0"
)
_index("ix_items_routing", items.c.project, items.c.rank, where=_HAS_ROOM)

# Items are counted by state from this index alone, group by group.
Index(
    "ix_items_standing",
    *(items.c.project, items.c.gold, items.c.state, items.c.trusted, items.c.needed),
    *(items.c.leased, items.c.broken, items.c.surplus),
)

golds = Table(
    "golds",
    metadata,
    _id(),
    _to("project", "projects", index=True),
    Column("item", _Big, ForeignKey("items.id"), nullable=False, unique=True),
    Column("accepted", JSON, nullable=False),
    _text("reason"),
    Column("reasons", JSON, nullable=False),
    Column("role", String(10), nullable=False),
    Column("active", Boolean, nullable=False, server_default=true()),
    Column("version", Integer, nullable=False),
)

judges = Table(
    "judges",
    metadata,
    _id(),
    _public(),
    _to("project", "projects"),
    Column("channel", String(10), nullable=False),
    Column("key", Text, nullable=False),
    Column("parameters", JSON, nullable=False),
    Column("kind", String(10), nullable=False),
    Column("arm", String(80), nullable=False),
    Column("stage", String(10), nullable=False),
    _text("reason"),
    Column("by_hand", Boolean, nullable=False, server_default=false()),
    Column("before", String(10)),  # the stage before a block by hand
    Column("came", Double, nullable=False),
    Column("last", Double),
    Column("consented", Double),
    Column("attempt", Integer, nullable=False, server_default="1"),
    _count("training_seen"),
    _count("training_right"),
    _count("seen"),
    _count("right"),
    Column("warned_at", Integer),
    Column("fresh_from", _Big, nullable=False, server_default="0"),  # judgments.id: see Record
    _count("made"),  # pages made for them
    _count("pages"),  # pages of work answered
    _count("judged"),
    _count("worked"),  # of them, answers to work rather than to gold
    _count("others"),
    _count("shown"),  # rows shown in pages of work
    _count("golds_shown"),
    Column("earned", BigInteger, nullable=False, server_default="0"),
    Column("page", _Big),  # the page they have open
    Column("reached", _Big, nullable=False, server_default="0"),  # items.rank: see pages._lease
    Column("notice", JSON, nullable=False),
    _text("name"),  # the requester's word for them
    _text("message"),  # from the requester, until they have read it
    UniqueConstraint("project", "channel", "key"),
)

pages = Table(
    "pages",
    metadata,
    _id(),
    _public(),
    _to("project", "projects", index=True),
    _to("judge", "judges", index=True),
    Column("kind", String(10), nullable=False),
    Column("key", String(32), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("made", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("state", String(10), nullable=False),  # open, answered, expired, returned
    Column("answered", Double),
    Column("draft", JSON),
    Column("outcome", JSON),
)
_index("ix_pages_expires", pages.c.expires, where=text("state = 'open'"))

page_rows = Table(
    "page_rows",
    metadata,
    Column("page", _Big, ForeignKey("pages.id"), primary_key=True),
    Column("row", Integer, primary_key=True),
    Column("group", Integer, nullable=False),
    _to("item", "items", index=True),
    _to("gold", "golds", nullable=True),
    _to("judge", "judges"),
    Column("swapped", Boolean, nullable=False, server_default=false()),  # a pair's sides
)
_GOLD = text("gold IS NOT NULL")
_index("ix_page_rows_golds", page_rows.c.judge, page_rows.c.gold, where=_GOLD)

judgments = Table(
    "judgments",
    metadata,
    _id(),
    _to("project", "projects", index=True),
    _to("judge", "judges", index=True),
    _to("item", "items", index=True),
    Column("page", _Big, ForeignKey("pages.id"), nullable=False),
    Column("row", Integer, nullable=False),
    Column("kind", String(10), nullable=False),  # training or work
    Column("label", Text, nullable=False),  # a label of the scale, or one of the others
    Column("other", Boolean, nullable=False),
    _text("comment"),
    Column("standing", String(10), nullable=False),  # trusted, surplus, pending, untrusted
    _to("gold", "golds", nullable=True),
    Column("right", Boolean),
    Column("seconds", Double),
    Column("time", Double, nullable=False),
    Column(
        "answers", JSON(none_as_null=True)
    ),  # to further questions, by their names; None for none
    Column("swapped", Boolean, nullable=False, server_default=false()),  # see values.sides
    UniqueConstraint("page", "row"),
)
_ONCE = (judgments.c.judge, judgments.c.item)
_index("uq_judgments_once", *_ONCE, unique=True, where=text("gold IS NULL"))
_index(  # what an arm has of an item is counted by it
    "ix_judgments_counted",
    *(judgments.c.item, judgments.c.judge),
    where=text("gold IS NULL AND NOT other AND standing = 'trusted'"),
)
_index(  # the few answers that progress counts one by one; others are counted on judges and items
    "ix_judgments_apart",
    *(judgments.c.project, judgments.c.kind, judgments.c.standing, judgments.c.other),
    *(judgments.c.judge, judgments.c.item),
    where=text("gold IS NULL AND (other OR standing = 'untrusted')"),
)
_index("ix_judgments_golds", judgments.c.gold, where=_GOLD)
PENDING = text("judgments.standing = 'pending'")
_index("ix_judgments_pending", judgments.c.judge, where=text("standing = 'pending'"))

adjudications = Table(
    "adjudications",
    metadata,
    _id(),
    _to("project", "projects", index=True),
    _to("item", "items", index=True),
    Column("label", Text, nullable=False),
    _text("reason"),
    Column("by", Text, nullable=False),  # the name of who decided
    Column("time", Double, nullable=False),
    Column("gold", Boolean, nullable=False),  # whether fits take it for gold
    Column("active", Boolean, nullable=False, server_default=true()),
)

contests = Table(
    "contests",
    metadata,
    _id(),
    _to("project", "projects", index=True),
    _to("judge", "judges"),
    _to("gold", "golds", index=True),
    Column("judgment", _Big, ForeignKey("judgments.id"), nullable=False, unique=True),
    _text("text"),
    Column("time", Double, nullable=False),
    Column("settled", Boolean, nullable=False, server_default=false()),
    Column("upheld", Boolean),
    _text("answer"),
)

log = Table(
    "log",
    metadata,
    _id(),
    _to("project", "projects", nullable=True),
    _to("judge", "judges", nullable=True, index=True),
    Column("time", Double, nullable=False),
    Column("event", String(40), nullable=False),
    Column("actor", Text, nullable=False),
    Column("policy_version", Integer, nullable=False),
    Column("figures", JSON, nullable=False),
)
# Whose name an entry has: later ones have ids of requesters, earlier ones their names.
logged_by = func.coalesce(
    select(requesters.c.name)
    .where(requesters.c.public == log.c.actor)
    .correlate(log)
    .scalar_subquery(),
    log.c.actor,
)
Index("ix_log_project", log.c.project, log.c.id)
_index("ix_log_passed", log.c.judge, where=text("event = 'training-passed'"))

tokens = Table(
    "tokens",
    metadata,
    _id(),
    _public(),
    _text("name"),
    Column("scope", String(10), nullable=False),
    _to("project", "projects", nullable=True),
    _to("requester", "requesters"),
    Column("hash", String(64), nullable=False, unique=True),
    Column("made", Double, nullable=False),
    Column("expires", Double),
    Column("revoked", Boolean, nullable=False, server_default=false()),
    Column("used", Double),
)

invites = Table(
    "invites",
    metadata,
    _id(),
    Column("key", String(32), nullable=False, unique=True),
    _to("project", "projects", index=True),
    _text("note"),
    Column("made", Double, nullable=False),
    Column("expires", Double),
    Column("revoked", Boolean, nullable=False, server_default=false()),
    _to("judge", "judges", nullable=True),
)

members = Table(  # besides the owner, whom the project names
    "members",
    metadata,
    Column("project", _Big, ForeignKey("projects.id"), primary_key=True),
    Column("requester", _Big, ForeignKey("requesters.id"), primary_key=True, index=True),
    Column("role", String(10), nullable=False),
    Column("made", Double, nullable=False),
)

member_links = Table(
    "member_links",
    metadata,
    _id(),
    Column("key", String(32), nullable=False, unique=True),
    _to("project", "projects", index=True),
    Column("role", String(10), nullable=False),
    _text("note"),
    Column("made", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("revoked", Boolean, nullable=False, server_default=false()),
    _to("requester", "requesters", nullable=True),  # who came by it
)

outbox = Table(  # messages to webhooks and by mail, until they have arrived
    "outbox",
    metadata,
    _id(),
    _public(),
    _to("project", "projects", index=True),
    Column("event", String(40), nullable=False),
    Column("way", String(10), nullable=False),  # webhook or email
    Column("target", Text, nullable=False),
    Column("body", JSON, nullable=False),
    Column("made", Double, nullable=False, index=True),
    _count("tries"),
    Column("due", Double, index=True),  # of the next try; none when it is sent or given up
    Column("sent", Double),
    _text("problem"),
)


def _of_project() -> Column[int]:
    return Column("project", _Big, ForeignKey("projects.id"), primary_key=True)


def _of_fit() -> tuple[Column[Any], ...]:
    """The columns that name a fit: project, model, and question, empty for the first."""
    question = Column("question", Text, primary_key=True, server_default="")
    return _of_project(), Column("model", String(200), primary_key=True), question


_unset = JSON(none_as_null=True)

fits = Table(  # the fits of models to projects, and when they were asked for
    "fits",
    metadata,
    *_of_fit(),
    Column("asked", Double),
    Column("state", String(10)),  # running, ready or failed; none before the first
    _count("judgments"),  # stored when it was fitted
    Column("seconds", Double),
    _text("made"),
    _text("problem"),
    _count("items"),
    Column("begun", Double, nullable=False, server_default="0"),
    Column("judges", _unset),
    Column("sure", _unset),  # items that could become gold
    Column("report", _unset),
)

fit_labels = Table(  # the labels of a fit, page by page
    "fit_labels",
    metadata,
    *_of_fit(),
    Column("page", Integer, primary_key=True),
    Column("rows", JSON, nullable=False),
)

plans = Table(  # what a plan was asked for, and the last one that was made
    "plans",
    metadata,
    _of_project(),
    Column("accuracy", Double, nullable=False),
    Column("pay_per_page", Text, nullable=False),
    Column("gold_share", Double, nullable=False),
    Column("asked", Double),  # when; none once it is made
    _count("tried"),
    Column("plan", _unset),
)

rankings = Table(  # of side-by-side projects
    "rankings",
    metadata,
    _of_project(),
    Column("ranking", JSON, nullable=False),
    Column("report", _unset),
)

uploads = Table(  # files of requesters that are not stored as items yet
    "uploads",
    metadata,
    Column("name", String(40), primary_key=True),
    _to("requester", "requesters"),
    Column("made", Double, nullable=False),
    Column("files", JSON, nullable=False),
)

drafts = Table(  # the upload that a draft was read from, and the columns that were chosen by hand
    "drafts",
    metadata,
    _of_project(),
    Column("upload", String(40), nullable=False),
    Column("columns", JSON, nullable=False),
)

settings = Table(
    "settings",
    metadata,
    Column("name", String(250), primary_key=True),
    Column("value", JSON, nullable=False),
)


# Judgments that count on their item if their standing allows it.
COUNTED = and_(judgments.c.kind == "work", judgments.c.gold.is_(None), judgments.c.other.is_(False))
# Of them those that are trusted, surplus among them; those of dry runs never are.
TRUSTED_WORK = and_(COUNTED, judgments.c.standing != "untrusted")
DONE = ("closed", "final")  # states of items that need nobody any more
is_real = judges.c.kind != DRY_RUN
NOT_JUDGED = ~exists().where(  # items that a judge has not judged as work
    judgments.c.judge == bindparam("judge"),
    judgments.c.item == items.c.id,
    text("judgments.gold IS NULL"),
)
OPEN_TO_JUDGE = (  # items that a judge could be given, further down the queue than they have come
    items.c.project == bindparam("project"),
    items.c.rank > bindparam("reached"),
    ITEM_HAS_ROOM,
    NOT_JUDGED,
)


def of_real_in(project: int) -> ColumnElement[bool]:
    """The condition on judgments of a project that no dry run made them."""
    dry = select(judges.c.id).where(judges.c.project == project, judges.c.kind == DRY_RUN)
    return judgments.c.judge.not_in(dry)
