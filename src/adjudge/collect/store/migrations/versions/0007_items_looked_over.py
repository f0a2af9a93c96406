"""Items know what was asked for by hand, and their label by the last fit.

Revision 0007, after 0006.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema up."""
    op.add_column("items", sa.Column("asked", sa.Integer, nullable=False, server_default="0"))
    op.add_column("items", sa.Column("consensus", sa.Text))
    op.add_column("items", sa.Column("sure", sa.Double))


def downgrade() -> None:
    """Take the schema back."""
    for name in ("sure", "consensus", "asked"):
        op.drop_column("items", name)
