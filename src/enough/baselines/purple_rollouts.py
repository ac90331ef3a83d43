"""PURPLE's rollouts: profiles drawn for lessons, their rewards, and the loss they make.

In: lessons and a score network. Out: REINFORCE's loss of a batch, or the reward of the profiles the
policy would answer with. The reward is the SUM of the reference's token log-probabilities. Every
profile is scored once in a training, all new ones of a batch in one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from enough.baselines.feedback import Values, log_likelihoods, teaching_budget
from enough.baselines.plackett_luce import (
    Places,
    best_order,
    choice_sets,
    draw_orders,
    log_probability,
    stacked,
    take,
)
from enough.baselines.purple_network import ScoreNetwork, collated, features, greedy_scores
from enough.baselines.tools import Lesson, Tools
from enough.protocols import Budget, Floats
from enough.torch_threads import torch_threads


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A lesson with what its policy sees [n, 3·dim + 1] and may spend."""

    lesson: Lesson
    features: Floats
    budget: Budget
    reference_length: int
    k: int


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Lessons, and the rewards of all profiles that were ever drawn for them.

    Attributes:
        subjects: the lessons.
        tools: with the generator that scores.
        threads: of torch, for the generator; the policy is fitted on one.
        known: (lesson, profile) -> reward.
    """

    subjects: list[Subject]
    tools: Tools
    threads: int
    known: dict[tuple[int, Places], float]

    @classmethod
    def of(cls, lessons: Sequence[Lesson], tools: Tools, k: int) -> Course:
        """Those lessons that have a record that fits."""
        subjects = []
        for lesson in lessons:
            budget = teaching_budget(lesson, tools)
            if budget and any(n <= budget.max_profile_tokens for n in budget.record_tokens):
                seen = features(lesson.asked.request, lesson.asked.pool, tools.encoder)
                length = len(tools.prompter.reference(lesson.example))
                subjects.append(Subject(lesson, seen, budget, length, min(k, budget.max_records)))
        return cls(subjects, tools, torch.get_num_threads(), {})

    @property
    def dim(self) -> int:
        """Of the encoder's vectors."""
        return (int(self.subjects[0].features.shape[1]) - 1) // 3

    def loss(
        self,
        network: ScoreNetwork,
        lessons: NDArray[np.int64],
        rollouts: int,
        rng: np.random.Generator,
    ) -> Tensor:
        """REINFORCE: −advantage · log P(profile), mean over all draws."""
        log_scores = network(*collated([self.subjects[i].features for i in lessons]))  # [b, n]
        drawn: list[tuple[int, Places]] = []
        choices = []
        for row, lesson in enumerate(map(int, lessons)):
            subject = self.subjects[lesson]
            sizes, room = subject.budget.record_tokens, subject.budget.max_profile_tokens
            scores = log_scores[row, : len(sizes)].detach().numpy().astype(np.float64)
            for order in draw_orders(scores, rollouts, rng):
                profile = take(order, sizes, room, subject.k)
                drawn.append((lesson, profile))
                choices.append(choice_sets(profile, sizes, room))
        rewards = self.rewards(drawn).reshape(len(lessons), rollouts)
        places, sets = stacked([p for _, p in drawn], choices, log_scores.shape[1])
        log_p = log_probability(log_scores.repeat_interleave(rollouts, 0), places, sets)
        return -(torch.from_numpy(advantages(rewards).ravel()) * log_p).mean()

    def greedy_reward(self, network: ScoreNetwork) -> float:
        """Mean reward of the profiles that the policy would answer with."""
        greedy = []
        found = greedy_scores(network, [subject.features for subject in self.subjects])
        for lesson, (subject, scores) in enumerate(zip(self.subjects, found, strict=True)):
            sizes, room = subject.budget.record_tokens, subject.budget.max_profile_tokens
            greedy.append((lesson, take(best_order(scores), sizes, room, subject.k)))
        return float(self.rewards(greedy).mean())

    def rewards(self, wanted: Sequence[tuple[int, Places]]) -> Values:
        """Summed log-probabilities, [len(wanted)]; what is not known is scored in one call."""
        missing = list(dict.fromkeys(key for key in wanted if key not in self.known))
        profiles = []
        for lesson, places in missing:
            one = self.subjects[lesson].lesson
            profiles.append((one, tuple(one.asked.pool[place].record for place in places)))
        with torch_threads(self.threads):
            means = log_likelihoods(profiles, self.tools)
        for key, mean in zip(missing, means, strict=True):
            self.known[key] = float(mean) * self.subjects[key[0]].reference_length
        return np.array([self.known[key] for key in wanted])


def advantages(rewards: Values) -> Values:
    """(r − mean) / (std + 1e-8) over the draws of each request, [requests, draws]."""
    spread = rewards.std(axis=1, keepdims=True) + 1e-8
    found: Values = (rewards - rewards.mean(axis=1, keepdims=True)) / spread
    return found
