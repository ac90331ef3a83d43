"""How much hangs on each setting? One is varied at a time, the others stay as the study has them.

In: the study, and values of β, λ, η, ζ, M, K_max, K⁻ and (J, W). Out: a row for each request and
value (paper: Figures beta-lambda-sensitivity, app-structural-hyperparameters and
app-loss-weight-sensitivity). Weights and losses need other controllers on the same labels; settings
of the teacher need other labels, of which the likelihoods that are known are not computed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from enough.baselines.fixed import FixedLength
from enough.controller.checkpoint import Trained
from enough.controller.train_config import TrainConfig
from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.oracle.exact_requests import exact_requests, regrets
from enough.diagnostics.tried import Tried
from enough.diagnostics.variants.changed_settings import changed
from enough.diagnostics.variants.narrowed_selector import NarrowedSelector
from enough.diagnostics.variants.sweep_section import section
from enough.diagnostics.variants.sweep_settings import (
    LENGTH,
    PARAMETERS,
    STUDY,
    Number,
    Parameter,
    SweepConfig,
    SweepRow,
    shown,
)
from enough.labels.config import LabelConfig
from enough.prompts.prompter import L_REF
from enough.protocols import Selector
from enough.teacher.components import TargetConfig
from enough.teacher.preparation import cases_of
from enough.teacher.supervision import Subject


@dataclass(frozen=True, slots=True)
class Trial:
    """A value and who chooses under it; `point` has its own β and λ, where these are varied."""

    parameter: str
    value: str
    number: float
    is_own: bool
    selector: Selector
    point: TargetConfig | None = None


def measure(lab: Laboratory, config: SweepConfig) -> list[SweepRow]:
    """Label and train what is missing, let everybody choose, then judge what was chosen."""
    trials = list(_trials(lab, config))
    subjects = wide_subjects(lab, config)
    size = (config.oracle_pool, config.oracle_records, config.oracle_requests)
    exact = exact_requests(lab, *size) if config.oracle_requests else []
    wanted, about = [], []
    for trial in trials:
        known = regrets(lab, trial.selector, exact)
        for subject, profile in zip(subjects, lab.chosen(trial.selector, subjects), strict=True):
            request = subject.space.case.example.request
            wanted.append((subject, profile))
            about.append((trial, known.get((request.task.name, request.id))))
    tried = lab.try_profiles(wanted, "sweeps")
    return [
        SweepRow(
            parameter=trial.parameter,
            value=trial.value,
            number=trial.number,
            is_own=trial.is_own,
            own_net=None if trial.point is None else net_at(one, trial.point),
            regret=regret,
            tried=one,
        )
        for (trial, regret), one in zip(about, tried, strict=True)
    ]


def net_at(tried: Tried, point: TargetConfig) -> float | None:
    """J = ḡ + β p̄ − λ c at another β and λ."""
    if tried.gain is None or tried.specificity is None:
        return None
    return tried.gain + point.beta * tried.specificity - point.lambda_ * tried.tokens / L_REF


def wide_subjects(lab: Laboratory, config: SweepConfig) -> list[Subject]:
    """The reported requests with the largest pool and the farthest horizon of all values.

    Pools of different sizes begin alike, so every value is judged on the same candidates and
    controls, of which it sees its own part.
    """
    label, stages = lab.study.label, lab.study.stages
    pool = max(label.retrieval.pool, *config.pool) if config.pool else label.retrieval.pool
    horizon = max(lab.max_records, *config.max_records) if config.max_records else lab.max_records
    subjects = lab.subjects()
    if (pool, horizon) == (label.retrieval.pool, lab.max_records):
        return subjects
    found: list[Subject] = []
    examples = [subject.space.case.example for subject in subjects]
    for name, dataset in lab.study.datasets.items():
        of_task = [example for example in examples if example.request.task.name == name]
        cases = cases_of(dataset, of_task, replace(stages, pool=pool), lab.on_step)
        found += [Subject(case, lab.prompter, lab.generator.window, horizon) for case in cases]
    return found


def _trials(lab: Laboratory, config: SweepConfig) -> Iterator[Trial]:
    yield Trial(STUDY, "", 0.0, True, _seen_as(lab, lab.policy(), lab.study.label))
    for length in config.lengths:
        if length <= lab.max_records:
            selector = _seen_as(lab, FixedLength(length), lab.study.label)
            yield Trial(LENGTH, f"{length}", length, False, selector)
    for parameter in PARAMETERS:
        values = parameter.values(config)
        if not values:
            continue
        of = lab.study.label if parameter.is_structural else _training(lab)
        own = parameter.own(of)
        for parts in sorted({own, *values}):
            if parameter.is_structural:
                yield _relabelled(lab, parameter, parts, config, is_own=parts == own)
            else:
                yield _retrained(lab, parameter, parts, is_own=parts == own)


def _training(lab: Laboratory) -> TrainConfig:
    """Of all controllers here, the study's own value of everything included."""
    return replace(lab.study.config.train, chooser=None, targets=lab.study.point)


def _retrained(
    lab: Laboratory, parameter: Parameter, parts: tuple[Number, ...], *, is_own: bool
) -> Trial:
    """Another controller on the study's labels."""
    study, train = lab.study, changed(_training(lab), parameter.changes(parts))
    point = train.targets if parameter.paths[0].startswith("targets.") else None
    if is_own and study.config.controller is None and train == study.config.train:
        trained = study.trained
    else:
        name = "own-training" if is_own else _slug(parameter, parts)
        trained = study.shop.train(study.labels, f"variants/sweep-{name}", train)
    selector = _seen_as(lab, lab.policy(trained), study.label)
    return Trial(parameter.field, shown(parts), float(parts[0]), is_own, selector, point)


def _relabelled(
    lab: Laboratory,
    parameter: Parameter,
    parts: tuple[Number, ...],
    config: SweepConfig,
    *,
    is_own: bool,
) -> Trial:
    """A controller on labels of another teacher; the own value is labelled alike, once for all."""
    limit = config.label_requests or lab.study.label.requests
    label = replace(changed(lab.study.label, parameter.changes(parts)), requests=limit)
    name = f"variants/sweep-{'own-teacher' if is_own else _slug(parameter, parts)}"
    trained = _taught(lab, label, name)
    selector = _seen_as(lab, lab.policy(trained), label)
    return Trial(parameter.field, shown(parts), float(parts[0]), is_own, selector)


def _taught(lab: Laboratory, label: LabelConfig, name: str) -> Trained:
    shop = lab.study.shop
    stages = replace(shop.stages, pool=label.retrieval.pool, matching=label.matching)
    its_own = replace(shop, stages=stages)
    return its_own.train(
        its_own.label(f"{name}/labels", label), f"{name}/controller", _training(lab)
    )


def _seen_as(lab: Laboratory, selector: Selector, label: LabelConfig) -> Selector:
    """With the pool and the horizon of a teacher."""
    return NarrowedSelector(selector, label.retrieval.pool, label.search.max_records)


def _slug(parameter: Parameter, parts: tuple[Number, ...]) -> str:
    return "-".join([parameter.key, *(f"{part:g}" for part in parts)])


SWEEPS = Diagnostic("sweeps", SweepConfig, SweepRow, measure, section)
