"""A few threads that encode for everybody: what waits at the same time goes together.

In: texts from any thread. Out: their vectors, as the encoder alone would make them. An encoder says
how many threads it can use and how many texts one takes at once: on a CPU a thread for each core
and one text, on a GPU one thread and a batch. A lone request waits for nobody: whatever is in the
queue when a thread is free is taken at once. Those who can wait (records that are being stored) go
in between. Many texts go in portions, so that no request waits for a whole batch of records, and no
batch of records for ever.

An encoding on a core leaves little of its cache to anybody. So what a request does with its vector
can be handed in with its text: requests that wait together are encoded together, then followed up
one after the other in one thread, theirs or one that is at it already, and told of it together.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from enough.errors import ModelError
from enough.protocols import Encoder, Floats, ThreadedEncoder
from enough.service.inbox import Outcome

Kind = Literal["query", "document"]
Result = TypeVar("Result")
_TOGETHER = 64  # texts, of an encoder that does not say; others wait until all are done
_TURNS = 4  # of those who cannot wait, before one of those who can
_IN_A_ROW = 6  # texts a core takes on at once, if so many wait: the first waits for the last


@dataclass(eq=False, slots=True)
class _Job:
    texts: Sequence[str]
    kind: Kind
    result: Outcome[Any]
    then: Callable[[Floats], Any] | None = None  # without it, the vectors are the result

    def followed(self, vectors: Floats) -> Callable[[], None]:
        """Do what is to be done with the vectors [len(texts), dim]; a call that tells of it."""
        try:
            made = vectors if self.then is None else self.then(vectors)
        except BaseException as error:  # noqa: BLE001 (whoever asked has to know)
            return partial(self.result.set_exception, error)
        return partial(self.result.set_result, made)


class SharedEncoder:
    """Implements `protocols.Encoder` for many threads; close it when nobody needs it any more."""

    def __init__(self, encoder: Encoder) -> None:
        self.fingerprint = encoder.fingerprint
        inner = encoder if isinstance(encoder, ThreadedEncoder) else _InOneThread(encoder)
        self.is_symmetric, self.is_normalised = inner.is_symmetric, inner.is_normalised
        self._together, self._lanes = inner.batch_rows, inner.lanes
        self._encode_here = inner.encode_here
        self._urgent: deque[_Job] = deque()
        self._patient: deque[_Job] = deque()
        self._wake = threading.Condition()
        self._here = threading.local()
        self._encoded: deque[tuple[_Job, Floats]] = deque()
        self._following = threading.Lock()
        self._is_closed = False
        self._round = 0
        self._resting = 0  # threads that have nothing to do
        self._threads = inner.start_threads(self._work)

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Vectors [len(texts), dim], before everybody who can wait."""
        return self._in_portions(self._urgent, texts, kind)

    @property
    def is_on_cores(self) -> bool:
        """Whether encodings take the cores that everything else needs: `follow` gains by it."""
        return self._together == 1

    def follow(self, text: str, kind: Kind, then: Callable[[Floats], Result]) -> Future[Result]:
        """Encode a text, then do something with its vector [dim] in a thread of the encoder.

        Args:
            text: before everybody who can wait.
            kind: of the text.
            then: must not wait for anybody, because others wait behind it; may encode.
        """
        result: Future[Result] = Future()
        self.follow_into(result, text, kind, then)
        return result

    def follow_into(
        self, result: Outcome[Result], text: str, kind: Kind, then: Callable[[Floats], Result]
    ) -> None:
        """The same for who has a place for the result."""
        job = _Job([text], kind, result, lambda vectors: then(vectors[0]))
        self._ask(self._urgent, job)

    @property
    def patient(self) -> PatientEncoder:
        """The same for those who can wait."""
        return PatientEncoder(self)

    def encode_patiently(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Vectors [len(texts), dim]; whoever is urgent goes first, also in between."""
        return self._in_portions(self._patient, texts, kind)

    def close(self) -> None:
        """Finish what is waiting, then stop."""
        with self._wake:
            self._is_closed = True
            self._wake.notify_all()
        for thread in self._threads:
            thread.join()

    def _in_portions(self, queue: deque[_Job], texts: Sequence[str], kind: Kind) -> Floats:
        """Many texts one portion for each thread after the other: nobody else waits for more."""
        if getattr(self._here, "is_encoding", False):  # it would wait for itself
            return self._encode_here(texts, kind)
        size = self._together
        portions = [texts[i : i + size] for i in range(0, len(texts), size)] or [texts]
        asked: deque[Future[Floats]] = deque()
        found: list[Floats] = []
        for portion in portions:
            if len(asked) == self._lanes:
                found.append(asked.popleft().result())
            asked.append(Future())
            self._ask(queue, _Job(portion, kind, asked[-1]))
        found += [one.result() for one in asked]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _ask(self, queue: deque[_Job], job: _Job) -> None:
        with self._wake:
            if self._is_closed:
                raise ModelError("the encoder is closed: the service is going down")
            queue.append(job)
            self._wake.notify()

    def _work(self) -> None:
        self._here.is_encoding = True
        while jobs := self._next():
            # Whoever gave up meanwhile is not encoded for.
            wanted = [job for job in jobs if job.result.set_running_or_notify_cancel()]
            for kind in ("query", "document"):
                if some := [job for job in wanted if job.kind == kind]:
                    self._encode(some, kind)

    def _next(self) -> list[_Job]:
        """What is urgent, as far as it fits; at times one of the patient; at the end nothing."""
        with self._wake:
            self._resting += 1
            while not (self._urgent or self._patient or self._is_closed):
                self._wake.wait()
            # Threads that were woken and have not begun yet get their share, too.
            free, self._resting = self._resting, self._resting - 1
            jobs: list[_Job] = []
            self._round += 1
            if self._patient and (not self._urgent or self._round % _TURNS == 0):
                jobs.append(self._patient.popleft())
            share = min(_IN_A_ROW, -(-len(self._urgent) // free))
            most = max(self._together, share)
            while self._urgent and sum(len(job.texts) for job in jobs) < most:
                jobs.append(self._urgent.popleft())
            return jobs

    def _encode(self, jobs: Sequence[_Job], kind: Kind) -> None:
        try:
            vectors = self._encode_here([text for job in jobs for text in job.texts], kind)
        except BaseException as error:  # noqa: BLE001 (whoever asked has to know)
            if len(jobs) == 1:
                jobs[0].result.set_exception(error)
                return
            for job in jobs:  # nobody fails for another's text
                self._encode([job], kind)
            return
        ends = np.cumsum([len(job.texts) for job in jobs])
        shares = list(zip(jobs, np.split(vectors, ends[:-1]), strict=True))
        for job, own in shares:
            if job.then is None:
                job.result.set_result(own)
        self._encoded.extend((job, own) for job, own in shares if job.then is not None)
        self._follow_up()

    def _follow_up(self) -> None:
        """Follow up what is encoded, unless another thread is at it: that one takes it along.

        Python's lock would let two do it by turns only, and a core would wait meanwhile. But who is
        at it can be long at it; so when more than a row waits behind them, it is done here.
        """
        while count := len(self._encoded):
            is_alone = self._following.acquire(blocking=False)
            if not is_alone and count <= _IN_A_ROW:
                return
            row: list[tuple[_Job, Floats]] = []
            try:
                with suppress(IndexError):  # another thread has taken them
                    # As many as are there now: with many cores there would always be one more.
                    row.extend(self._encoded.popleft() for _ in range(count))
                # The event loop is woken when all are followed up, not between one and the next.
                for tell in [job.followed(vectors) for job, vectors in row]:
                    tell()
            finally:
                if is_alone:
                    self._following.release()


@dataclass(frozen=True, slots=True)
class _InOneThread:
    """An encoder that says nothing of threads. Implements `protocols.ThreadedEncoder`."""

    encoder: Encoder
    is_symmetric: bool = False
    is_normalised: bool = False
    lanes: int = 1
    batch_rows: int = _TOGETHER

    @property
    def fingerprint(self) -> str:
        return self.encoder.fingerprint

    def start_threads(self, work: Callable[[], None]) -> list[threading.Thread]:
        thread = threading.Thread(target=work, name="encoder", daemon=True)
        thread.start()
        return [thread]

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        return self.encoder.encode(texts, kind)

    encode_here = encode


@dataclass(frozen=True, slots=True)
class PatientEncoder:
    """Implements `protocols.Encoder`; every call lets urgent ones pass."""

    shared: SharedEncoder

    @property
    def fingerprint(self) -> str:
        """The encoder's."""
        return self.shared.fingerprint

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Vectors [len(texts), dim]."""
        return self.shared.encode_patiently(texts, kind)
