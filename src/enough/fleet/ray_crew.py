"""A crew of Ray actors that does jobs in any order, loses none and keeps none twice.

In: jobs, how a worker is opened, a desk. Out: every job's result on the desk, once. Ray places the
actors, starts machines for them and notices their end; a job whose worker was lost goes to another
one. Each actor works on one job at a time, and what it tells comes back as a stream of objects:
the driver takes them off one by one, so only it needs the run's folder.
"""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic

from enough.errors import EnoughError
from enough.fleet.config import EngineConfig
from enough.fleet.jobs import Desk, Failure, Feed, Job, News, Work, reports
from enough.fleet.ray_cluster import connected, worker_room

log = logging.getLogger(__name__)

_MOST_LOSSES = 3  # of each post, before any worker told anything in between
_WAIT_SECONDS = 0.2  # between two looks at whether a job has been made
_SAY_SECONDS = 60.0  # between two words on waiting for Ray


class _Worker:
    """The actor: opens its work once, then does job after job."""

    def __init__(self, open_work: Callable[[], Work], level: int, has_gpu: bool) -> None:
        logging.basicConfig(level=level, format="%(message)s")
        if not has_gpu:  # Ray leaves all of them visible to those who asked for none
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        self._open = open_work
        self._work: Work | None = None

    def open(self) -> Failure | None:
        """Load what the work needs; an error comes back in words."""
        try:
            self._work = self._open()
        except BaseException as error:  # noqa: BLE001 (raised by the driver)
            return Failure.of(error)
        return None

    def do(self, order: Any) -> Any:
        """The reports of one job, as a stream."""
        assert self._work is not None, "opened first"
        yield from reports(self._work, order)


@dataclass(slots=True, eq=False)
class _Post(Generic[Job]):
    """An actor and what it is at: being opened, or a job."""

    actor: Any
    job: Job | None = None


def run_on_ray(
    jobs: Iterable[Job],
    count: int,
    open_work: Callable[[], Work],
    engine: EngineConfig,
    desk: Desk[Job],
) -> int:
    """Do all jobs with the actors of a cluster; returns how many it had work for.

    Args:
        jobs: made as they are asked for, in a thread of their own.
        count: how many there will be; there is no use in more workers.
        open_work: called once by every worker; it and all that it holds travels there.
        engine: where, how many, with what.
        desk: gets news and results, in this thread.

    Raises:
        EnoughError: what a worker ran into, or that workers are lost again and again; what is on
            the desk is kept.
    """
    with connected(engine) as ray:
        size = min(engine.workers or worker_room(ray, engine), count)
        crew = _Crew(ray, size, open_work, engine, desk)
        feed = Feed(jobs, ahead=crew.size)
        try:
            crew.run(feed)
        finally:
            feed.close()
            crew.dismiss()
    return size


class _Crew(Generic[Job]):
    """The actors of one run."""

    def __init__(
        self,
        ray: Any,
        size: int,
        open_work: Callable[[], Work],
        engine: EngineConfig,
        desk: Desk[Job],
    ) -> None:
        self.size = size
        self._ray = ray
        self._desk = desk
        self._engine = engine
        self._actor = ray.remote(_Worker).options(
            num_cpus=engine.cpus_per_worker, num_gpus=engine.gpus_per_worker, max_restarts=0
        )
        has_gpu = engine.gpus_per_worker > 0
        # Stored once, not once for every worker.
        self._arguments = (ray.put(open_work), logging.getLogger().level, has_gpu)
        self._errors = ray.exceptions
        self._busy: dict[Any, _Post[Job]] = {}  # by what Ray answers with
        self._idle: list[_Post[Job]] = []
        self._returned: deque[Job] = deque()  # of lost workers; these go first
        self._losses = 0
        self._said = time.monotonic()

    def run(self, feed: Feed[Job]) -> None:
        """Until every job is done."""
        for _ in range(self.size):
            self._hire()
        while True:
            self._hand_out(feed)
            at_work = any(post.job is not None for post in self._busy.values())
            if feed.is_over and not self._returned and not at_work:
                return
            if not self._busy:  # all wait for a job to be made
                self._take(feed, _WAIT_SECONDS)
                continue
            # Posts that only wait for a job must not keep it from being handed out.
            timeout = _WAIT_SECONDS if self._idle else 1.0
            ready, _ = self._ray.wait(list(self._busy), num_returns=1, timeout=timeout)
            for answer in ready:
                self._hear(answer)
            self._say_that_we_wait(bool(ready))

    def dismiss(self) -> None:
        """Give all actors back, also those that were never placed."""
        for post in (*self._busy.values(), *self._idle):
            self._ray.kill(post.actor)
        self._busy.clear()
        self._idle.clear()

    def _hire(self) -> None:
        post: _Post[Job] = _Post(self._actor.remote(*self._arguments))
        self._busy[post.actor.open.remote()] = post

    def _take(self, feed: Feed[Job], seconds: float = 0.0) -> None:
        """One job more to hand out, if one has been made."""
        if (job := feed.next_within(seconds)) is not None:
            self._returned.append(job)

    def _hand_out(self, feed: Feed[Job]) -> None:
        while self._idle:
            if not self._returned:
                self._take(feed)
            if self._returned:
                self._give(self._idle.pop(), self._returned.popleft())
            elif feed.is_over:  # its GPU may go; should another one be lost, it is replaced
                self._ray.kill(self._idle.pop().actor)
            else:
                return

    def _give(self, post: _Post[Job], job: Job) -> None:
        post.job = job
        stream = post.actor.do.options(num_returns="streaming").remote(self._desk.order(job))
        self._busy[stream] = post

    def _hear(self, answer: Any) -> None:
        """What an actor has to say: that it is open, news, a result, or nothing ever again."""
        post, errors = self._busy[answer], self._errors
        try:
            said = self._ray.get(answer if post.job is None else next(answer))
        except (
            errors.RayActorError,
            errors.ObjectLostError,
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.OutOfMemoryError,
            StopIteration,
        ) as error:
            self._replace(answer, error)
            return
        if isinstance(said, Failure):
            raise said.error
        self._losses = 0 if post.job is not None else self._losses
        if isinstance(said, News):
            assert post.job is not None
            self._desk.told(post.job, said.content)
            return
        del self._busy[answer]
        if post.job is not None:
            self._desk.done(post.job, said.content)
            post.job = None
        self._idle.append(post)

    def _replace(self, answer: Any, error: BaseException) -> None:
        """Ray finds a place for another one; the job of the lost one goes first."""
        post = self._busy.pop(answer)
        self._losses += 1
        log.warning("a worker was lost (%s)", str(error).splitlines()[0] if str(error) else error)
        if self._losses >= _MOST_LOSSES * self.size:
            raise EnoughError(
                f"{self._losses} workers were lost one after the other, the last with: {error}; "
                "finished work is kept. If they ran out of memory, ask for more with [engine]"
            )
        if post.job is not None:
            self._returned.appendleft(post.job)
        self._hire()

    def _say_that_we_wait(self, heard: bool) -> None:
        now = time.monotonic()
        if heard or any(post.job is not None for post in self._busy.values()):
            self._said = now
        elif now - self._said > _SAY_SECONDS:
            engine = self._engine
            log.warning(
                "waiting for Ray to start a worker with %g CPU and %g GPU; the cluster has %s",
                engine.cpus_per_worker,
                engine.gpus_per_worker,
                self._ray.cluster_resources(),
            )
            self._said = now
