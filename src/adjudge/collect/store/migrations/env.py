"""Alembic's entry: runs on the connection it is given, inside that connection's transaction."""

from __future__ import annotations

from alembic import context

from adjudge.collect.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,  # SQLite alters a table by making it again
)
context.run_migrations()
