"""What the profiles of selectors are worth on requests nobody learnt from.

In: requests, selectors, and a generator to judge with. Out: one row per request and selector, with
gain, specificity and cost. References judge after everybody has chosen. One thing of them is known
before: a reference longer than the task's answers has to fit the window, too, so it leaves a
profile less room. A profile that several selectors choose is scored once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from enough.errors import BudgetError
from enough.evaluation.sufficiency import selected_profile
from enough.online.policy import ControllerPolicy
from enough.progress import OnStep, silent
from enough.prompts.profile_sequences import Profile
from enough.prompts.prompter import Prompter
from enough.protocols import Generator, Selector
from enough.teacher.case import Case
from enough.teacher.components import Scale, TargetConfig, scaled_components
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.specificity import SpecificityConfig
from enough.teacher.supervision import Subject, hold_all, score_profiles

log = logging.getLogger(__name__)
_TOGETHER = 16  # requests whose profiles are scored in one call


@dataclass(frozen=True, slots=True)
class Choice:
    """What a selector chose: the profile, and what it expected of it where it says so."""

    profile: Profile
    promised: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRequest:
    """A request, what was chosen for it, and every chosen profile scored."""

    subject: Subject
    choices: Mapping[str, Choice]
    tree: ScoredTree


@dataclass(frozen=True, slots=True)
class Outcome:
    """One selector's profile of one request, at one operating point.

    Attributes:
        profile: ids of the records, in order.
        tokens: what they add to the prompt.
        gain, specificity: ḡ and p̄, in units of the task's scales.
        net: J = ḡ + β p̄ − λ c.
        promised: what the selector expected J to be, if it expects anything.
    """

    task: str
    request_id: str
    user: str
    selector: str
    beta: float
    lambda_: float
    profile: tuple[str, ...]
    tokens: int
    gain: float
    specificity: float
    net: float
    promised: float | None


def choose(selector: Selector, subject: Subject) -> Choice:
    """What a selector takes of a subject's pool."""
    if isinstance(selector, ControllerPolicy):
        case = subject.space.case
        trace = selector.trace(case.example.request, case.pool, subject.space.budget)
        if not trace.steps:
            return Choice(trace.profile, 0.0)
        root = trace.steps[0]
        return Choice(trace.profile, root.values.promise(root.taken))
    return Choice(selected_profile(selector, subject))


def judge_selectors(
    cases: Iterable[Case],
    selectors: Mapping[str, Selector],
    generator: Generator,
    *,
    max_records: int,
    specificity: SpecificityConfig,
    on_step: OnStep = silent,
) -> list[JudgedRequest]:
    """Let everybody choose, then score what was chosen."""
    prompter = Prompter(generator.tokenizer)
    subjects = []
    for case in cases:
        try:
            subjects.append(Subject(case, prompter, generator.window, max_records))
        except BudgetError as error:
            log.warning("left out: %s", error)
    chosen = [{name: choose(one, s) for name, one in selectors.items()} for s in subjects]
    judged: list[JudgedRequest] = []
    for start in range(0, len(subjects), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        trees = _scored(subjects[some], chosen[some], generator, specificity)
        judged += map(JudgedRequest, subjects[some], chosen[some], trees)
        on_step("scoring what was chosen", len(judged), len(subjects))
    return judged


def _scored(
    subjects: Sequence[Subject],
    chosen: Sequence[Mapping[str, Choice]],
    generator: Generator,
    config: SpecificityConfig,
) -> list[ScoredTree]:
    talks = [
        score_profiles(subject, [choice.profile for choice in choices.values()], config)
        for subject, choices in zip(subjects, chosen, strict=True)
    ]
    return [found.tree for found in hold_all(subjects, talks, generator.score)]


def outcomes(
    judged: Iterable[JudgedRequest],
    scales: Mapping[str, Scale],
    point: TargetConfig,
    selectors: Sequence[str] | None = None,
) -> list[Outcome]:
    """Rows at one operating point; of all selectors, or of those named."""
    rows = []
    for one in judged:
        of, tree = one.tree.of, one.tree
        components = scaled_components(tree, scales[of.task])
        net = components.net(point)
        node_of = {profile: node for node, profile in enumerate(tree.profiles)}
        for name in one.choices if selectors is None else selectors:
            choice = one.choices[name]
            node = node_of[choice.profile]
            rows.append(
                Outcome(
                    task=of.task,
                    request_id=of.request,
                    user=of.user,
                    selector=name,
                    beta=point.beta,
                    lambda_=point.lambda_,
                    profile=tuple(of.pool[place] for place in choice.profile),
                    tokens=sum(of.record_tokens[place] for place in choice.profile),
                    gain=float(components.gain[node]),
                    specificity=float(components.specificity[node]),
                    net=float(net[node]),
                    promised=choice.promised,
                )
            )
    return rows
