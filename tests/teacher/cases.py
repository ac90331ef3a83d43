"""Small values for the tests of `enough.teacher`: cases, subjects, scores, trees."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from enough.generators.fake import FakeGenerator
from enough.prompts.profile_sequences import Profile
from enough.prompts.prompter import Prompter
from enough.protocols import ScoredSequence
from enough.records import Candidate, Example
from enough.tasks import LAMP_TASKS
from enough.teacher.case import Case
from enough.teacher.scored_tree import ScoredTree, TreeOf, assemble, canonical
from enough.teacher.search import converse
from enough.teacher.specificity import SlotScores
from enough.teacher.supervision import Subject, Supervised, TeacherConfig, supervise_one
from tests.conftest import make_record, make_request

TWEETS = LAMP_TASKS["LaMP-7"]
WORDS = (
    "amber",
    "birch",
    "cedar",
    "dune",
    "ember",
    "fjord",
    "grove",
    "heath",
    "islet",
    "jetty",
    "knoll",
    "larch",
)


def make_case(
    pool: int = 6,
    controls: int = 2,
    *,
    request: str = "q1",
    unmatched: Sequence[int] = (),
    visited: tuple[Profile, ...] = (),
    visited_levels: int = 0,
) -> Case:
    """Record i says two to four of twelve words, the reference all of them.

    Controls say one word of their record's, so a record helps more than its control; all but the
    first are long, so near the end of the window there is no room for them.
    """
    records = [
        make_record(i + 1, context="", action=" ".join(WORDS[i : i + 2 + i % 3]))
        for i in range(pool)
    ]
    others = [
        tuple(
            make_record(
                1 + 10 * k + i % 10,
                owner=f"other{k}",
                context="",
                action=WORDS[i] + " really" * (5 * k),
            )
            for k in range(controls if i not in unmatched else 0)
        )
        for i in range(pool)
    ]
    angles = np.linspace(0, np.pi / 2, pool)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    wanted = make_request(TWEETS, id=request, input="Paraphrase this: a walk")
    return Case(
        example=Example(wanted, " ".join(WORDS)),
        pool=tuple(Candidate(record, 1 / (i + 1)) for i, record in enumerate(records)),
        controls=tuple(others),
        recency=tuple(reversed(range(pool))),
        diversity=tuple(sorted(range(pool), key=lambda i: (i % 2, i))),
        likeness=np.asarray(vectors @ vectors.T, np.float32),
        visited=visited,
        visited_levels=visited_levels,
    )


def make_subject(case: Case, max_records: int = 4, *, room: int | None = None) -> Subject:
    """With a window that leaves `room` tokens for the profile, or plenty."""
    generator = FakeGenerator()
    prompter = Prompter(generator.tokenizer)
    subject = Subject(case, prompter, generator.window, max_records)
    if room is None:
        return subject
    window = generator.window - subject.space.budget.max_profile_tokens + room
    return Subject(case, prompter, window, max_records)


class RandomScores(dict[Profile, float]):
    """A made-up ℓ for any profile, the same whenever it is asked for."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def __missing__(self, profile: Profile) -> float:
        rng = np.random.default_rng([self._seed, zlib.crc32(repr(profile).encode())])
        self[profile] = float(np.float32(rng.normal(-3, 1)))
        return self[profile]


def random_score(sequences: Sequence[ScoredSequence]) -> list[float]:
    """A made-up ℓ for any sequence, a function of its tokens."""
    seeds = (zlib.crc32(sequence.tokens.tobytes()) for sequence in sequences)
    return [float(np.random.default_rng(seed).normal(-3, 1)) for seed in seeds]


def supervised(
    subject: Subject, config: TeacherConfig, scores: Mapping[Profile, float]
) -> tuple[Supervised, list[list[Profile]]]:
    """The result of Algorithm 1 under these scores, and what it asked for, step by step."""
    asked: list[list[Profile]] = []

    def answer(wanted: list[Profile]) -> dict[Profile, float]:
        asked.append(wanted)
        return {profile: scores[profile] for profile in wanted}

    return converse(supervise_one(subject, config), answer), asked


def tree_of_values(
    likelihoods: Mapping[Profile, float], record_tokens: Sequence[int], max_records: int
) -> ScoredTree:
    """A tree with these ℓ, no slot looked at and a window that ends nothing."""
    order = canonical(list(likelihoods))
    size = len(record_tokens)
    of = TreeOf(
        task="LaMP-7",
        request="q1",
        user="ann",
        pool=tuple(f"r{i + 1}" for i in range(size)),
        retriever_scores=(0.0,) * size,
        record_tokens=tuple(record_tokens),
        controls=((),) * size,
        empty_tokens=10,
        reference_tokens=3,
        max_records=max_records,
        max_profile_tokens=sum(record_tokens),
    )
    slots = SlotScores(
        node=np.zeros(0, np.int32),
        slot=np.zeros(0, np.uint8),
        without=np.zeros(0, np.float32),
        controls=np.zeros((0, 1), np.float32),
        counts_for=np.zeros(0, np.bool_),
    )
    return assemble(of, likelihoods, order, frozenset(order), slots)
