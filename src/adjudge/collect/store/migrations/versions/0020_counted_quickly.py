"""Indexes by which progress is counted without a look at every item and every judgment.

Revision 0020, after 0019.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_APART = sa.text("gold IS NULL AND (other OR standing = 'untrusted')")
_PASSED = sa.text("event = 'training-passed'")


def upgrade() -> None:
    """Bring the schema up."""
    op.create_index(
        "ix_items_standing",
        "items",
        ["project", "gold", "state", "trusted", "needed", "leased", "broken", "surplus"],
    )
    op.create_index(
        "ix_log_passed", "log", ["judge"], sqlite_where=_PASSED, postgresql_where=_PASSED
    )
    op.create_index(
        "ix_judgments_apart",
        "judgments",
        ["project", "kind", "standing", "other", "judge", "item"],
        sqlite_where=_APART,
        postgresql_where=_APART,
    )


def downgrade() -> None:
    """Take the schema back."""
    op.drop_index("ix_judgments_apart", table_name="judgments")
    op.drop_index("ix_log_passed", table_name="log")
    op.drop_index("ix_items_standing", table_name="items")
