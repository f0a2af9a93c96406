"""An outbox: what webhooks and mail are to deliver, kept until it is delivered.

Revision 0012, after 0011.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Bring the schema up."""
    op.create_table(
        "outbox",
        sa.Column("id", _BIG, nullable=False),
        sa.Column("public", sa.String(32), nullable=False),
        sa.Column("project", _BIG, nullable=False),
        sa.Column("event", sa.String(40), nullable=False),
        sa.Column("way", sa.String(10), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("due", sa.Double(), nullable=True),
        sa.Column("sent", sa.Double(), nullable=True),
        sa.Column("problem", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_outbox_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint("public", name=op.f("uq_outbox_public")),
    )
    op.create_index(op.f("ix_outbox_project"), "outbox", ["project"])
    op.create_index("ix_outbox_due", "outbox", ["due"])


def downgrade() -> None:
    """Take the schema back."""
    op.drop_table("outbox")
