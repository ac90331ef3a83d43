"""A bounded mapping in memory that forgets what was used longest ago.

In: keys and values with a size. Out: the values that are still there. Safe for several threads.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class RecentlyUsed(Generic[Key, Value]):
    """Keeps values of at most `capacity` together; one that is larger alone is not kept."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._used = 0
        self._held: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        """The value, which now counts as just used; None if it is not there."""
        with self._lock:
            if (found := self._held.get(key)) is None:
                return None
            self._held.move_to_end(key)
            return found[0]

    def put(self, key: Key, value: Value, size: int = 1) -> None:
        """Add or replace a value; others may have to go."""
        with self._lock:
            _, old_size = self._held.pop(key, (None, 0))
            self._held[key] = (value, size)
            self._used += size - old_size
            while self._used > self._capacity:
                _, (_, freed) = self._held.popitem(last=False)
                self._used -= freed

    def __len__(self) -> int:
        return len(self._held)
