"""The tables, the same in SQLite and PostgreSQL. `migrations` makes them; a test compares the two.

Texts and vectors lie in blocks of up to 64 records of one owner (`blocks` says why). What is looked
up by is never a text but its digest: any text can then be an id, whatever the database makes of
unicode, and no b-tree holds a word of a user.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
    text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from enough.disk_cache import cache_key

VERSION_TABLE = "enough_schema"


class Name(TypeDecorator[str]):
    """Any text, surrogates and NUL included, compared byte by byte."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        """To bytes."""
        return None if value is None else name_bytes(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        """And back."""
        return None if value is None else name_text(value)


def name_bytes(text: str) -> bytes:
    """A name as it is stored."""
    return text.encode("utf-8", "surrogatepass")


def name_text(stored: bytes) -> str:
    """And back."""
    return bytes(stored).decode("utf-8", "surrogatepass")


def digest(*parts: str) -> bytes:
    """The 16 bytes a user, a record or an item is looked up by."""
    return cache_key(*parts)


# SQLite counts up only what it calls INTEGER.
_Id = BigInteger().with_variant(Integer, "sqlite")
metadata = MetaData()

# Ids are never used again (autoincrement), so what is remembered under one is never another's.
owner = Table(
    "enough_owner",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("tenant", Name, nullable=False),
    Column("user_key", LargeBinary, nullable=False),
    Column("task", Name, nullable=False),
    Column("fingerprint", Name, nullable=False),
    Column("version", BigInteger, nullable=False),  # grows with every change
    Column("next_sequence", BigInteger, nullable=False),
    Column("records", BigInteger, nullable=False),
    UniqueConstraint("tenant", "user_key", "task", name="enough_owner_key"),
    Index("enough_owner_list", "tenant", "id"),
    sqlite_autoincrement=True,
)


def _owner_id() -> Column[int]:
    target = ForeignKey("enough_owner.id", ondelete="CASCADE")
    return Column("owner_id", _Id, target, primary_key=True)


# Where each record is: in the block that begins with sequence number `block`.
place = Table(
    "enough_place",
    metadata,
    _owner_id(),
    Column("id_key", LargeBinary, primary_key=True),
    Column("source_key", LargeBinary),
    Column("block", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
Index(
    "enough_place_source",
    place.c.owner_id,
    place.c.source_key,
    sqlite_where=text("source_key IS NOT NULL"),
    postgresql_where=text("source_key IS NOT NULL"),
)

# The big column is the last one: SQLite reads a row only as far as it is asked to.
text_block = Table(
    "enough_text_block",
    metadata,
    _owner_id(),
    Column("block", BigInteger, primary_key=True, autoincrement=False),
    Column("version", BigInteger, nullable=False),  # the owner's, when this block last changed
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
vector_block = Table(
    "enough_vector_block",
    metadata,
    _owner_id(),
    Column("encoder_key", LargeBinary, primary_key=True),
    Column("block", BigInteger, primary_key=True, autoincrement=False),
    Column("version", BigInteger, nullable=False),  # of the text block these vectors belong to
    Column("count", Integer, nullable=False),
    Column("dim", Integer, nullable=False),
    Column("longest", Double, nullable=False),
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

api_key = Table(
    "enough_api_key",
    metadata,
    Column("id", Name, primary_key=True),
    Column("tenant", Name, nullable=False),
    Column("secret_digest", LargeBinary, nullable=False),
    Column("scopes", Name, nullable=False),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("revoked", DateTime(timezone=True)),
    Index("enough_api_key_tenant", "tenant", "created"),
)

WITH_RECORDS = (owner, place, text_block, vector_block)
