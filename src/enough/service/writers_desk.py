"""Who waits for the local writer: few at a time, one after the other, in a thread of its own.

In: what is to be written. Out: futures. Whoever has given up before its turn is passed over. The
thread does not keep the process alive: an answer that is being written is lost when it stops.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future

from enough.service.local_writer import LocalWriter, Written
from enough.service.problems import SOON, ProblemError

Job = tuple[Callable[[LocalWriter], Written], "Future[Written]"]
_WAITING = 16  # answers; more would be given up before their turn anyway


class WritersDesk:
    """Takes jobs from any thread.

    Args:
        writer: who does them.
        waiting: at most, beside the one that is being written.
    """

    def __init__(self, writer: LocalWriter, waiting: int = _WAITING) -> None:
        self._writer = writer
        self._jobs: queue.Queue[Job | None] = queue.Queue(waiting)
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._is_started = False
        self._lock = threading.Lock()

    def ask(self, work: Callable[[LocalWriter], Written]) -> Future[Written]:
        """The answer, when it is there.

        Raises:
            ProblemError: if too many are waiting.
        """
        with self._lock:
            if not self._is_started:
                self._is_started = True
                self._thread.start()
        result: Future[Written] = Future()
        try:
            self._jobs.put_nowait((work, result))
        except queue.Full:
            raise ProblemError(
                503, "overloaded", "too many answers are waiting; try again", headers=SOON
            ) from None
        return result

    def close(self) -> None:
        """Nobody's turn comes any more."""
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is not None:
                job[1].cancel()
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, result = job
            if result.set_running_or_notify_cancel():
                try:
                    result.set_result(work(self._writer))
                except BaseException as error:  # noqa: BLE001 (whoever asked has to know)
                    result.set_exception(error)
            del job, work, result  # a text is not kept until the next one comes
