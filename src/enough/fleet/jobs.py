"""What work looks like that a crew of workers can do, in any order and after a loss once more.

In: jobs, and how a worker does one. Out: news while it works and a result, on the desk of the one
process that started it all and that alone keeps them.
"""

from __future__ import annotations

import queue
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from enough.errors import EnoughError

Job = TypeVar("Job")
Job_contra = TypeVar("Job_contra", contravariant=True)
Tell = Callable[[Any], None]
Work = Callable[[Any, Tell], Any]
"""Does one job: tells news of it while it lasts, and returns what came out."""


class Desk(Protocol[Job_contra]):
    """Where news and results arrive. All of it happens in one thread."""

    def order(self, job: Job_contra) -> Any:
        """What a worker is given for the job: less, if a lost worker had told of some of it."""
        ...

    def told(self, job: Job_contra, news: Any) -> None:
        """A worker told something while it was at it."""
        ...

    def done(self, job: Job_contra, result: Any) -> None:
        """A worker finished it; called once for every job."""
        ...


@dataclass(frozen=True, slots=True)
class News:
    """Something a worker tells before it is done."""

    content: Any


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a job."""

    content: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """An error, in words that travel; not a lost worker, which says nothing."""

    message: str
    is_expected: bool

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Errors that were raised on purpose keep their words, others their traceback."""
        if isinstance(error, EnoughError):
            return cls(str(error), is_expected=True)
        return cls("".join(traceback.format_exception(error)), is_expected=False)

    @property
    def error(self) -> Exception:
        """To be raised in this process."""
        return EnoughError(self.message) if self.is_expected else RuntimeError(self.message)


def reports(work: Work, order: Any) -> Iterator[News | Result | Failure]:
    """All that one job gives, as it comes: news, and at last a result or a failure.

    Work calls back, but Ray wants a generator; so it runs in a thread of its own.
    """
    box: queue.SimpleQueue[News | Result | Failure] = queue.SimpleQueue()

    def do() -> None:
        try:
            box.put(Result(work(order, lambda content: box.put(News(content)))))
        except BaseException as error:  # noqa: BLE001 (told to the one who waits for it)
            box.put(Failure.of(error))

    threading.Thread(target=do, daemon=True).start()
    report: News | Result | Failure = News(None)
    while isinstance(report, News):
        report = box.get()
        yield report


class Feed(Generic[Job]):
    """Jobs that are made in a thread of their own, a few ahead of those who take them."""

    def __init__(self, jobs: Iterable[Job], ahead: int) -> None:
        self._box: queue.Queue[Job | Failure | None] = queue.Queue(maxsize=ahead)
        self._stop = threading.Event()
        self.is_over = False
        threading.Thread(target=self._make, args=(jobs,), daemon=True).start()

    def next_within(self, seconds: float) -> Job | None:
        """A job, or None if there is none yet, or none any more (`is_over`)."""
        if self.is_over:
            return None
        try:
            found = self._box.get(timeout=seconds) if seconds else self._box.get_nowait()
        except queue.Empty:
            return None
        if isinstance(found, Failure):
            raise found.error
        self.is_over = found is None
        return found

    def close(self) -> None:
        """Make no more."""
        self._stop.set()
        self.is_over = True

    def _make(self, jobs: Iterable[Job]) -> None:
        try:
            for job in jobs:
                if not self._put(job):
                    return
            self._put(None)
        except BaseException as error:  # noqa: BLE001 (raised by the one who asks for a job)
            self._put(Failure.of(error))

    def _put(self, job: Job | Failure | None) -> bool:
        while not self._stop.is_set():
            try:
                self._box.put(job, timeout=0.2)
            except queue.Full:
                continue
            return True
        return False
