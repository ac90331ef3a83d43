"""A few threads that encode for everybody: what waits at the same time goes together.

In: texts from any thread. Out: their vectors, as the encoder alone would make them. An encoder says
how many threads it can use and how many texts one takes at once: on a CPU a thread for each core
and one text, on a GPU one thread and a batch. A lone request waits for nobody: whatever is in the
queue when a thread is free is taken at once. Those who can wait (records that are being stored) go
in between. Many texts go in portions, so that no request waits for a whole batch of records, and no
batch of records for ever.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from enough.errors import ModelError
from enough.protocols import Encoder, Floats, ThreadedEncoder

Kind = Literal["query", "document"]
_TOGETHER = 64  # texts, of an encoder that does not say; others wait until all are done
_TURNS = 4  # of those who cannot wait, before one of those who can


@dataclass(eq=False, slots=True)
class _Job:
    texts: Sequence[str]
    kind: Kind
    result: Future[Floats] = field(default_factory=Future)


class SharedEncoder:
    """Implements `protocols.Encoder` for many threads; close it when nobody needs it any more."""

    def __init__(self, encoder: Encoder) -> None:
        self.fingerprint = encoder.fingerprint
        inner = encoder if isinstance(encoder, ThreadedEncoder) else _InOneThread(encoder)
        self.is_symmetric = inner.is_symmetric
        self._together, self._lanes = inner.batch_rows, inner.lanes
        self._encode_here = inner.encode_here
        self._urgent: deque[_Job] = deque()
        self._patient: deque[_Job] = deque()
        self._wake = threading.Condition()
        self._is_closed = False
        self._round = 0
        self._threads = inner.start_threads(self._work)

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Vectors [len(texts), dim], before everybody who can wait."""
        return self._in_portions(self._urgent, texts, kind)

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
        size = self._together
        portions = [texts[i : i + size] for i in range(0, len(texts), size)] or [texts]
        asked: deque[_Job] = deque()
        found: list[Floats] = []
        for portion in portions:
            if len(asked) == self._lanes:
                found.append(asked.popleft().result.result())
            asked.append(self._ask(queue, portion, kind))
        found += [job.result.result() for job in asked]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _ask(self, queue: deque[_Job], texts: Sequence[str], kind: Kind) -> _Job:
        job = _Job(texts, kind)
        with self._wake:
            if self._is_closed:
                raise ModelError("the encoder is closed: the service is going down")
            queue.append(job)
            self._wake.notify()
        return job

    def _work(self) -> None:
        while jobs := self._next():
            for kind in ("query", "document"):
                if some := [job for job in jobs if job.kind == kind]:
                    self._encode(some, kind)

    def _next(self) -> list[_Job]:
        """What is urgent, as far as it fits; at times one of the patient; at the end nothing."""
        with self._wake:
            while not (self._urgent or self._patient or self._is_closed):
                self._wake.wait()
            jobs: list[_Job] = []
            self._round += 1
            if self._patient and (not self._urgent or self._round % _TURNS == 0):
                jobs.append(self._patient.popleft())
            while self._urgent and sum(len(job.texts) for job in jobs) < self._together:
                jobs.append(self._urgent.popleft())
            return jobs

    def _encode(self, jobs: Sequence[_Job], kind: Kind) -> None:
        try:
            vectors = self._encode_here([text for job in jobs for text in job.texts], kind)
        except BaseException as error:  # noqa: BLE001 (whoever asked has to know)
            for job in jobs:
                job.result.set_exception(error)
            return
        done = 0
        for job in jobs:
            job.result.set_result(vectors[done : done + len(job.texts)])
            done += len(job.texts)


@dataclass(frozen=True, slots=True)
class _InOneThread:
    """An encoder that says nothing of threads. Implements `protocols.ThreadedEncoder`."""

    encoder: Encoder
    is_symmetric: bool = False
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
