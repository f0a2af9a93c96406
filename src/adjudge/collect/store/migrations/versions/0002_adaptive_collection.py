"""Adaptive collection: how sure an item is, work answered by a judge, longer names of settings.

Revision 0002, after 0001.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema up."""
    op.add_column("items", sa.Column("probability", sa.Double(), nullable=True))
    op.add_column("judges", sa.Column("worked", sa.Integer(), server_default="0", nullable=False))
    op.execute(
        "UPDATE judges SET worked = (SELECT count(*) FROM judgments WHERE "
        "judgments.judge = judges.id AND judgments.kind = 'work' AND judgments.gold IS NULL)"
    )
    with op.batch_alter_table("settings", schema=None) as batch_op:
        batch_op.alter_column(
            "name", existing_type=sa.String(80), type_=sa.String(250), existing_nullable=False
        )


def downgrade() -> None:
    """Take the schema back."""
    with op.batch_alter_table("settings", schema=None) as batch_op:
        batch_op.alter_column(
            "name", existing_type=sa.String(250), type_=sa.String(80), existing_nullable=False
        )
    op.drop_column("judges", "worked")
    op.drop_column("items", "probability")
