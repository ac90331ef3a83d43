"""Alembic's entry: runs migrations on the connection that `enough.store.migrating` hands over."""

from __future__ import annotations

from alembic import context

from enough.store.tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,  # SQLite has it, too, as long as we begin the transaction
)
context.run_migrations()
