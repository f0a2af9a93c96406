"""Judgments by arm: an index by which an arm's trusted judgments on an item are counted quickly.

Revision 0004, after 0002.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0002"
branch_labels = None
depends_on = None

_COUNTED = sa.text("gold IS NULL AND NOT other AND standing = 'trusted'")


def upgrade() -> None:
    """Bring the schema up."""
    op.create_index(
        "ix_judgments_counted",
        "judgments",
        ["item", "judge"],
        sqlite_where=_COUNTED,
        postgresql_where=_COUNTED,
    )


def downgrade() -> None:
    """Take the schema back."""
    op.drop_index("ix_judgments_counted", table_name="judgments")
