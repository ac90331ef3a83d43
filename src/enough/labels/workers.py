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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from enough.errors import EnoughError
from enough.fleet.devices import placed, see_only
from enough.fleet.jobs import Failure
from enough.labels.chunk import ChunkJob, ChunkLabeller
from enough.labels.workplace import ChunkDone, OnEvent, Workplace

_AHEAD = 16  # jobs made for each worker before it asks, so that nobody waits for the next task's
_POLL_SECONDS = 1.0
_LAST_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Processes:
    """Implements `workplace.Fleet` with processes of this machine; one worker is this process.

    Attributes:
        workers: how many.
        devices: GPUs, as CUDA_VISIBLE_DEVICES names them; each process sees one of them, in turn.
            None are given out without any.
    """

    workers: int
    devices: tuple[str, ...] = ()

    def run(
        self, jobs: Iterable[ChunkJob], count: int, workplace: Workplace, on_event: OnEvent
    ) -> None:
        """Label all jobs."""
        workers = min(self.workers, count)
        if workers > 1:
            _run_in_processes(jobs, workplace, placed(workers, self.devices), on_event)
            return
        labeller: ChunkLabeller | None = None
        for job in jobs:
            labeller = labeller or workplace.labeller()
            labeller.label(job, on_event)
            on_event(ChunkDone(len(job.cases)))


def _run_in_processes(
    jobs: Iterable[ChunkJob],
    workplace: Workplace,
    devices: Sequence[str | None],
    on_event: OnEvent,
) -> None:
    context = multiprocessing.get_context("spawn")
    workers = len(devices)
    todo: Any = context.Queue(maxsize=_AHEAD * workers)
    events: Any = context.Queue()
    level = logging.getLogger().level
    processes = [
        context.Process(target=_work, args=(workplace, device, todo, events, level), daemon=True)
        for device in devices
    ]
    for process in processes:
        process.start()
    stop = threading.Event()
    feed = threading.Thread(target=_feed, args=(jobs, todo, events, workers, stop), daemon=True)
    feed.start()
    try:
        _listen(processes, events, on_event)
        for process in processes:  # all are through; what they hold is given back when they end
            process.join(_LAST_SECONDS)
    finally:
        stop.set()
        for process in processes:
            process.terminate()
            process.join()
        feed.join(_LAST_SECONDS)  # in the middle of a model's work it would take the process down
        for channel in (todo, events):
            channel.cancel_join_thread()
            channel.close()


def _feed(
    jobs: Iterable[ChunkJob], todo: Any, events: Any, workers: int, stop: threading.Event
) -> None:
    """Make jobs a little before workers take them, then tell all that there are no more."""
    try:
        for job in jobs:
            if not _put(todo, job, stop):
                return
        for _ in range(workers):
            _put(todo, None, stop)
    except BaseException as error:  # noqa: BLE001 (handed to the thread that waits)
        events.put(Failure.of(error))


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
        if isinstance(event, Failure):
            raise event.error
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


def _work(workplace: Workplace, device: str | None, todo: Any, events: Any, level: int) -> None:
    """A worker process: take jobs until there are no more."""
    if device is not None:
        see_only(device)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    logging.basicConfig(level=level, format="%(message)s")
    try:
        labeller = workplace.labeller()  # at once: meanwhile the first jobs are made
        while (job := todo.get()) is not None:
            labeller.label(job, events.put)
            events.put(ChunkDone(len(job.cases)))
        events.put(None)
    except BaseException as error:  # noqa: BLE001 (told to the parent, which raises it)
        events.put(Failure.of(error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
