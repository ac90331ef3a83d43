"""Who is asking: from an Authorization header to a key, its tenant and scopes.

In: headers. Out: an `ApiKey`, or a `ProblemError` with 401, 403 or 429. A key is remembered for a
second at most, so one revoked by another process opens nothing a second later; secrets are
remembered as digests alone.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from enough.service.problems import ProblemError, unauthorized
from enough.service.store_door import StoreDoor
from enough.store.values import ApiKey, Scope

DEFAULT_TENANT = "default"
_OPEN_KEY = ApiKey("open", DEFAULT_TENANT, frozenset(Scope), datetime(2000, 1, 1, tzinfo=UTC))
_REMEMBERED_S = 1.0
_MOST = 4096
_LOOPBACK_NAMES = {"localhost", "127.0.0.1", "::1"}


class Gate:
    """Checks keys and counts their requests.

    Args:
        door: where keys are.
        is_open: whether requests without a key are the default tenant's.
        per_minute: requests of one key; 0 for no limit.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        door: StoreDoor,
        *,
        is_open: bool,
        per_minute: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._door, self._is_open, self._clock = door, is_open, clock
        self._known: OrderedDict[bytes, tuple[ApiKey, float]] = OrderedDict()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._per_minute = per_minute
        self._lock = threading.Lock()

    def known(self, headers: Mapping[str, str]) -> ApiKey | None:
        """The key, if no database has to be asked for it.

        Raises:
            ProblemError: if there is none and one is needed.
        """
        given = headers.get("authorization")
        if given is None:
            if self._is_open:
                _require_loopback_name(headers.get("host", ""))
                _require_no_other_site(headers.get("sec-fetch-site", ""))
                return _OPEN_KEY
            raise unauthorized("send an API key: Authorization: Bearer enough-...")
        with self._lock:
            found = self._known.get(_digest(_secret(given)))
        return found[0] if found is not None and self._clock() < found[1] else None

    def check(self, headers: Mapping[str, str]) -> ApiKey:
        """The key, by the database."""
        secret = _secret(headers.get("authorization", ""))
        until = self._clock() + _REMEMBERED_S  # from before the look-up
        key = self._door.open().keys.check(secret)
        with self._lock:
            self._known[_digest(secret)] = (key, until)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return key

    def forget(self) -> None:
        """After a key was revoked here: ask the database again."""
        with self._lock:
            self._known.clear()

    def require(self, key: ApiKey, scope: Scope) -> None:
        """Refuse a key without the scope."""
        if scope not in key.scopes:
            raise ProblemError(
                403, "forbidden", f"this API key has no scope {scope.value!r}; make one that has"
            )

    def count(self, key: ApiKey) -> None:
        """Refuse a key that asks too often; what it may ask comes back evenly over the minute."""
        if not self._per_minute:
            return
        rate, now = self._per_minute / 60, self._clock()
        with self._lock:
            left, since = self._buckets.pop(key.id, (float(self._per_minute), now))
            left = min(self._per_minute, left + (now - since) * rate)
            is_allowed = left >= 1
            self._buckets[key.id] = (left - is_allowed, now)
            while len(self._buckets) > _MOST:
                self._buckets.popitem(last=False)
        if not is_allowed:
            raise ProblemError(
                429,
                "rate_limited",
                f"more than {self._per_minute} requests per minute with this key; wait",
                headers={"Retry-After": str(max(1, round((1 - left) / rate)))},
            )


def _secret(header: str) -> str:
    kind, _, secret = header.partition(" ")
    if kind.lower() != "bearer" or not secret.strip():
        raise unauthorized("the header must be: Authorization: Bearer <API key>")
    return secret.strip()


def _require_no_other_site(site: str) -> None:
    """Nor may a page of another site: some requests need no permission of the browser's."""
    if site.lower() == "cross-site":
        raise ProblemError(403, "forbidden", "without keys no page of another site may ask")


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _require_loopback_name(host: str) -> None:
    """An open service is this machine's. A page in a browser must not reach it by another name."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if name.strip("[]").lower() not in _LOOPBACK_NAMES:
        raise ProblemError(
            403, "forbidden", "without keys this service answers to localhost alone, by that name"
        )
