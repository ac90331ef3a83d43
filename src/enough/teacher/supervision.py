"""Algorithm 1 for one request and for many at once: search, then specificity, then a scored tree.

In: cases and a function that scores. Out: one `ScoredTree` for each. The searches go in step: what
all of them want next is scored in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from enough.prompts.profile_sequences import Profile, ProfileSequences
from enough.prompts.prompter import Prompter
from enough.protocols import ScoredSequence
from enough.teacher.case import Case
from enough.teacher.proposals import SearchConfig
from enough.teacher.scored_tree import ScoredTree, TreeOf, assemble, canonical
from enough.teacher.search import Scores, bounded_tree
from enough.teacher.space import SearchSpace
from enough.teacher.specificity import Savings, SpecificityConfig, score_slots

ScoreCall = Callable[[Sequence[ScoredSequence]], Iterable[float]]
"""Mean log-likelihoods of sequences, in their order."""


@dataclass(frozen=True, slots=True)
class TeacherConfig:
    """The offline teacher's own settings."""

    search: SearchConfig = field(default_factory=SearchConfig)
    specificity: SpecificityConfig = field(default_factory=SpecificityConfig)


@dataclass(frozen=True, slots=True)
class Supervised:
    """A request's tree and the teacher calls it took and saved."""

    tree: ScoredTree
    calls: int
    savings: Savings


Talk = Generator[list[Profile], Scores, Supervised]
"""Yields profiles to score, is sent their scores, ends with a tree."""


class Subject:
    """A case together with its sequences and its limits in a generator's window.

    Raises:
        BudgetError: if the request does not fit even without a profile.
    """

    def __init__(self, case: Case, prompter: Prompter, window: int, max_records: int) -> None:
        self.sequences = ProfileSequences(prompter, case.example, case.numbered_records)
        request = case.example.request
        # Room for the answer and, since it is scored, for the reference.
        answer = max(request.task.max_answer_tokens, self.sequences.reference_length)
        budget = prompter.budget(request, case.pool, window, max_records, answer)
        self.space = SearchSpace(case, budget, self.sequences.record_tokens)

    def describe(self) -> TreeOf:
        """Names and tokens for the tree."""
        case, budget = self.space.case, self.space.budget
        request, pool = case.example.request, case.pool
        return TreeOf(
            task=request.task.name,
            request=request.id,
            user=request.user,
            pool=tuple(candidate.record.id for candidate in pool),
            retriever_scores=tuple(float(np.float32(candidate.score)) for candidate in pool),
            record_tokens=budget.record_tokens,
            controls=tuple(tuple((r.owner, r.id) for r in found) for found in case.controls),
            empty_tokens=self.sequences.empty_tokens,
            reference_tokens=self.sequences.reference_length,
            max_records=budget.max_records,
            max_profile_tokens=budget.max_profile_tokens,
        )


def supervise_one(subject: Subject, config: TeacherConfig) -> Talk:
    """The whole of Algorithm 1 for one request, as a conversation with whoever scores."""
    nodes, initial = yield from bounded_tree(subject.space, config.search)
    order = canonical(list(nodes))
    slots, savings = yield from score_slots(
        subject.space, nodes, order, config.specificity, config.search.seed
    )
    first = frozenset(list(nodes)[:initial])
    tree = assemble(subject.describe(), nodes, order, first, slots)
    calls = len(order) + slots.without.size + slots.controls.size - savings.looked_up
    return Supervised(tree, calls, savings)


def score_profiles(
    subject: Subject, profiles: Sequence[Profile], config: SpecificityConfig, seed: int = 0
) -> Talk:
    """The same for given profiles instead of a search; the empty one is always among them."""
    wanted = list(dict.fromkeys([(), *profiles]))
    scores = yield wanted
    nodes = {profile: scores[profile] for profile in wanted}
    order = canonical(wanted)
    slots, savings = yield from score_slots(subject.space, nodes, order, config, seed)
    tree = assemble(subject.describe(), nodes, order, frozenset(order), slots)
    calls = len(order) + slots.without.size + slots.controls.size - savings.looked_up
    return Supervised(tree, calls, savings)


def supervise(
    subjects: Sequence[Subject],
    config: TeacherConfig,
    score: ScoreCall,
    known: Sequence[Scores] | None = None,
) -> list[Supervised]:
    """Algorithm 1 for all requests in step; `known` likelihoods of each are not asked for."""
    talks = [supervise_one(subject, config) for subject in subjects]
    return hold_all(subjects, talks, score, known)


def hold_all(
    subjects: Sequence[Subject],
    talks: Sequence[Talk],
    score: ScoreCall,
    known: Sequence[Scores] | None = None,
) -> list[Supervised]:
    """All conversations in step; what a step wants goes to the generator in one call."""
    found = known or [{} for _ in subjects]
    wanted: dict[int, list[Profile]] = {i: next(talk) for i, talk in enumerate(talks)}
    done: dict[int, Supervised] = {}
    while wanted:
        missing = {i: [p for p in asked if p not in found[i]] for i, asked in wanted.items()}
        sequences = [
            subjects[i].sequences.sequence(profile)
            for i, profiles in missing.items()
            for profile in profiles
        ]
        values = iter(score(sequences) if sequences else ())
        asked, wanted = wanted, {}
        for i, profiles in asked.items():
            # float32 is what is stored; deciding on anything finer could not be repeated.
            fresh = {profile: float(np.float32(next(values))) for profile in missing[i]}
            scores = {p: fresh[p] if p in fresh else found[i][p] for p in profiles}
            try:
                wanted[i] = talks[i].send(scores)
            except StopIteration as end:
                done[i] = end.value
    return [done[i] for i in range(len(subjects))]
