"""What threads make reaches the event loop: once for many, in time, and nobody is hurt."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from enough.service.inbox import Inbox, Promise


def in_thread(work: Any) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_the_loop_is_told_once_of_what_came_together(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> tuple[list[Any], int]:
        inbox, told = Inbox(10), []
        loop = asyncio.get_running_loop()
        inner = loop.call_soon_threadsafe

        def tell(*what: Any) -> Any:
            told.append(what)
            return inner(*what)

        monkeypatch.setattr(loop, "call_soon_threadsafe", tell)
        promises = [inbox.promise() for _ in range(3)]

        def work() -> None:
            promises[0].set_result("a")
            promises[1].set_exception(ValueError("b"))
            promises[2].set_result(None)

        in_thread(work)
        found = await asyncio.gather(*(one.future for one in promises), return_exceptions=True)
        later = inbox.promise()
        in_thread(lambda: later.set_result("later"))
        return [*map(str, found), await later.future], len(told)

    assert asyncio.run(run()) == (["a", "b", "None", "later"], 2)


def test_each_is_given_up_after_its_own_time() -> None:
    async def run() -> list[str]:
        inbox, ended = Inbox(0.2), []

        async def wait(name: str, promise: Promise[Any]) -> None:
            try:
                ended.append(f"{name} {await promise.future}")
            except TimeoutError:
                ended.append(f"{name} late")

        first, kept = inbox.promise(), inbox.promise()
        waits = [asyncio.create_task(wait("first", first)), asyncio.create_task(wait("kept", kept))]
        kept.set_result("here")
        await asyncio.sleep(0.1)
        second = inbox.promise()
        waits.append(asyncio.create_task(wait("second", second)))
        assert first.set_running_or_notify_cancel()
        await asyncio.sleep(0.15)
        assert not first.set_running_or_notify_cancel()
        first.set_result("too late")  # hurts nobody
        await asyncio.gather(*waits)
        return ended

    assert asyncio.run(run()) == ["kept here", "first late", "second late"]


def test_nobody_waits_for_who_has_left() -> None:
    async def run() -> Promise[Any]:
        promise = Inbox(10).promise()

        async def wait() -> None:
            await promise.future

        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert not promise.set_running_or_notify_cancel()
        promise.set_result("too late")
        await asyncio.sleep(0)
        return promise

    promise = asyncio.run(run())
    in_thread(lambda: promise.set_result("the loop is closed"))
