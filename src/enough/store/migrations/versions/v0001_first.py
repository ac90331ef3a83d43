"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_BYTES = sa.LargeBinary


def upgrade() -> None:
    """Owners, places, blocks and keys."""
    op.create_table(
        "enough_owner",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        sa.Column("tenant", _BYTES, nullable=False),
        sa.Column("user_key", _BYTES, nullable=False),
        sa.Column("task", _BYTES, nullable=False),
        sa.Column("fingerprint", _BYTES, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("next_sequence", sa.BigInteger, nullable=False),
        sa.Column("records", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("tenant", "user_key", "task", name="enough_owner_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("enough_owner_list", "enough_owner", ["tenant", "id"])
    op.create_table(
        "enough_place",
        _owner_id(),
        sa.Column("id_key", _BYTES, primary_key=True),
        sa.Column("source_key", _BYTES),
        sa.Column("block", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    known = sa.text("source_key IS NOT NULL")
    op.create_index(
        "enough_place_source",
        "enough_place",
        ["owner_id", "source_key"],
        sqlite_where=known,
        postgresql_where=known,
    )
    op.create_table(
        "enough_text_block",
        _owner_id(),
        sa.Column("block", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("data", _BYTES, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "enough_vector_block",
        _owner_id(),
        sa.Column("encoder_key", _BYTES, primary_key=True),
        sa.Column("block", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("dim", sa.Integer, nullable=False),
        sa.Column("longest", sa.Double, nullable=False),
        sa.Column("data", _BYTES, nullable=False),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "postgresql":
        # Vectors do not get smaller: do not try to compress them on every write.
        op.execute("ALTER TABLE enough_vector_block ALTER COLUMN data SET STORAGE EXTERNAL")
    op.create_table(
        "enough_api_key",
        sa.Column("id", _BYTES, primary_key=True),
        sa.Column("tenant", _BYTES, nullable=False),
        sa.Column("secret_digest", _BYTES, nullable=False),
        sa.Column("scopes", _BYTES, nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked", sa.DateTime(timezone=True)),
    )
    op.create_index("enough_api_key_tenant", "enough_api_key", ["tenant", "created"])


def _owner_id() -> sa.Column[int]:
    target = sa.ForeignKey("enough_owner.id", ondelete="CASCADE")
    return sa.Column("owner_id", _ID, target, primary_key=True)
