"""Labelling with the actors of a Ray cluster.

In: jobs and how to load a generator. Out: the same files as from processes of one machine. A worker
sends every finished call to the driver, which keeps it in the chunk's journal, and at last the
chunk's trees. Workers write nothing, so no file system has to be shared; a job whose worker was
lost is given to another with all the calls that are known, and goes on from there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from enough.fleet.config import EngineConfig
from enough.fleet.jobs import Tell
from enough.fleet.ray_crew import run_on_ray
from enough.labels.chunk import ChunkJob
from enough.labels.journal import Journal, Values
from enough.labels.scoring_calls import CallReport
from enough.labels.tree_files import Part, write_part
from enough.labels.workplace import ChunkDone, OnEvent, Workplace

log = logging.getLogger(__name__)


class RayFleet:
    """Implements `workplace.Fleet` on a cluster."""

    def __init__(self, engine: EngineConfig) -> None:
        self.workers = engine.workers or 1  # until the cluster has said how many it holds
        self._engine = engine

    def run(
        self, jobs: Iterable[ChunkJob], count: int, workplace: Workplace, on_event: OnEvent
    ) -> None:
        """Label all jobs."""
        with LabelDesk(on_event) as desk:
            work = partial(open_work, workplace)
            self.workers = run_on_ray(jobs, count, work, self._engine, desk)


@dataclass(frozen=True, slots=True)
class Order:
    """A job as a worker gets it: with the calls that are finished."""

    job: ChunkJob
    known: Mapping[bytes, Values]


@dataclass(frozen=True, slots=True)
class CallMade:
    """A finished call on its way to the driver; scores that the driver sent are not sent back."""

    key: bytes
    scores: Values | None
    report: CallReport


def open_work(workplace: Workplace) -> Callable[[Order, Tell], Part]:
    """In a worker: load the generator, and say how a chunk is labelled with it."""
    labeller = workplace.labeller()

    def label(order: Order, tell: Tell) -> Part:
        calls = _ToldCalls(order.known, tell)
        return labeller.part(order.job, calls, calls.report)

    return label


class _ToldCalls:
    """Implements `journal.FinishedCalls` by telling the driver."""

    def __init__(self, known: Mapping[bytes, Values], tell: Tell) -> None:
        self._known = known
        self._tell = tell
        self._last: tuple[bytes, Values | None] = (b"", None)

    def get(self, key: bytes) -> Values | None:
        self._last = key, None
        return self._known.get(key)

    def put(self, key: bytes, scores: Values) -> None:
        self._last = key, scores

    def report(self, report: CallReport) -> None:
        self._tell(CallMade(*self._last, report))


class LabelDesk:
    """Implements `jobs.Desk`: keeps journals of chunks that are worked on, writes finished ones."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._open: dict[Path, _Drawer] = {}

    def __enter__(self) -> LabelDesk:
        return self

    def __exit__(self, *_: object) -> None:
        for drawer in self._open.values():
            drawer.journal.close()

    def order(self, job: ChunkJob) -> Order:
        """The job and what is known of it."""
        if job.part not in self._open:
            self._open[job.part] = _Drawer(Journal(job.journal).open(), set())
        return Order(job, dict(self._open[job.part].journal.known))

    def told(self, job: ChunkJob, news: CallMade) -> None:
        """A call is finished: on the disk before it is counted, and counted once."""
        drawer = self._open[job.part]
        if news.scores is not None:
            drawer.journal.put(news.key, news.scores)
        if news.key not in drawer.counted:
            drawer.counted.add(news.key)
            self._on_event(news.report)

    def done(self, job: ChunkJob, result: Part) -> None:
        """All trees of a chunk are here."""
        for request in result.left_out:
            log.warning("left out: request %s is too long for the window", request)
        write_part(job.part, result)
        journal = self._open.pop(job.part).journal
        journal.delete()
        journal.close()
        self._on_event(ChunkDone(len(job.cases)))


@dataclass(frozen=True, slots=True)
class _Drawer:
    """A chunk's journal, and the calls that were counted in this run."""

    journal: Journal
    counted: set[bytes]
