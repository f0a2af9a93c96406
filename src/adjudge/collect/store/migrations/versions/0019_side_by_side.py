"""Pairs: the result shown next to an item's own, and on which side a judge saw which.

Revision 0019, after 0018.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema up."""
    op.add_column("items", sa.Column("beside", sa.JSON(), nullable=True))
    for table in ("page_rows", "judgments"):
        op.add_column(
            table, sa.Column("swapped", sa.Boolean(), server_default=sa.false(), nullable=False)
        )


def downgrade() -> None:
    """Take the schema back."""
    for table in ("judgments", "page_rows"):
        op.drop_column(table, "swapped")
    op.drop_column("items", "beside")
