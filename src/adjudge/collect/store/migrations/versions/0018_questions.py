"""Further questions of a project, and their answers with each judgment.

Revision 0018, after 0017.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema up."""
    op.add_column("projects", sa.Column("questions", sa.JSON(), nullable=True))
    op.add_column("judgments", sa.Column("answers", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Take the schema back."""
    op.drop_column("judgments", "answers")
    op.drop_column("projects", "questions")
