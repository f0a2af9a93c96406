"""The first schema.

Revision 0001, after none.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema up."""
    op.create_table(
        "requesters",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("public", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("admin", sa.Boolean(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_requesters")),
        sa.UniqueConstraint("name", name=op.f("uq_requesters_name")),
        sa.UniqueConstraint("public", name=op.f("uq_requesters_public")),
    )
    op.create_table(
        "settings",
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_settings")),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("slug", sa.String(length=80), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("owner", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("guidelines", sa.Text(), server_default="", nullable=False),
        sa.Column("scale", sa.JSON(), nullable=False),
        sa.Column("policy", sa.JSON(), nullable=False),
        sa.Column("policy_version", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("arrivals", sa.Integer(), server_default="0", nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["requesters.id"], name=op.f("fk_projects_owner")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("slug", name=op.f("uq_projects_slug")),
    )
    op.create_table(
        "arms",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_arms_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arms")),
        sa.UniqueConstraint("project", "name", name=op.f("uq_arms_project_name")),
    )
    op.create_table(
        "items",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), server_default="", nullable=False),
        sa.Column("query", sa.Text(), server_default="", nullable=False),
        sa.Column("document", sa.Text(), server_default="", nullable=False),
        sa.Column("need", sa.Text(), server_default="", nullable=False),
        sa.Column("category", sa.Text(), server_default="", nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("url", sa.Text(), server_default="", nullable=False),
        sa.Column("image", sa.Text(), server_default="", nullable=False),
        sa.Column("rank", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("gold", sa.Boolean(), nullable=False),
        sa.Column("leased", sa.Integer(), server_default="0", nullable=False),
        sa.Column("trusted", sa.Integer(), server_default="0", nullable=False),
        sa.Column("surplus", sa.Integer(), server_default="0", nullable=False),
        sa.Column("broken", sa.Integer(), server_default="0", nullable=False),
        sa.Column("needed", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_items_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_items")),
        sa.UniqueConstraint("project", "name", name=op.f("uq_items_project_name")),
    )
    with op.batch_alter_table("items", schema=None) as batch_op:
        batch_op.create_index(
            "ix_items_routing",
            ["project", "rank"],
            unique=False,
            sqlite_where=sa.text("state = 'open' AND NOT gold AND needed - leased - trusted > 0"),
            postgresql_where=sa.text(
                "state = 'open' AND NOT gold AND needed - leased - trusted > 0"
            ),
        )

    op.create_table(
        "judges",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("public", sa.String(length=32), nullable=False),
        sa.Column("project", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("channel", sa.String(length=10), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("arm", sa.String(length=80), nullable=False),
        sa.Column("stage", sa.String(length=10), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("by_hand", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("before", sa.String(length=10), nullable=True),
        sa.Column("came", sa.Double(), nullable=False),
        sa.Column("last", sa.Double(), nullable=True),
        sa.Column("consented", sa.Double(), nullable=True),
        sa.Column("attempt", sa.Integer(), server_default="1", nullable=False),
        sa.Column("training_seen", sa.Integer(), server_default="0", nullable=False),
        sa.Column("training_right", sa.Integer(), server_default="0", nullable=False),
        sa.Column("seen", sa.Integer(), server_default="0", nullable=False),
        sa.Column("right", sa.Integer(), server_default="0", nullable=False),
        sa.Column("warned_at", sa.Integer(), nullable=True),
        sa.Column(
            "fresh_from",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            server_default="0",
            nullable=False,
        ),
        sa.Column("made", sa.Integer(), server_default="0", nullable=False),
        sa.Column("pages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("judged", sa.Integer(), server_default="0", nullable=False),
        sa.Column("others", sa.Integer(), server_default="0", nullable=False),
        sa.Column("shown", sa.Integer(), server_default="0", nullable=False),
        sa.Column("golds_shown", sa.Integer(), server_default="0", nullable=False),
        sa.Column("earned", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("page", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "reached",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            server_default="0",
            nullable=False,
        ),
        sa.Column("notice", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_judges_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judges")),
        sa.UniqueConstraint(
            "project", "channel", "key", name=op.f("uq_judges_project_channel_key")
        ),
        sa.UniqueConstraint("public", name=op.f("uq_judges_public")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("public", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("scope", sa.String(length=10), nullable=False),
        sa.Column("project", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "requester", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=True),
        sa.Column("revoked", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("used", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_tokens_project")),
        sa.ForeignKeyConstraint(["requester"], ["requesters.id"], name=op.f("fk_tokens_requester")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_tokens_hash")),
        sa.UniqueConstraint("public", name=op.f("uq_tokens_public")),
    )
    op.create_table(
        "golds",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("accepted", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_golds_item")),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_golds_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_golds")),
        sa.UniqueConstraint("item", name=op.f("uq_golds_item")),
    )
    with op.batch_alter_table("golds", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_golds_project"), ["project"], unique=False)

    op.create_table(
        "invites",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("project", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=True),
        sa.Column("revoked", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("judge", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.ForeignKeyConstraint(["judge"], ["judges.id"], name=op.f("fk_invites_judge")),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_invites_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invites")),
        sa.UniqueConstraint("key", name=op.f("uq_invites_key")),
    )
    with op.batch_alter_table("invites", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_invites_project"), ["project"], unique=False)

    op.create_table(
        "log",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("judge", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("event", sa.String(length=40), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("policy_version", sa.Integer(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["judge"], ["judges.id"], name=op.f("fk_log_judge")),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_log_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_log")),
    )
    with op.batch_alter_table("log", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_log_judge"), ["judge"], unique=False)
        batch_op.create_index("ix_log_project", ["project", "id"], unique=False)

    op.create_table(
        "pages",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("public", sa.String(length=32), nullable=False),
        sa.Column("project", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("judge", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("answered", sa.Double(), nullable=True),
        sa.Column("draft", sa.JSON(), nullable=True),
        sa.Column("outcome", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["judge"], ["judges.id"], name=op.f("fk_pages_judge")),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_pages_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages")),
        sa.UniqueConstraint("public", name=op.f("uq_pages_public")),
    )
    with op.batch_alter_table("pages", schema=None) as batch_op:
        batch_op.create_index(
            "ix_pages_expires",
            ["expires"],
            unique=False,
            sqlite_where=sa.text("state = 'open'"),
            postgresql_where=sa.text("state = 'open'"),
        )
        batch_op.create_index(batch_op.f("ix_pages_judge"), ["judge"], unique=False)
        batch_op.create_index(batch_op.f("ix_pages_project"), ["project"], unique=False)

    op.create_table(
        "judgments",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("judge", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("page", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("other", sa.Boolean(), nullable=False),
        sa.Column("comment", sa.Text(), server_default="", nullable=False),
        sa.Column("standing", sa.String(length=10), nullable=False),
        sa.Column("gold", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("right", sa.Boolean(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("time", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["gold"], ["golds.id"], name=op.f("fk_judgments_gold")),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_judgments_item")),
        sa.ForeignKeyConstraint(["judge"], ["judges.id"], name=op.f("fk_judgments_judge")),
        sa.ForeignKeyConstraint(["page"], ["pages.id"], name=op.f("fk_judgments_page")),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_judgments_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgments")),
        sa.UniqueConstraint("page", "row", name=op.f("uq_judgments_page_row")),
    )
    with op.batch_alter_table("judgments", schema=None) as batch_op:
        batch_op.create_index(
            "ix_judgments_golds",
            ["gold"],
            unique=False,
            sqlite_where=sa.text("gold IS NOT NULL"),
            postgresql_where=sa.text("gold IS NOT NULL"),
        )
        batch_op.create_index(batch_op.f("ix_judgments_item"), ["item"], unique=False)
        batch_op.create_index(batch_op.f("ix_judgments_judge"), ["judge"], unique=False)
        batch_op.create_index(batch_op.f("ix_judgments_project"), ["project"], unique=False)
        batch_op.create_index(
            "uq_judgments_once",
            ["judge", "item"],
            unique=True,
            sqlite_where=sa.text("gold IS NULL"),
            postgresql_where=sa.text("gold IS NULL"),
        )

    op.create_table(
        "page_rows",
        sa.Column("page", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("group", sa.Integer(), nullable=False),
        sa.Column("item", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("gold", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("judge", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["gold"], ["golds.id"], name=op.f("fk_page_rows_gold")),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_page_rows_item")),
        sa.ForeignKeyConstraint(["judge"], ["judges.id"], name=op.f("fk_page_rows_judge")),
        sa.ForeignKeyConstraint(["page"], ["pages.id"], name=op.f("fk_page_rows_page")),
        sa.PrimaryKeyConstraint("page", "row", name=op.f("pk_page_rows")),
    )
    with op.batch_alter_table("page_rows", schema=None) as batch_op:
        batch_op.create_index(
            "ix_page_rows_golds",
            ["judge", "gold"],
            unique=False,
            sqlite_where=sa.text("gold IS NOT NULL"),
            postgresql_where=sa.text("gold IS NOT NULL"),
        )
        batch_op.create_index(batch_op.f("ix_page_rows_item"), ["item"], unique=False)

    op.create_table(
        "contests",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("judge", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("gold", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("judgment", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("settled", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("upheld", sa.Boolean(), nullable=True),
        sa.Column("answer", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["gold"], ["golds.id"], name=op.f("fk_contests_gold")),
        sa.ForeignKeyConstraint(["judge"], ["judges.id"], name=op.f("fk_contests_judge")),
        sa.ForeignKeyConstraint(["judgment"], ["judgments.id"], name=op.f("fk_contests_judgment")),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_contests_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contests")),
        sa.UniqueConstraint("judgment", name=op.f("uq_contests_judgment")),
    )
    with op.batch_alter_table("contests", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_contests_gold"), ["gold"], unique=False)
        batch_op.create_index(batch_op.f("ix_contests_project"), ["project"], unique=False)


def downgrade() -> None:
    """Take the schema back."""
    with op.batch_alter_table("contests", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_contests_project"))
        batch_op.drop_index(batch_op.f("ix_contests_gold"))

    op.drop_table("contests")
    with op.batch_alter_table("page_rows", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_page_rows_item"))
        batch_op.drop_index(
            "ix_page_rows_golds",
            sqlite_where=sa.text("gold IS NOT NULL"),
            postgresql_where=sa.text("gold IS NOT NULL"),
        )

    op.drop_table("page_rows")
    with op.batch_alter_table("judgments", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_judgments_once",
            sqlite_where=sa.text("gold IS NULL"),
            postgresql_where=sa.text("gold IS NULL"),
        )
        batch_op.drop_index(batch_op.f("ix_judgments_project"))
        batch_op.drop_index(batch_op.f("ix_judgments_judge"))
        batch_op.drop_index(batch_op.f("ix_judgments_item"))
        batch_op.drop_index(
            "ix_judgments_golds",
            sqlite_where=sa.text("gold IS NOT NULL"),
            postgresql_where=sa.text("gold IS NOT NULL"),
        )

    op.drop_table("judgments")
    with op.batch_alter_table("pages", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_pages_project"))
        batch_op.drop_index(batch_op.f("ix_pages_judge"))
        batch_op.drop_index(
            "ix_pages_expires",
            sqlite_where=sa.text("state = 'open'"),
            postgresql_where=sa.text("state = 'open'"),
        )

    op.drop_table("pages")
    with op.batch_alter_table("log", schema=None) as batch_op:
        batch_op.drop_index("ix_log_project")
        batch_op.drop_index(batch_op.f("ix_log_judge"))

    op.drop_table("log")
    with op.batch_alter_table("invites", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_invites_project"))

    op.drop_table("invites")
    with op.batch_alter_table("golds", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_golds_project"))

    op.drop_table("golds")
    op.drop_table("tokens")
    op.drop_table("judges")
    with op.batch_alter_table("items", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_items_routing",
            sqlite_where=sa.text("state = 'open' AND NOT gold AND needed - leased - trusted > 0"),
            postgresql_where=sa.text(
                "state = 'open' AND NOT gold AND needed - leased - trusted > 0"
            ),
        )

    op.drop_table("items")
    op.drop_table("arms")
    op.drop_table("projects")
    op.drop_table("settings")
    op.drop_table("requesters")
