"""What a fleet of labelling workers is told, what it tells, and how every fleet is asked to work.

In: jobs, made as they are asked for, and how to load a generator. Out: finished files; events tell
how it goes. Whoever does the work, the files have the same bytes: what is computed together is
decided within a chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from enough.errors import ModelError
from enough.labels.chunk import ChunkJob, ChunkLabeller
from enough.labels.scoring_calls import CallReport
from enough.protocols import Generator
from enough.teacher.supervision import TeacherConfig


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


Event = CallReport | ChunkDone
OnEvent = Callable[[Event], None]


class Fleet(Protocol):
    """Labels chunks, in any order, with however many workers."""

    @property
    def workers(self) -> int:
        """How many at most."""
        ...

    def run(
        self, jobs: Iterable[ChunkJob], count: int, workplace: Workplace, on_event: OnEvent
    ) -> None:
        """Write the files of all jobs, `count` of them.

        Raises:
            EnoughError: what a worker ran into; finished work is kept.
        """
        ...
