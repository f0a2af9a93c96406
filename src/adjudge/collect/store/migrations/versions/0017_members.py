"""Members of projects with their roles, links that make members, and accounts made by them.

Revision 0017, after 0012.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0012"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Bring the schema up."""
    op.create_table(
        "members",
        sa.Column("project", _BIG, nullable=False),
        sa.Column("requester", _BIG, nullable=False),
        sa.Column("role", sa.String(10), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_members_project")),
        sa.ForeignKeyConstraint(
            ["requester"], ["requesters.id"], name=op.f("fk_members_requester")
        ),
        sa.PrimaryKeyConstraint("project", "requester", name=op.f("pk_members")),
    )
    op.create_index(op.f("ix_members_requester"), "members", ["requester"])
    op.create_table(
        "member_links",
        sa.Column("id", _BIG, nullable=False),
        sa.Column("key", sa.String(32), nullable=False),
        sa.Column("project", _BIG, nullable=False),
        sa.Column("role", sa.String(10), nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("revoked", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("requester", _BIG, nullable=True),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_member_links_project")),
        sa.ForeignKeyConstraint(
            ["requester"], ["requesters.id"], name=op.f("fk_member_links_requester")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_member_links")),
        sa.UniqueConstraint("key", name=op.f("uq_member_links_key")),
    )
    op.create_index(op.f("ix_member_links_project"), "member_links", ["project"])
    op.add_column(
        "requesters", sa.Column("guest", sa.Boolean(), server_default=sa.false(), nullable=False)
    )


def downgrade() -> None:
    """Take the schema back."""
    op.drop_column("requesters", "guest")
    op.drop_table("member_links")
    op.drop_table("members")
