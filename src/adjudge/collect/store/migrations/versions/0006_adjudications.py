"""Adjudications: a requester's final label of an item, as a judgment of its own kind.

Revision 0006, after 0004.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0004"
branch_labels = None
depends_on = None

_Big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Bring the schema up."""
    op.create_table(
        "adjudications",
        sa.Column("id", _Big, primary_key=True),
        sa.Column("project", _Big, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("item", _Big, sa.ForeignKey("items.id"), nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("gold", sa.Boolean, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False, server_default=sa.true()),
    )
    op.create_index("ix_adjudications_project", "adjudications", ["project"])
    op.create_index("ix_adjudications_item", "adjudications", ["item"])


def downgrade() -> None:
    """Take the schema back."""
    op.drop_table("adjudications")
