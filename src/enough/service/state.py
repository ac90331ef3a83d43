"""Everything that lives as long as the service, and how work gets into threads.

In: a configuration. Out: a `Service`, which routes take from the application.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from starlette.requests import Request

from enough.service.access_log import AccessLog
from enough.service.config import ServeConfig
from enough.service.gate import Gate
from enough.service.inbox import Inbox, Promise
from enough.service.local_writer import LocalWriter, Written
from enough.service.machinery import Machinery
from enough.service.measures import Measures
from enough.service.problems import SOON, ProblemError
from enough.service.store_door import StoreDoor
from enough.service.upstream import Upstream
from enough.service.writers_desk import WritersDesk

Result = TypeVar("Result")


class Service:
    """The parts of a running service.

    Args:
        config: its settings.
        machinery: the models; shared by nobody else.
        door: the store.
    """

    def __init__(self, config: ServeConfig, machinery: Machinery, door: StoreDoor) -> None:
        self.config, self.machinery, self.door = config, machinery, door
        self.measures, self.access_log = Measures(), AccessLog()
        self.upstream = None if config.upstream is None else Upstream(config.upstream)
        self.gate = Gate(door, is_open=config.open, per_minute=config.limits.requests_per_minute)
        self._at_work = self._looked_up = 0
        # A request given up still has its thread until that ends, so there are more than requests.
        self._threads = ThreadPoolExecutor(2 * config.limits.concurrent, "work")
        self._desk = WritersDesk(machinery.writer)
        self.inbox = Inbox(config.limits.timeout_s)

    @property
    def model(self) -> str:
        """Who writes the answers."""
        return self.machinery.writer.model if self.upstream is None else self.upstream.model

    def enter(self) -> None:
        """One request more; called in the event loop alone."""
        if self._at_work >= self.config.limits.concurrent:
            raise ProblemError(
                503,
                "overloaded",
                f"{self._at_work} requests are at work; try again in a moment",
                headers=SOON,
            )
        self._at_work += 1

    def leave(self) -> None:
        """One request less."""
        self._at_work -= 1

    @contextmanager
    def look_up(self) -> Iterator[None]:
        """One key more that only the database knows, or nobody; in the event loop alone.

        Guessers are kept from filling the threads that everybody else's requests need.
        """
        if self._looked_up >= self.config.limits.concurrent:
            raise ProblemError(
                503, "overloaded", "too many keys to look up; try again in a moment", headers=SOON
            )
        self._looked_up += 1
        try:
            yield
        finally:
            self._looked_up -= 1

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Run what blocks; given up after the time limit, though the thread goes on to its end."""
        return await self.in_time(asyncio.get_running_loop().run_in_executor(self._threads, work))

    async def written(self, work: Callable[[LocalWriter], Written]) -> Written:
        """What the local writer makes, in a thread that no other work has to wait for."""
        return await self.in_time(asyncio.wrap_future(self._desk.ask(work)))

    async def in_time(self, work: Awaitable[Result]) -> Result:
        """What somebody else computes, given up after the time limit."""
        try:
            async with asyncio.timeout(self.config.limits.timeout_s):
                return await work
        except TimeoutError:
            raise self._too_late() from None

    async def kept(self, promise: Promise[Result]) -> Result:
        """What a promise of the inbox becomes; it gives itself up after the time limit."""
        try:
            return await promise.future
        except TimeoutError:
            raise self._too_late() from None

    def _too_late(self) -> ProblemError:
        limit = self.config.limits.timeout_s
        message = f"not done after {limit:g} s, though it may be done yet; ask again, or send less"
        return ProblemError(504, "timeout", message)

    def housekeeping(self) -> None:
        """Forget users that other processes may have erased."""
        self.machinery.memories.forget_idle()
        if self.door.is_reachable():
            self.door.open().forget_changed()

    def close(self) -> None:
        """Let go of everything; whoever is still at work has been given up.

        Without the encoder, records that are being stored end with the part that is at hand.
        """
        self.access_log.write()
        self._desk.close()
        self.machinery.close()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.door.close()


def service_of(request: Request) -> Service:
    """The service a request came to."""
    service: Service = request.app.state.service
    return service
