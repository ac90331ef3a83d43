"""What is remembered of users between their requests: embeddings, portraits and tokens of records.

In: a tenant and a user. Out: a `UserMemory`, the only one that user's requests touch; nothing is
shared with another user or tenant, and dropping it leaves nothing. All memories together stay below
a size; the one used longest ago goes first, and one that nobody has used for a while goes, too.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal

import numpy as np

from enough.controller.portraits import Known
from enough.data.leakage import Recognised
from enough.disk_cache import cache_key
from enough.prompts.prompter import Prompter
from enough.protocols import Encoder, Floats
from enough.service.encoding import SharedEncoder

Whose = tuple[str, str]
"""A tenant and a user."""

_SEGMENTS = 4096  # records of one user whose tokens and portraits are remembered
_RECOGNISED = 4_000_000  # bytes of one user
_OF_A_USER, _OF_A_VECTOR = 8000, 1000  # bytes beside vectors: tables, texts, tokens; about


class UserMemory:
    """Of one user."""

    def __init__(self, whose: Whose, prompter: Prompter) -> None:
        self.whose = whose
        self.prompter = prompter.apart(_SEGMENTS)
        self.vectors: dict[bytes, Floats] = {}
        self.recalled: dict[str, set[str]] = {}  # by task: ids the store was asked about
        self.recognised = Recognised()
        self.portraits: Known = {}
        self.portrayed = 0  # of them counted, and how many bytes these have
        self.portrait_bytes = 0
        self.counted = 0  # bytes of what is recognised and portrayed
        self.size = _OF_A_USER
        self.used = time.monotonic()


class Memories:
    """At most `capacity` bytes of all that, about; a record that was decided about takes 9 kB.

    Args:
        prompter: each user's own has its tokenizer.
        capacity: in bytes.
        idle_s: after which an unused memory is dropped by `forget_idle`.
    """

    def __init__(self, prompter: Prompter, capacity: int, idle_s: float = 900.0) -> None:
        self._prompter = prompter
        self._capacity = capacity
        self._idle_s = idle_s
        self._used = 0
        self._held: OrderedDict[Whose, UserMemory] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, tenant: str, user: str) -> UserMemory:
        """The user's memory; a new one if there is none."""
        whose = (tenant, user)
        with self._lock:
            if (found := self._held.get(whose)) is None:
                found = self._held[whose] = UserMemory(whose, self._prompter)
                self._used += found.size
                self._shrink()
            if whose in self._held:
                self._held.move_to_end(whose)
            found.used = time.monotonic()
            return found

    def add(self, memory: UserMemory, vectors: dict[bytes, Floats]) -> None:
        """Remember vectors; if the user was dropped meanwhile, only the caller still has them."""
        size = sum(vector.nbytes + _OF_A_VECTOR for vector in vectors.values())
        with self._lock:
            memory.vectors.update(vectors)
            memory.size += size
            if self._held.get(memory.whose) is not memory:
                return
            self._used += size
            self._shrink()

    def recount(self, memory: UserMemory) -> None:
        """Count what rules and decisions have made of records; begin anew when it is much."""
        with self._lock:
            if memory.recognised.size > _RECOGNISED:
                memory.recognised = Recognised()
            if memory.portrayed > _SEGMENTS:
                memory.portraits, memory.portrayed, memory.portrait_bytes = {}, 0, 0
            if len(memory.portraits) > memory.portrayed:
                new = list(memory.portraits.items())[memory.portrayed :]  # others may be adding
                memory.portrayed += len(new)
                memory.portrait_bytes += sum(
                    portrait.size + _OF_A_VECTOR + 2 * record.letters for record, portrait in new
                )  # its texts, and their tokens
            grown = memory.recognised.size + memory.portrait_bytes - memory.counted
            memory.counted += grown
            memory.size += grown
            if self._held.get(memory.whose) is memory:
                self._used += grown
                self._shrink()

    def drop(self, tenant: str, user: str) -> None:
        """Forget a user; what is being computed for them now is forgotten, too."""
        with self._lock:
            self._remove((tenant, user))

    def forget_idle(self) -> None:
        """Drop what nobody used lately: another process may have erased those users."""
        since = time.monotonic() - self._idle_s
        with self._lock:
            for whose in [w for w, memory in self._held.items() if memory.used < since]:
                self._remove(whose)

    @property
    def size(self) -> int:
        """Bytes."""
        return self._used

    def _shrink(self) -> None:
        while self._used > self._capacity:
            _, oldest = self._held.popitem(last=False)
            self._used -= oldest.size

    def _remove(self, whose: Whose) -> None:
        if (found := self._held.pop(whose, None)) is not None:
            self._used -= found.size


def remember(
    memories: Memories, memory: UserMemory, texts: Sequence[str], encoder: Encoder
) -> None:
    """Embed what the memory does not know yet, as documents."""
    missing = {key: text for text in texts if (key := cache_key(text)) not in memory.vectors}
    if missing:
        made = encoder.encode(list(missing.values()), "document")
        memories.add(memory, {k: row.copy() for k, row in zip(missing, made, strict=True)})


class RememberedEncoder:
    """An encoder that asks one user's memory first. Implements `protocols.Encoder`.

    Args:
        encoder: who is asked for the rest.
        memories: where new vectors are kept.
        memory: the user's.
        query: the request's own text and vector, which are never kept.
    """

    def __init__(
        self,
        encoder: SharedEncoder,
        memories: Memories,
        memory: UserMemory,
        query: tuple[str, Floats],
    ) -> None:
        self.fingerprint = encoder.fingerprint
        self._encoder, self._memories, self._memory = encoder, memories, memory
        self._query, self._vector = query

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        """Vectors [len(texts), dim]."""
        if kind == "query" or not texts:
            if list(texts) == [self._query]:
                return self._vector[None]
            return self._encoder.encode(texts, kind)
        keys = [cache_key(text) for text in texts]
        known = self._memory.vectors
        # A rule may compare the request's own text, which is embedded already and never kept.
        query_key = cache_key(self._query)
        own = {query_key: self._vector} if self._encoder.is_symmetric else {}
        missing = {
            key: text
            for key, text in zip(keys, texts, strict=True)
            if key not in known and key not in own
        }
        if missing:
            made = self._encoder.encode(list(missing.values()), kind)
            fresh = {key: row.copy() for key, row in zip(missing, made, strict=True)}
            self._memories.add(self._memory, {k: v for k, v in fresh.items() if k != query_key})
            own |= fresh
        # `known` can lose nothing while it is read: a memory is dropped whole, never in part.
        return np.stack([own[key] if key in own else known[key] for key in keys])
