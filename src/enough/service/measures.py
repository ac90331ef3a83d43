"""What a service counts and times, for Prometheus; and one request's times, for its own answer.

In: events. Out: the text of /metrics, the `Server-Timing` header. No name of a user or a tenant is
in either.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from enough.online.selected import Selected

_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
UNKNOWN_ROUTE = "unknown"
_AT_ONCE = 64  # requests that are counted together, unless somebody reads the figures before


class StageTimes:
    """Seconds of one request's stages, in the order they began."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.seconds: dict[str, float] = {}

    def stage(self, name: str) -> _Stage:
        """What runs in here belongs to the stage; a second time adds to the first."""
        return _Stage(self, name)

    def add(self, name: str, *, since: float) -> None:
        """A stage that began at this moment of `time.perf_counter` and ends now."""
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - since

    def header(self) -> str:
        """For `Server-Timing`, in milliseconds; `total` is since the request's head was read."""
        total = time.perf_counter() - self.started
        # A request given up is still at it, so what is gone through is a copy.
        parts = [f"{name};dur={seconds * 1000:.3f}" for name, seconds in [*self.seconds.items()]]
        return ", ".join([*parts, f"total;dur={total * 1000:.3f}"])


class _Stage:
    """A context manager; as a generator it would cost several times as much."""

    __slots__ = ("_began", "_name", "_times")

    def __init__(self, times: StageTimes, name: str) -> None:
        self._times, self._name = times, name

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._times.add(self._name, since=self._began)


class Measures:
    """The figures of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "enough_requests",
            "Requests by route and status.",
            ["route", "method", "status"],
            registry=self._registry,
        )
        self._stages = Histogram(
            "enough_stage_seconds",
            "Time of a request by stage: auth, encode, retrieve, decide, prompt, generate, total.",
            ["stage"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._tokens = Counter(
            "enough_profile_tokens", "Tokens of selected profiles.", registry=self._registry
        )
        self._saved = Gauge(
            "enough_tokens_saved",
            "Tokens of the retriever's first five records less those of the profiles, since start.",
            registry=self._registry,
        )
        self._selections = Counter(
            "enough_selections", "Selections by policy.", ["policy"], registry=self._registry
        )
        self._root_stops = Counter(
            "enough_root_stops", "Selections that stopped at once.", registry=self._registry
        )

        # Looking up a series takes longer than adding to it, and there are few of either.
        self._counted = cache(self._requests.labels)
        self._timed = cache(self._stages.labels)
        # What is not counted yet. Alone, between two encodings, an event takes several times as
        # long to count as in a row of them.
        self._done: deque[tuple[tuple[str, str, int], list[tuple[str, float]]]] = deque()
        self._selected: deque[tuple[str, int, int, bool]] = deque()

    def request(self, route: str, method: str, status: int, times: StageTimes | None) -> None:
        """One request is done."""
        stages: list[tuple[str, float]] = []
        if times is not None:
            total = time.perf_counter() - times.started
            stages = [*dict(times.seconds).items(), ("total", total)]  # one given up is still at it
        self._done.append(((route, method, status), stages))
        if len(self._done) >= _AT_ONCE:
            self._count()

    def selection(self, selected: Selected) -> None:
        """One selection is done."""
        is_empty = not selected.records
        self._selected.append((selected.policy, selected.tokens, selected.tokens_saved, is_empty))

    def page(self) -> bytes:
        """As Prometheus reads it."""
        self._count()
        return generate_latest(self._registry)

    def _count(self) -> None:
        with suppress(IndexError):  # that is all, or another thread is at it, too
            while True:
                series, stages = self._done.popleft()
                self._counted(*series).inc()
                for name, seconds in stages:
                    self._timed(name).observe(seconds)
        with suppress(IndexError):
            while True:
                policy, tokens, saved, is_empty = self._selected.popleft()
                self._selections.labels(policy).inc()
                self._tokens.inc(tokens)
                self._saved.inc(saved)
                self._root_stops.inc(is_empty)
