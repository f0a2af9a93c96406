"""Judges have names in the requester's words, and can be sent a message.

Revision 0011, after 0007.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema up."""
    for name in ("name", "message"):
        op.add_column("judges", sa.Column(name, sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    """Take the schema back."""
    for name in ("message", "name"):
        op.drop_column("judges", name)
