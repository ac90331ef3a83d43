"""Worker processes that label chunks, or one worker inside this process.

In: jobs, made as they are asked for, and how to load a generator. Out: finished files; events tell
how it goes. Workers are started afresh (never forked: CUDA and OpenMP do not survive that) and end
with the process that started them, however that ends.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from enough.errors import EnoughError, ModelError
from enough.labels.chunk import ChunkJob, ChunkLabeller
from enough.labels.scoring_calls import CallReport
from enough.protocols import Generator
from enough.teacher.supervision import TeacherConfig

_POLL_SECONDS = 1.0
_LAST_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Workplace:
    """What every worker needs.

    Attributes:
        load: makes the generator; must be importable by name.
        teacher: the search's settings.
        fingerprint: what the generator must be, if scores of it exist already.
    """

    load: Callable[[], Generator]
    teacher: TeacherConfig
    fingerprint: str | None = None

    def labeller(self) -> ChunkLabeller:
        """Load the generator and check that it is the expected one."""
        generator = self.load()
        if self.fingerprint not in (None, generator.fingerprint):
            raise ModelError(
                "the generator is not the one that made the labels found here "
                f"({generator.fingerprint}, not {self.fingerprint}); label into another folder"
            )
        return ChunkLabeller(generator, self.teacher)


@dataclass(frozen=True, slots=True)
class ChunkDone:
    """A chunk's file is there."""

    requests: int


@dataclass(frozen=True, slots=True)
class _Failed:
    """A worker or the making of jobs came to an end by an error."""

    message: str
    is_expected: bool


Event = CallReport | ChunkDone
OnEvent = Callable[[Event], None]


def run_jobs(
    jobs: Iterable[ChunkJob], workplace: Workplace, workers: int, on_event: OnEvent
) -> None:
    """Label all jobs with so many processes; one works in this process.

    Raises:
        EnoughError: what a worker ran into; finished work is kept.
    """
    if workers > 1:
        _run_in_processes(jobs, workplace, workers, on_event)
        return
    labeller: ChunkLabeller | None = None
    for job in jobs:
        labeller = labeller or workplace.labeller()
        labeller.label(job, on_event)
        on_event(ChunkDone(len(job.cases)))


def _run_in_processes(
    jobs: Iterable[ChunkJob], workplace: Workplace, workers: int, on_event: OnEvent
) -> None:
    context = multiprocessing.get_context("spawn")
    todo: Any = context.Queue(maxsize=workers)
    events: Any = context.Queue()
    arguments = (workplace, todo, events, logging.getLogger().level)
    processes = [context.Process(target=_work, args=arguments, daemon=True) for _ in range(workers)]
    for process in processes:
        process.start()
    stop = threading.Event()
    threading.Thread(target=_feed, args=(jobs, todo, events, workers, stop), daemon=True).start()
    try:
        _listen(processes, events, on_event)
        for process in processes:  # all are through; what they hold is given back when they end
            process.join(_LAST_SECONDS)
    finally:
        stop.set()
        for process in processes:
            process.terminate()
            process.join()
        for channel in (todo, events):
            channel.cancel_join_thread()
            channel.close()


def _feed(
    jobs: Iterable[ChunkJob], todo: Any, events: Any, workers: int, stop: threading.Event
) -> None:
    """Make jobs as workers take them, then tell every worker that there are no more."""
    try:
        for job in jobs:
            if not _put(todo, job, stop):
                return
        for _ in range(workers):
            _put(todo, None, stop)
    except BaseException as error:  # noqa: BLE001 (handed to the thread that waits)
        events.put(_failure(error))


def _put(todo: Any, job: ChunkJob | None, stop: threading.Event) -> bool:
    while not stop.is_set():
        try:
            todo.put(job, timeout=_POLL_SECONDS)
        except queue.Full:
            continue
        return True
    return False


def _listen(processes: list[Any], events: Any, on_event: OnEvent) -> None:
    """Pass events on until every worker has said that it is through."""
    running, looked = len(processes), time.monotonic()
    while running:
        try:
            event = events.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            _require_alive(processes)
            continue
        if time.monotonic() - looked > _POLL_SECONDS:  # the others may keep us busy
            _require_alive(processes)
            looked = time.monotonic()
        if isinstance(event, _Failed):
            raise EnoughError(event.message) if event.is_expected else RuntimeError(event.message)
        if event is None:
            running -= 1
        else:
            on_event(event)


def _require_alive(processes: list[Any]) -> None:
    for process in processes:
        if process.exitcode not in (None, 0):
            raise EnoughError(
                f"a worker ended with exit status {process.exitcode} (killed, or out of memory?); "
                "finished work is kept, run again with fewer workers"
            )


def _work(workplace: Workplace, todo: Any, events: Any, level: int) -> None:
    """A worker process: take jobs until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    logging.basicConfig(level=level, format="%(message)s")
    try:
        labeller: ChunkLabeller | None = None
        while (job := todo.get()) is not None:
            labeller = labeller or workplace.labeller()
            labeller.label(job, events.put)
            events.put(ChunkDone(len(job.cases)))
        events.put(None)
    except BaseException as error:  # noqa: BLE001 (told to the parent, which raises it)
        events.put(_failure(error))


def _failure(error: BaseException) -> _Failed:
    if isinstance(error, EnoughError):
        return _Failed(str(error), is_expected=True)
    return _Failed("".join(traceback.format_exception(error)), is_expected=False)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
