"""Results that threads make and coroutines wait for: the event loop is told once for many.

In: a result or an error, from any thread. Out: an asyncio future that has it. Futures of the
standard library wake the loop for every single one, through a lock and four callbacks each, and
each wants a timer of its own to be given up in time; between two encodings that is a good part of
what a request costs. Here what several threads finish at the same time is fetched at once, and one
timer stands for all.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Generic, Protocol, TypeVar

Result = TypeVar("Result")
Made_contra = TypeVar("Made_contra", contravariant=True)
_Came = tuple["asyncio.Future[Any]", Any, BaseException | None]


class Outcome(Protocol[Made_contra]):
    """Where a result is handed in: of a `Future`, what threads need."""

    def set_running_or_notify_cancel(self) -> bool:
        """Whether somebody still wants it."""
        ...

    def set_result(self, result: Made_contra, /) -> None:
        """There it is."""
        ...

    def set_exception(self, exception: BaseException, /) -> None:
        """There will be none."""
        ...


class Promise(Generic[Result]):
    """One result that is to come. Implements `Outcome` for threads; the loop has its `future`."""

    __slots__ = ("_inbox", "future")

    def __init__(self, inbox: Inbox, future: asyncio.Future[Result]) -> None:
        self._inbox, self.future = inbox, future

    def set_running_or_notify_cancel(self) -> bool:
        """Whether somebody still waits for it."""
        return not self.future.done()

    def set_result(self, made: Result) -> None:
        """There it is."""
        self._inbox.put((self.future, made, None))

    def set_exception(self, error: BaseException) -> None:
        """There will be none."""
        self._inbox.put((self.future, None, error))


class Inbox:
    """Of the one event loop that asks for promises.

    Args:
        limit_s: after which a promise fails with a TimeoutError.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._came: deque[_Came] = deque()
        self._is_told = False
        self._until: dict[asyncio.Future[Any], float] = {}  # in order, as all wait as long
        self._timer: asyncio.TimerHandle | None = None

    def promise(self) -> Promise[Any]:
        """A new one; called in the event loop."""
        loop = self._loop = self._loop or asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._until[future] = loop.time() + self._limit_s
        if self._timer is None:
            self._timer = loop.call_later(self._limit_s, self._give_up)
        return Promise(self, future)

    def put(self, came: _Came) -> None:
        """Hand in what became of a promise."""
        assert self._loop is not None  # it has made the promise
        self._came.append(came)
        if not self._is_told:
            self._is_told = True
            try:
                self._loop.call_soon_threadsafe(self._deliver)
            except RuntimeError:  # it is closed: nobody waits any more
                self._came.clear()

    def _deliver(self) -> None:
        self._is_told = False  # first: what comes from now on may be too late for this time
        while self._came:
            future, made, error = self._came.popleft()
            self._until.pop(future, None)
            if future.done():  # given up
                continue
            if error is None:
                future.set_result(made)
            else:
                future.set_exception(error)

    def _give_up(self) -> None:
        assert self._loop is not None
        self._timer, now = None, self._loop.time()
        for future, until in list(self._until.items()):
            if until > now:
                self._timer = self._loop.call_at(until, self._give_up)
                return
            del self._until[future]
            if not future.done():
                future.set_exception(TimeoutError())
                future.exception()  # if nobody waits for it, nothing is to be said
