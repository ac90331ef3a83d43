"""Many requests to one server: pooled, bounded, in order, and made again when they fail.

In: requests, each with a function that reads its reply. Out: what was read, told as replies come.
A lost connection, a timeout, a passing status, half a reply or one that makes no sense is a
`Fault`: the request is made again after a pause that doubles, with jitter, or as long as the server
asks for. Requests are started in the order they are given, so neighbours meet in the server's
prefix cache.
"""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import httpx

from enough.errors import ModelError
from enough.generators.remote.config import RemoteConfig
from enough.generators.remote.faults import Fault, asked_wait, is_passing

T = TypeVar("T")
Json = dict[str, Any]

log = logging.getLogger(__name__)
_LONGEST_PAUSE = 30.0
_SHOWN = 300  # characters of a refusal


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """One request.

    Attributes:
        path: below the URL.
        body: of a POST; None is a GET.
        read: from the reply to what is wanted; raises `Fault` for a reply that is damaged.
        attempts: how often it is made at most, where not as often as the settings allow.
    """

    path: str
    body: Json | None
    read: Callable[[Json], T]
    attempts: int | None = None


class Client:
    """Talks to one server. One call at a time; inside it, `concurrency` requests at once.

    Attributes:
        faults: requests that had to be made again so far.
    """

    def __init__(
        self, config: RemoteConfig, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.url = config.url.rstrip("/")
        self.faults = 0
        self._config = config
        self._key = config.api_key()
        headers = {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
        limits = httpx.Limits(
            max_connections=config.concurrency, max_keepalive_connections=config.concurrency
        )
        # The loop is kept, because open connections belong to it.
        self._runner = asyncio.Runner()
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers=headers,
            timeout=config.timeout,
            limits=limits,
            transport=transport,
        )
        self._lock = threading.Lock()
        self._jitter = random.Random()
        weakref.finalize(self, _close, self._runner, self._http)

    def one(self, ask: Ask[T], attempts: int | None = None) -> T:
        """The answer to a single request, made as often as that."""
        found: list[T] = []
        limited = replace(ask, attempts=attempts or ask.attempts)
        self.each([limited], lambda _, answer: found.append(answer))
        return found[0]

    def each(
        self,
        asks: Sequence[Ask[T]],
        on_answer: Callable[[int, T], None],
        concurrency: int | None = None,
    ) -> None:
        """Make all requests; `on_answer` gets the place and answer of each, exactly once.

        Raises:
            ModelError: if one is refused, or keeps failing; no further one is then made.
        """
        with self._lock:
            at_once = min(concurrency or self._config.concurrency, len(asks))
            self._runner.run(self._all(asks, on_answer, at_once))

    async def _all(
        self, asks: Sequence[Ask[T]], on_answer: Callable[[int, T], None], at_once: int
    ) -> None:
        todo = iter(enumerate(asks))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(at_once):
                    group.create_task(self._some(todo, on_answer))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    async def _some(
        self, todo: Iterator[tuple[int, Ask[T]]], on_answer: Callable[[int, T], None]
    ) -> None:
        for place, ask in todo:
            on_answer(place, await self._patiently(ask))

    async def _patiently(self, ask: Ask[T]) -> T:
        attempts = min(ask.attempts or self._config.attempts, self._config.attempts)
        for attempt in range(1, attempts + 1):
            try:
                return await self._once(ask)
            except Fault as fault:
                if attempt == attempts:
                    raise ModelError(
                        f"{self.url}{ask.path}: failed {attempt} times, at last: {fault}. Is the "
                        "server up? What was scored before is kept; run again to go on"
                    ) from None
                self._count(ask, fault)
                await asyncio.sleep(self._pause(attempt, fault))
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _once(self, ask: Ask[T]) -> T:
        method = "GET" if ask.body is None else "POST"
        try:
            reply = await self._http.request(method, ask.path, json=ask.body)
        except httpx.TransportError as error:  # refused, reset, too slow, cut off
            raise Fault(f"{type(error).__name__} {error}".strip()) from None
        except httpx.DecodingError as error:
            raise Fault(f"a reply that cannot be decoded ({error})") from None
        if is_passing(reply.status_code):
            raise Fault(f"HTTP {reply.status_code}", asked_wait(reply.headers))
        if reply.status_code != httpx.codes.OK:
            raise Refused(
                f"{self.url}{ask.path}: the server says HTTP {reply.status_code}: "
                f"{self._safe(reply.text)}",
                reply.status_code,
            )
        try:
            found = reply.json()
        except ValueError:
            raise Fault("a reply that is not whole JSON") from None
        if not isinstance(found, dict):
            raise Fault("a reply that is not a JSON object")
        return ask.read(found)

    def _count(self, ask: Ask[Any], fault: Fault) -> None:
        self.faults += 1
        if self.faults > self._config.retries:
            raise ModelError(
                f"{self.url}{ask.path}: {self.faults} requests failed, more than retries = "
                f"{self._config.retries} allows; at last: {fault}. What was scored before is kept"
            )
        log.info("%s%s: %s; trying again", self.url, ask.path, fault)

    def _pause(self, attempt: int, fault: Fault) -> float:
        longest: float = min(self._config.pause * 2 ** (attempt - 1), _LONGEST_PAUSE)
        drawn: float = longest * self._jitter.uniform(0.5, 1.0)  # or all would come back at once
        return max(drawn, fault.wait or 0.0)

    def _safe(self, text: str) -> str:
        """A server's words on one line, without the key."""
        said = text if self._key is None else text.replace(self._key, "[key]")
        return " ".join(said.split())[:_SHOWN]


class Refused(ModelError):  # noqa: N818 (what happened, and it is mostly caught)
    """A request the server will never answer."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def _close(runner: asyncio.Runner, http: httpx.AsyncClient) -> None:
    """Close connections and loop, in a thread: this may be called while another loop runs here."""

    def close() -> None:
        runner.run(http.aclose())
        runner.close()

    closing = threading.Thread(target=close)
    closing.start()
    closing.join()
