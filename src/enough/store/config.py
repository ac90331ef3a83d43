"""Where records are kept, and how long to wait for the database."""

from __future__ import annotations

from dataclasses import dataclass

from enough.config import require_at_least
from enough.errors import ConfigError


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """A store's settings.

    Attributes:
        database: a file for SQLite, or a URL postgresql://user:password@host/name.
        wait_s: seconds to wait for another writer or for the server before it is an error.
        cache_mb: memory for vectors of users that were asked for lately; 0 keeps none.
        connections: the most that are open at once.
    """

    database: str = "enough.sqlite"
    wait_s: float = 10.0
    cache_mb: int = 256
    connections: int = 16

    def __post_init__(self) -> None:
        require_at_least(self, {"wait_s": 0.001, "cache_mb": 0, "connections": 1}, "store.")
        if self.database in ("", ":memory:"):
            raise ConfigError("store.database must name a file, or a URL postgresql://...")

    @property
    def is_postgresql(self) -> bool:
        """Whether the database is a server's."""
        return self.database.startswith(("postgresql:", "postgresql+psycopg:", "postgres:"))
