"""What the profiles of an evaluation are worth: likelihood gain, specificity and J.

In: rows of one task and the questions they answer. Out: the same rows with these filled in. All
profiles of a request are judged together, each once, whoever chose it; those of several prompts
have no likelihood of their own and stay without.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from enough.errors import BudgetError
from enough.evaluation.questions import Question
from enough.evaluation.rows import Row
from enough.matching.replacements import match_pools
from enough.progress import OnStep, silent
from enough.prompts.prompter import Prompter
from enough.protocols import Generator
from enough.records import Dataset, Record
from enough.retrieval.pools import PooledExample
from enough.teacher.case import prepare_cases
from enough.teacher.components import Scale, TargetConfig, raw_components, scaled_components
from enough.teacher.preparation import Stages
from enough.teacher.specificity import SpecificityConfig
from enough.teacher.supervision import Subject, hold_all, score_profiles

log = logging.getLogger(__name__)
_TOGETHER = 16  # requests whose profiles are scored in one call


@dataclass(frozen=True, slots=True)
class Value:
    """What one profile of one request is worth; the last three are None without a scale."""

    log_likelihood_gain: float
    gain: float | None
    specificity: float | None
    net: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """How profiles are judged.

    Attributes:
        stages: where controls come from.
        generator: whose likelihoods count; best one that remembers them.
        point: β and λ of J.
        slots: of each profile that are compared with other users' records.
        scales: of the tasks; without one there is no J, and no control is needed.
    """

    stages: Stages
    generator: Generator
    point: TargetConfig
    slots: SpecificityConfig
    scales: Mapping[str, Scale]

    def judged(
        self,
        dataset: Dataset,
        questions: Sequence[Question],
        rows: Sequence[Row],
        on_step: OnStep = silent,
    ) -> list[Row]:
        """The rows of a task with the values of their profiles."""
        wanted: dict[str, dict[tuple[str, ...], None]] = {}
        for row in rows:
            if row.one_prompt:
                wanted.setdefault(row.request_id, {})[row.records] = None
        values = self._values(dataset, questions, wanted, on_step)
        return [
            _with_value(row, values.get((row.request_id, row.records))) if row.one_prompt else row
            for row in rows
        ]

    def _values(
        self,
        dataset: Dataset,
        questions: Sequence[Question],
        wanted: Mapping[str, Iterable[tuple[str, ...]]],
        on_step: OnStep,
    ) -> dict[tuple[str, tuple[str, ...]], Value]:
        asked = [q for q in questions if q.example.request.id in wanted]
        subjects = self._subjects(dataset, asked, wanted, on_step)
        scale = self.scales.get(dataset.task.name)
        found: dict[tuple[str, tuple[str, ...]], Value] = {}
        for start in range(0, len(subjects), _TOGETHER):
            some = subjects[start : start + _TOGETHER]
            profiles = [_fitting(subject, wanted) for subject in some]
            talks = [
                score_profiles(subject, list(of), self.slots)
                for subject, of in zip(some, profiles, strict=True)
            ]
            for done, of in zip(hold_all(some, talks, self.generator.score), profiles, strict=True):
                tree = done.tree
                raw = raw_components(tree).gain
                scaled = scaled_components(tree, scale) if scale else None
                net = scaled.net(self.point) if scaled else None
                for node, profile in enumerate(tree.profiles):
                    if profile in of:
                        found[tree.of.request, of[profile]] = Value(
                            float(raw[node]),
                            None if scaled is None else float(scaled.gain[node]),
                            None if scaled is None else float(scaled.specificity[node]),
                            None if net is None else float(net[node]),
                        )
            on_step(f"{dataset.task.name}: judging profiles", start + len(some), len(subjects))
        return found

    def _subjects(
        self,
        dataset: Dataset,
        asked: Sequence[Question],
        wanted: Mapping[str, Iterable[tuple[str, ...]]],
        on_step: OnStep,
    ) -> list[Subject]:
        """Requests whose pool is everything that somebody chose."""
        pools = []
        for question in asked:
            chosen = {i for profile in wanted[question.example.request.id] for i in profile}
            pool = tuple(c for c in question.ranked if c.record.id in chosen)
            pools.append(PooledExample(question.example, pool))
        controls: Sequence[tuple[tuple[Record, ...], ...]]
        if dataset.task.name in self.scales:
            stages, name = self.stages, dataset.task.name
            controls = match_pools(
                dataset,
                pools,
                stages.controls,
                stages.matching_encoder,
                stages.matching,
                progress=lambda step, done, of: on_step(f"{name}: matching, {step}", done, of),
            ).records
        else:
            controls = [((),) * len(one.pool) for one in pools]
        prompter = Prompter(self.generator.tokenizer)
        cases = prepare_cases(dataset, pools, controls, self.stages.encoder)
        subjects = []
        for case in cases:
            try:
                room = max(len(case.pool), 1)
                subjects.append(Subject(case, prompter, self.generator.window, room))
            except BudgetError as error:  # the reference is longer than an answer may be
                log.warning("without a likelihood: %s", error)
        return subjects


def _fitting(
    subject: Subject, wanted: Mapping[str, Iterable[tuple[str, ...]]]
) -> dict[tuple[int, ...], tuple[str, ...]]:
    """Profiles in places of the pool -> in ids; one without room for its reference is left out."""
    case, budget = subject.space.case, subject.space.budget
    place = {candidate.record.id: i for i, candidate in enumerate(case.pool)}
    found = {}
    for ids in wanted[case.example.request.id]:
        profile = tuple(place[i] for i in ids)
        if sum(budget.record_tokens[i] for i in profile) <= budget.max_profile_tokens:
            found[profile] = ids
    return found


def _with_value(row: Row, value: Value | None) -> Row:
    if value is None:
        return row
    return replace(
        row,
        log_likelihood_gain=value.log_likelihood_gain,
        gain=value.gain,
        specificity=value.specificity,
        net=value.net,
    )
