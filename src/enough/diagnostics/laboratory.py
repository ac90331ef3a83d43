"""Puts profiles of reported requests in front of the generator; every answer is kept.

In: a study and (request, profile) pairs. Out: `Tried`, with the answer and what the profile is
worth. Likelihoods and answers are remembered on disk, so nothing is computed twice, whichever
diagnostic asks, and a diagnostic that is killed goes on where it was.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from enough.controller.checkpoint import Trained
from enough.data.splits import draw_examples
from enough.diagnostics.study import Study, StudyConfig, open_study
from enough.diagnostics.tried import Tried
from enough.errors import BudgetError, DataError
from enough.evaluation.metrics import oriented
from enough.evaluation.sufficiency import selected_profile
from enough.evaluation.yardstick import labelled_users, require_unseen
from enough.generators.answer_cache import RememberingGenerator
from enough.generators.loading import load_open
from enough.generators.score_cache import CachedGenerator
from enough.labels.folder import LabelFolder
from enough.online.policy import ControllerPolicy
from enough.progress import OnStep, silent
from enough.prompts.profile_sequences import Profile
from enough.prompts.prompter import Prompter
from enough.protocols import OpenGenerator, Selector
from enough.records import Record
from enough.teacher.components import Components, scaled_components
from enough.teacher.preparation import cases_of
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.specificity import SpecificityConfig
from enough.teacher.supervision import Subject, hold_all, score_profiles

log = logging.getLogger(__name__)
_TOGETHER = 16  # requests whose profiles are scored in one call


class Laboratory:
    """A study with its generator at hand.

    Attributes:
        config: what is studied.
        folder: where the study's own labels and controllers are.
        on_step: told how far things are.
    """

    def __init__(
        self,
        config: StudyConfig,
        folder: Path,
        on_step: OnStep = silent,
        *,
        generator: OpenGenerator | None = None,
        opening: Callable[[StudyConfig, Path, OnStep], Study] = open_study,
    ) -> None:
        """Nothing is opened or loaded before it is needed.

        Args:
            config: what is studied.
            folder: of the study.
            on_step: told how far things are.
            generator: stands in for the study's own.
            opening: how studies are opened.
        """
        self.config = config
        self.folder = folder
        self.on_step = on_step
        self._given = generator
        self._opening = opening
        self._subjects: dict[str, list[Subject]] = {}

    @cached_property
    def study(self) -> Study:
        """Data, labels, controller."""
        return self._opening(self.config, self.folder, self.on_step)

    @cached_property
    def generator(self) -> RememberingGenerator:
        """Answers and likelihoods, each computed once."""
        inner = self._given
        if inner is None:
            self.on_step("loading the generator", 0, 1)
            inner = load_open(self.study.label.generator)
            self.on_step("loading the generator", 1, 1)
        return RememberingGenerator(inner, scorer=CachedGenerator(inner))

    @cached_property
    def prompter(self) -> Prompter:
        """Writes the generator's prompts."""
        return Prompter(self.generator.tokenizer)

    @property
    def max_records(self) -> int:
        """K_max of teacher and controller."""
        return self.study.label.search.max_records

    def subjects(self, split: str | None = None) -> list[Subject]:
        """Requests with pools, controls and budgets: the reported ones, or those of another slice.

        Users of the labels are refused.
        """
        study = self.study
        split = split or study.config.split
        if split not in self._subjects:
            config, slices = study.config, study.label.slices
            seen = labelled_users(LabelFolder(study.labels))
            found: list[Subject] = []
            for dataset in study.datasets.values():
                examples = draw_examples(dataset, split, config.requests, config.seed, slices)
                require_unseen(examples, seen, split)
                for case in cases_of(dataset, examples, study.stages, self.on_step):
                    try:
                        window = self.generator.window
                        found.append(Subject(case, self.prompter, window, self.max_records))
                    except BudgetError as error:
                        log.warning("left out: %s", error)
            if not found:
                raise DataError(f"there is no request in {split!r} to study; give more users")
            self._subjects[split] = found
        return self._subjects[split]

    def first_subjects(self, limit: int) -> list[Subject]:
        """The first so many reported requests of each task; 0: all."""
        by_task: dict[str, list[Subject]] = {}
        for subject in self.subjects():
            name = subject.space.case.example.request.task.name
            by_task.setdefault(name, []).append(subject)
        return [one for some in by_task.values() for one in some[: limit or None]]

    def another(self, name: str, config: StudyConfig) -> Laboratory:
        """The same with another study, in a folder of that name below this one's variants."""
        folder = self.folder / "variants" / name
        return Laboratory(
            config, folder, self.on_step, generator=self._given, opening=self._opening
        )

    def policy(
        self, trained: Trained | None = None, forced_length: int | None = None
    ) -> ControllerPolicy:
        """The study's controller as a selector, or another one."""
        encoder = self.study.stages.encoder
        return ControllerPolicy(trained or self.study.trained, encoder, forced_length=forced_length)

    def chosen(self, selector: Selector, subjects: Sequence[Subject]) -> list[Profile]:
        """What a selector takes of every pool, as places in it."""
        return [selected_profile(selector, subject) for subject in subjects]

    def try_profiles(self, wanted: Sequence[tuple[Subject, Profile]], step: str) -> list[Tried]:
        """Profiles of pools, fully judged: answer, likelihood, specificity, J; equals once."""
        worth = self.components(wanted, step)
        different = {(subject.space.case.name, profile): subject for subject, profile in wanted}
        records = [
            (subject, tuple(subject.space.case.pool[i].record for i in profile))
            for (_, profile), subject in different.items()
        ]
        plain = dict(zip(different, self.try_records(records, step), strict=True))
        keys = [(subject.space.case.name, profile) for subject, profile in wanted]
        return [plain[key].judged(*worth[key]) for key in keys]

    def try_records(
        self, wanted: Sequence[tuple[Subject, tuple[Record, ...]]], step: str
    ) -> list[Tried]:
        """Any records in the place of a profile: answer and likelihood, without specificity."""
        pairs = [
            pair for subject, records in wanted for pair in ((subject, records), (subject, ()))
        ]
        answers = self._answers(pairs, step)
        sequences = [self.prompter.sequence(s.space.case.example, r) for s, r in pairs]
        scores = self.generator.score(sequences)
        found = []
        for i, (subject, records) in enumerate(wanted):
            with_, without = 2 * i, 2 * i + 1
            found.append(
                _tried(
                    subject,
                    records,
                    self.prompter,
                    (answers[with_], answers[without]),
                    (float(scores[with_]), float(scores[without])),
                )
            )
        return found

    def components(
        self, wanted: Sequence[tuple[Subject, Profile]], step: str
    ) -> Mapping[tuple[str, Profile], tuple[float, float, float]]:
        """(case name, profile) -> ḡ, p̄ and J at the study's operating point."""
        found = {}
        for tree, scaled in self.trees(wanted, step):
            net = scaled.net(self.study.point)
            name = tree.of.name
            for node, profile in enumerate(tree.profiles):
                found[name, profile] = (
                    float(scaled.gain[node]),
                    float(scaled.specificity[node]),
                    float(net[node]),
                )
        return found

    def trees(
        self, wanted: Sequence[tuple[Subject, Profile]], step: str
    ) -> list[tuple[ScoredTree, Components]]:
        """Every request once, with all of its wanted profiles scored, counterfactuals included."""
        subjects: dict[str, Subject] = {}
        profiles: dict[str, dict[Profile, None]] = {}
        for subject, profile in wanted:
            name = subject.space.case.name
            subjects[name] = subject
            profiles.setdefault(name, {})[profile] = None
        config = SpecificityConfig(self.study.config.slots, audited=0)
        found: list[tuple[ScoredTree, Components]] = []
        names = list(subjects)
        for start in range(0, len(names), _TOGETHER):
            some = names[start : start + _TOGETHER]
            these = [subjects[name] for name in some]
            talks = [score_profiles(subjects[name], list(profiles[name]), config) for name in some]
            for done in hold_all(these, talks, self.generator.score):
                scale = self.study.scales[done.tree.of.task]
                found.append((done.tree, scaled_components(done.tree, scale)))
            self.on_step(f"{step}: scoring", len(found), len(names))
        return found

    def _answers(self, pairs: Sequence[tuple[Subject, tuple[Record, ...]]], step: str) -> list[str]:
        """One answer for each; tasks with the same room for answers are written together."""
        by_room: dict[int, list[int]] = {}
        for i, (subject, _) in enumerate(pairs):
            room = subject.space.case.example.request.task.max_answer_tokens
            by_room.setdefault(room, []).append(i)
        answers = [""] * len(pairs)
        done = 0
        for room, places in by_room.items():
            for start in range(0, len(places), _TOGETHER):
                some = places[start : start + _TOGETHER]
                prompts = [
                    self.prompter.prompt(pairs[i][0].space.case.example.request, pairs[i][1]).tokens
                    for i in some
                ]
                for i, text in zip(some, self.generator.generate(prompts, room), strict=True):
                    answers[i] = text
                done += len(some)
                self.on_step(f"{step}: answering", done, len(pairs))
        return answers


def _tried(
    subject: Subject,
    records: tuple[Record, ...],
    prompter: Prompter,
    answers: tuple[str, str],
    scores: tuple[float, float],
) -> Tried:
    """With and without the records."""
    example = subject.space.case.example
    request = example.request
    score, empty = (oriented(request.task, one, example.reference) for one in answers)
    return Tried(
        task=request.task.name,
        request_id=request.id,
        user=request.user,
        records=tuple(record.id for record in records),
        tokens=sum(prompter.record_tokens(request.task, record) for record in records),
        answer=answers[0],
        reference=example.reference,
        score=score,
        empty_score=empty,
        log_likelihood_gain=scores[0] - scores[1],
    )
