"""Is the gain personal? Profiles with other records or other actions in the user's place.

In: reported requests with a profile. Out: for each its answer and likelihood under the user's own
profile and under every intervention (paper: Table specificity-interventions). A request is compared
under all interventions or none: one whose profile is empty, holds an unmatched record or cannot be
replaced within the window is left out, and counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.first_records import first_records
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.personal.intervention_profiles import (
    Records,
    matched_other,
    permuted_owners,
    shuffled,
    unchanged,
)
from enough.diagnostics.personal.intervention_rows import (
    CALLED_OTHER,
    CALLED_OWN,
    COMPARED_WITH,
    INTERVENTIONS_IN_ORDER,
    MATCHED,
    RANDOM,
    SHUFFLE,
    SWAP,
    TARGET,
    InterventionRow,
    InterventionsConfig,
)
from enough.diagnostics.personal.interventions_section import section
from enough.diagnostics.personal.other_users import OtherUsers
from enough.diagnostics.personal.replacement_balance import Replaced, replacement_balance
from enough.prompts.profile_sequences import Profile
from enough.protocols import Encoder
from enough.teacher.supervision import Subject

_MATCH, _PERMUTE, _SHUFFLE, _RANDOM, _SWAP = range(101, 106)  # purposes of random streams


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What is tried for one request: its own profile alone where it is left out."""

    subject: Subject
    left_out: str
    records: Mapping[str, Records]


def measure(lab: Laboratory, config: InterventionsConfig) -> list[InterventionRow]:
    """Rows of every request, in the order of the interventions."""
    subjects = lab.subjects()
    if config.profile == "enough":
        profiles = lab.chosen(lab.policy(), subjects)
    else:
        profiles = [first_records(subject, config.length) for subject in subjects]
    controls = lab.study.stages.controls
    others = {name: OtherUsers(one, controls) for name, one in lab.study.datasets.items()}
    plans = [
        planned(subject, profile, others[subject.space.case.example.request.task.name], lab, config)
        for subject, profile in zip(subjects, profiles, strict=True)
    ]
    wanted = [(plan, name) for plan in plans for name in plan.records]
    tried = lab.try_records([(p.subject, p.records[name]) for p, name in wanted], "interventions")
    far = _balances(plans, lab.study.stages.matching_encoder)
    rows = []
    for (plan, name), one in zip(wanted, tried, strict=True):
        against = plan.records[COMPARED_WITH.get(name, name)]
        kept = unchanged(against, plan.records[name]) if name in COMPARED_WITH else 0
        count, smd = (0, None) if plan.left_out else far[one.task, name]
        rows.append(InterventionRow(name, plan.left_out, one, kept, count, smd))
    return rows


def planned(
    subject: Subject,
    profile: Profile,
    others: OtherUsers,
    lab: Laboratory,
    config: InterventionsConfig,
) -> Plan:
    """All profiles of one request, or why there are none."""
    case, space = subject.space.case, subject.space
    own = tuple(case.pool[place].record for place in profile)
    if not own:
        return Plan(subject, "empty profile", {TARGET: own})
    controls = [case.controls[place] for place in profile]
    if not all(controls):
        return Plan(subject, "a record without matched controls", {TARGET: own})
    spare = [
        candidate.record.action for i, candidate in enumerate(case.pool) if i not in set(profile)
    ]
    called_own, called_other = permuted_owners(own, controls, space.random(config.seed, _PERMUTE))
    records = {
        TARGET: own,
        MATCHED: matched_other(controls, space.random(config.seed, _MATCH)),
        SHUFFLE: shuffled(own, spare, space.random(config.seed, _SHUFFLE)),
        CALLED_OWN: called_own,
        CALLED_OTHER: called_other,
        RANDOM: others.drawn(case.example, len(own), space.random(config.seed, _RANDOM)),
        SWAP: others.of_one(case.example, len(own), space.random(config.seed, _SWAP)),
    }
    if any(len(found) < len(own) for found in records.values()):
        return Plan(subject, "too few legal records of others", {TARGET: own})
    task, room = case.example.request.task, space.budget.max_profile_tokens
    if any(
        sum(lab.prompter.record_tokens(task, record) for record in found) > room
        for found in records.values()
    ):
        return Plan(subject, "replacements too long for the window", {TARGET: own})
    return Plan(subject, "", records)


def _balances(
    plans: Sequence[Plan], encoder: Encoder
) -> dict[tuple[str, str], tuple[int, float | None]]:
    """(task, intervention) -> how many covariates, and their mean absolute SMD."""
    of_task: dict[str, list[Plan]] = {}
    for plan in plans:
        if not plan.left_out:
            name = plan.subject.space.case.example.request.task.name
            of_task.setdefault(name, []).append(plan)
    found: dict[tuple[str, str], tuple[int, float | None]] = {}
    for task, some in of_task.items():
        for name in INTERVENTIONS_IN_ORDER:
            against = COMPARED_WITH.get(name, TARGET)
            cases = [
                Replaced(p.subject.space.case.example.request, p.records[against], p.records[name])
                for p in some
            ]
            balance = replacement_balance(cases, encoder)
            smd = balance.mean_smd
            # A single record has no spread to measure a difference by.
            known = smd if smd is not None and math.isfinite(smd) else None
            found[task, name] = (len(balance.named) + len(balance.content), known)
    return found


INTERVENTIONS = Diagnostic("interventions", InterventionsConfig, InterventionRow, measure, section)
