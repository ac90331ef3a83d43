"""An encoder that computes no vector twice: not in a call, not in a run, not in the next run.

In: any `Encoder`. Out: the same vectors, bit for bit, from memory or disk where they are known.
Keys hold the encoder's fingerprint, so encoders can share a file; so can several processes.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from enough.disk_cache import DiskCache, cache_key, cache_root
from enough.errors import CacheError
from enough.protocols import Encoder, Floats, ThreadedEncoder
from enough.retrieval.ranking import unique
from enough.retrieval.recently_used import RecentlyUsed

log = logging.getLogger(__name__)

_WRITE_EVERY = 256  # texts; what a kill can cost where each is encoded alone
_BATCHES = 64  # of an encoder that takes many rows of one length together, which must be there
_NUMBERS_IN_MEMORY = 16_000_000  # 64 MB

# Vectors are stored as little-endian float32. Half of that would do for ranking, but then a vector
# would change the moment it comes from the cache, and with it every near tie.
_STORED = np.dtype("<f4")


class CachedEncoder:
    """Wraps an encoder; `path` is an SQLite file, by default one in the user's cache folder."""

    def __init__(self, encoder: Encoder, path: Path | None = None) -> None:
        self.fingerprint: str = encoder.fingerprint
        self.encoder = encoder
        rows = encoder.batch_rows if isinstance(encoder, ThreadedEncoder) else 1
        self._portion = _WRITE_EVERY if rows == 1 else _BATCHES * rows
        self._disk = DiskCache(path or cache_root() / "embeddings.sqlite")
        self._memory: RecentlyUsed[bytes, Floats] = RecentlyUsed(_NUMBERS_IN_MEMORY)

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        """Vectors [len(texts), dim]."""
        if not texts:
            return self.encoder.encode([], kind)
        distinct, places = unique(texts)
        keys = [cache_key(self.fingerprint, kind, text) for text in distinct]
        found = self._known(keys)
        missing = [i for i, key in enumerate(keys) if key not in found]
        if missing:
            log.debug("%d of %d texts are new", len(missing), len(distinct))
            # Like lengths together: the encoder's batches are then full also within a write batch.
            missing.sort(key=lambda i: len(distinct[i]), reverse=True)
        for start in range(0, len(missing), self._portion):
            batch = missing[start : start + self._portion]
            vectors = self.encoder.encode([distinct[i] for i in batch], kind)
            new = {keys[i]: vector for i, vector in zip(batch, vectors, strict=True)}
            self._disk.put_many({k: v.astype(_STORED).tobytes() for k, v in new.items()})
            found.update(new)
            self._remember(new)
        if len({vector.shape for vector in found.values()}) > 1:
            raise CacheError(f"{self._disk.path}: vectors of several sizes; delete the file")
        return np.stack([found[key] for key in keys])[places]

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Floats]:
        found = {key: held for key in keys if (held := self._memory.get(key)) is not None}
        stored = self._disk.get_many(key for key in keys if key not in found)
        read = {k: np.frombuffer(v, _STORED).astype(np.float32) for k, v in stored.items()}
        self._remember(read)
        return found | read

    def _remember(self, vectors: dict[bytes, Floats]) -> None:
        for key, vector in vectors.items():
            self._memory.put(key, vector.copy(), vector.size)  # a view would hold its whole batch
