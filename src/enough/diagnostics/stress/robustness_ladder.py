"""What does the controller do when a pool gets harder? Five nested pools for every request.

In: reported requests with a record that helps alone. Out: what ENOUGH chooses of every pool of
`candidate_ladder`, and the answer to it (paper: Table app-robustness). Requests without such a
record are left out, and counted. Quality is beside ENOUGH's on the requests' own pools.
"""

from __future__ import annotations

from collections.abc import Sequence

from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.personal.other_users import OtherUsers
from enough.diagnostics.stress.candidate_ladder import (
    STEPS,
    Ladder,
    build_ladder,
    conflicting_action,
    least_similar,
    ranked_pool,
    split_by_worth,
)
from enough.diagnostics.stress.robustness_rows import OWN_POOL, LadderRow, RobustnessConfig
from enough.diagnostics.stress.robustness_section import section
from enough.online.policy import ControllerPolicy
from enough.records import Record
from enough.retrieval.dense import DenseRetriever
from enough.teacher.supervision import Subject

_DRAW = 201  # purpose of a random stream


def measure(lab: Laboratory, config: RobustnessConfig) -> list[LadderRow]:
    """A row of every request on its own pool, and of every step where there is a ladder."""
    subjects = lab.subjects()
    policy = lab.policy()
    wanted: list[tuple[Subject, tuple[Record, ...]]] = []
    about: list[tuple[str, str, int, tuple[str, ...]]] = []  # step, left out, pool, kinds
    ladders = built(lab, subjects, config)
    own = lab.chosen(policy, subjects)
    for subject, profile, ladder in zip(subjects, own, ladders, strict=True):
        pool = subject.space.case.pool
        left_out = ladder if isinstance(ladder, str) else ""
        wanted.append((subject, tuple(pool[place].record for place in profile)))
        about.append((OWN_POOL, left_out, len(pool), ()))
        if isinstance(ladder, str):
            continue
        for step, records in zip(STEPS, ladder.rungs, strict=True):
            chosen = _chosen(lab, policy, subject, records)
            wanted.append((subject, chosen))
            about.append((step, "", len(records), ladder.kinds(chosen)))
    tried = lab.try_records(wanted, "robustness ladder")
    return [
        LadderRow(step, left_out, pool, kinds, one)
        for (step, left_out, pool, kinds), one in zip(about, tried, strict=True)
    ]


def built(
    lab: Laboratory, subjects: Sequence[Subject], config: RobustnessConfig
) -> list[Ladder | str]:
    """The ladder of every request, or why it has none."""
    singles = [
        (subject, (place,))
        for subject in subjects
        for place in range(min(config.considered, len(subject.space.case.pool)))
        if subject.space.budget.record_tokens[place] <= subject.space.budget.max_profile_tokens
    ]
    worth = lab.components(singles, "robustness ladder")
    controls = lab.study.stages.controls
    others = {name: OtherUsers(one, controls) for name, one in lab.study.datasets.items()}
    similarity = DenseRetriever(lab.study.stages.encoder)
    places: dict[str, list[int]] = {}
    for subject, (place,) in singles:
        places.setdefault(subject.space.case.name, []).append(place)
    found: list[Ladder | str] = []
    for subject in subjects:
        case = subject.space.case
        request = case.example.request
        looked_at = places.get(case.name, [])
        alone = [worth[case.name, (place,)][2] for place in looked_at]
        useless, best = split_by_worth(alone, config.base)
        if best is None:
            found.append("no record helps alone")
            continue
        useful = case.pool[looked_at[best]].record
        rng = subject.space.random(config.seed, _DRAW)
        strangers = others[request.task.name].drawn(case.example, config.others, rng)
        far = least_similar(request, strangers, similarity)
        action = conflicting_action(request.task, useful, case.example.reference, strangers, rng)
        if far is None or action is None:
            found.append("no legal record of others")
            continue
        base = [case.pool[looked_at[place]].record for place in useless]
        found.append(build_ladder(base, useful, far, action))
    return found


def _chosen(
    lab: Laboratory, policy: ControllerPolicy, subject: Subject, records: Sequence[Record]
) -> tuple[Record, ...]:
    """What the controller takes of these records, ranked as the study's retriever ranks."""
    example = subject.space.case.example
    pool = ranked_pool(example.request, records, lab.study.stages.retriever)
    if not pool:
        return ()
    # As for the request's own pool: room for the answer and for the reference that is scored.
    answer = max(example.request.task.max_answer_tokens, len(lab.prompter.reference(example)))
    budget = lab.prompter.budget(
        example.request, pool, lab.generator.window, lab.max_records, answer
    )
    return policy.select(example.request, pool, budget).records


ROBUSTNESS_LADDER = Diagnostic("robustness-ladder", RobustnessConfig, LadderRow, measure, section)
