"""Judgments that are pending until their judge is checked, found by judge.

Revision 0023, after 0022.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema up."""
    where = sa.text("standing = 'pending'")
    op.create_index(
        "ix_judgments_pending",
        "judgments",
        ["judge"],
        sqlite_where=where,
        postgresql_where=where,
    )


def downgrade() -> None:
    """Take the schema back."""
    op.drop_index("ix_judgments_pending", table_name="judgments")
