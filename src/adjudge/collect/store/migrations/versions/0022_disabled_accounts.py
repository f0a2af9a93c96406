"""Accounts that are disabled, and messages found by when they were made.

Revision 0022, after 0021.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema up."""
    op.add_column(
        "requesters", sa.Column("disabled", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    op.create_index("ix_outbox_made", "outbox", ["made"])


def downgrade() -> None:
    """Take the schema back."""
    op.drop_index("ix_outbox_made", table_name="outbox")
    op.drop_column("requesters", "disabled")
