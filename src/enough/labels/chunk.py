"""A chunk of requests, the unit of labelling: from cases to one finished file of trees.

In: a few cases and a generator. Out: a file. What is computed together is decided within a chunk
alone, so its bytes depend neither on other chunks nor on who works on it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from enough.errors import BudgetError, DataError
from enough.labels.journal import FinishedCalls, Journal
from enough.labels.scoring_calls import OnCall, ScoringCalls
from enough.labels.tree_files import ChunkCounts, Fingerprints, Part, write_part
from enough.prompts.profile_sequences import Profile
from enough.prompts.prompter import Prompter
from enough.protocols import Generator
from enough.teacher.case import Case
from enough.teacher.known_scores import known_scores
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.supervision import Subject, Supervised, TeacherConfig, supervise

log = logging.getLogger(__name__)

_NOISE_SAMPLES = 4  # requests of a chunk of which a profile is scored once more, another way


@dataclass(frozen=True, slots=True)
class ChunkJob:
    """What to label and where to put it.

    Attributes:
        cases: the requests.
        part: the file to write.
        journal: where finished calls are kept until then.
        encoder: fingerprint of the encoder the cases were prepared with.
        earlier: trees of an earlier round by the name of the case; nothing in them is scored again.
    """

    cases: tuple[Case, ...]
    part: Path
    journal: Path
    encoder: str
    earlier: Mapping[str, ScoredTree] = field(default_factory=dict)


class ChunkLabeller:
    """Labels chunks with one generator."""

    def __init__(self, generator: Generator, config: TeacherConfig) -> None:
        self._generator = generator
        self._config = config
        self._prompter = Prompter(generator.tokenizer)

    def label(self, job: ChunkJob, on_call: OnCall | None = None) -> None:
        """Write the part of a chunk, going on from its journal if there is one."""
        with Journal(job.journal) as journal:
            if job.part.exists():  # another process finished it while this one waited
                return
            write_part(job.part, self.part(job, journal, on_call))
            journal.delete()

    def part(self, job: ChunkJob, finished: FinishedCalls, on_call: OnCall | None = None) -> Part:
        """The content of a chunk's file; calls that are finished are not made again."""
        subjects, left_out = self._subjects(job)
        calls = ScoringCalls(self._generator, finished, on_call)
        known = [_known(subject, job.earlier) for subject in subjects]
        found = supervise(subjects, self._config, calls.score, known)
        counts = _counts(found, calls)
        noise = _noise(subjects, found, self._generator)
        trees = tuple(one.tree for one in found)
        models = (self._generator.fingerprint, self._generator.tokenizer.fingerprint)
        made_with = Fingerprints(*models, job.encoder)
        return Part(trees, tuple(left_out), counts, noise, made_with)

    def _subjects(self, job: ChunkJob) -> tuple[list[Subject], list[str]]:
        subjects, left_out = [], []
        window, horizon = self._generator.window, self._config.search.max_records
        for case in job.cases:
            try:
                subjects.append(Subject(case, self._prompter, window, horizon))
            except BudgetError as error:
                log.warning("left out: %s", error)
                left_out.append(case.example.request.id)
        return subjects, left_out


def _known(subject: Subject, earlier: Mapping[str, ScoredTree]) -> dict[Profile, float]:
    """Likelihoods of an earlier round, if it had the same records under the same numbers."""
    case = subject.space.case
    tree = earlier.get(case.name)
    if tree is None:
        return {}
    then, now = tree.of, subject.describe()
    for name in ("pool", "record_tokens", "controls"):
        if getattr(then, name) != getattr(now, name):
            raise DataError(
                f"{case.name}: its {name} is not what the earlier labels have; label the first "
                "round again on this machine"
            )
    return known_scores(tree, case)


def _counts(found: list[Supervised], calls: ScoringCalls) -> ChunkCounts:
    return ChunkCounts(
        profiles=sum(len(one.tree.lengths) for one in found),
        calls=calls.profiles,
        tokens=calls.tokens,
        gated=sum(one.savings.gated for one in found),
        looked_up=sum(one.savings.looked_up for one in found),
        unmatched=sum(one.savings.unmatched for one in found),
        same_tokens=calls.repeated,
    )


def _noise(
    subjects: list[Subject], found: list[Supervised], generator: Generator
) -> NDArray[np.float32]:
    """What it changes to compute a likelihood in another way, for a profile of some requests."""
    sequences, known = [], []
    for subject, one in list(zip(subjects, found, strict=True))[:_NOISE_SAMPLES]:
        node = len(one.tree.lengths) // 2  # of middling length: nodes are sorted by it
        sequences.append(subject.sequences.sequence(one.tree.profiles[node]))
        known.append(one.tree.log_likelihood[node])
    again = generator.rescore(sequences).astype(np.float32)
    return np.asarray(again - np.array(known, np.float32), np.float32)
