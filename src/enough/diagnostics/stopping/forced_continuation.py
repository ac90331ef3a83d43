"""Was it right to stop? STOP is suppressed and one to three further records are appended.

In: reported requests at which the policy stopped by itself. Out: a row for each order of records
and each depth they can be continued to (paper: Table app-forced-continuation and Figure
always-beneficial b). Continuations may leave the horizon K_max, never the pool or the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from enough.controller.features import PoolFeatures, featurise
from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.stopping.continuation_outcomes import (
    CONTROLLER,
    ENDED,
    FORCED,
    ORACLE,
    RETRIEVER,
    STOPPED,
    ContinuationRow,
    ForcedContinuationConfig,
    category,
)
from enough.diagnostics.stopping.forced_continuation_section import section
from enough.diagnostics.tried import Tried
from enough.online.fast_controller import FastController
from enough.online.policy import ControllerPolicy
from enough.prompts.profile_sequences import Profile
from enough.protocols import Encoder
from enough.teacher.space import SearchSpace
from enough.teacher.supervision import Subject

_STEP = "forced continuation"


@dataclass(frozen=True, slots=True, eq=False)
class Stop:
    """Where the policy ended, and whether that was its own decision."""

    subject: Subject
    features: PoolFeatures
    profile: Profile
    is_own: bool


def measure(lab: Laboratory, config: ForcedContinuationConfig) -> list[ContinuationRow]:
    """Rows of where the policy ended, then of all continuations."""
    policy, encoder = lab.policy(), lab.study.stages.encoder
    subjects = lab.first_subjects(config.requests)
    ended = [_ended(policy, encoder, subject) for subject in subjects]
    stops = [one for one in ended if one.is_own]
    fast = FastController(lab.study.trained)
    longest = {
        CONTROLLER: [
            controller_order(fast, one.features, one.profile, config.depth) for one in stops
        ],
        RETRIEVER: [retriever_order(one.subject.space, one.profile, config.depth) for one in stops],
        ORACLE: _oracle_orders(lab, stops, config),
    }
    continued = [
        (order, stop, whole[:end])
        for order, profiles in longest.items()
        for stop, whole in zip(stops, profiles, strict=True)
        for end in range(len(stop.profile) + 1, len(whole) + 1)
    ]
    wanted = {_key(one.subject, one.profile): (one.subject, one.profile) for one in ended}
    wanted |= {_key(stop.subject, part): (stop.subject, part) for _, stop, part in continued}
    tried = dict(zip(wanted, lab.try_profiles(list(wanted.values()), _STEP), strict=True))
    at = [tried[_key(one.subject, one.profile)] for one in ended]
    kinds = [STOPPED if one.is_own else FORCED for one in ended]
    return [
        *(_row(ENDED, one, one, kind) for one, kind in zip(at, kinds, strict=True)),
        *(
            _row(order, tried[_key(stop.subject, stop.profile)], tried[_key(stop.subject, part)])
            for order, stop, part in continued
        ),
    ]


def controller_order(
    fast: FastController, features: PoolFeatures, profile: Profile, count: int
) -> Profile:
    """The profile continued by up to so many records, each the controller's best with STOP masked.

    The controller is told its own horizon as long as that lasts, then that one record is left.
    """
    for _ in range(count):
        horizon = max(features.max_records, len(profile) + 1)
        walk = fast.start(replace(features, max_records=horizon))
        for place in profile:
            walk.take(place)
        if not walk.feasible.any():
            break
        profile = (*profile, int(walk.values().net.argmax()))
    return profile


def retriever_order(space: SearchSpace, profile: Profile, count: int) -> Profile:
    """The profile continued by up to so many records, each the retriever's first that is left."""
    for _ in range(count):
        if not (left := left_records(space, profile)):
            break
        profile = (*profile, left[0])
    return profile


def left_records(space: SearchSpace, profile: Profile) -> list[int]:
    """Places of the pool that are not taken and fit the window, horizon or not."""
    budget = replace(space.budget, max_records=len(space.case.pool))
    return replace(space, budget=budget).feasible(profile)


def _oracle_orders(
    lab: Laboratory, stops: Sequence[Stop], config: ForcedContinuationConfig
) -> list[Profile]:
    """Each continued by the record after which J is highest, of equals the retriever's first."""
    profiles = [stop.profile for stop in stops]
    for depth in range(1, config.depth + 1):
        options = [
            _options(stop.subject.space, profile, config.oracle_candidates)
            for stop, profile in zip(stops, profiles, strict=True)
        ]
        wanted = [
            (stop.subject, option)
            for stop, some in zip(stops, options, strict=True)
            for option in some
        ]
        worth = lab.components(wanted, f"{_STEP}: oracle, +{depth}")
        for i, some in enumerate(options):
            if some:
                nets = [worth[_key(stops[i].subject, option)][2] for option in some]
                profiles[i] = some[nets.index(max(nets))]
    return profiles


def _options(space: SearchSpace, profile: Profile, limit: int) -> list[Profile]:
    return [(*profile, place) for place in left_records(space, profile)[: limit or None]]


def _ended(policy: ControllerPolicy, encoder: Encoder, subject: Subject) -> Stop:
    case, budget = subject.space.case, subject.space.budget
    features = featurise(case.example.request, case.pool, budget, encoder)
    trace = policy.decide(features)
    is_own = bool(trace.steps) and trace.steps[-1].taken is None
    return Stop(subject, features, trace.profile, is_own)


def _key(subject: Subject, profile: Profile) -> tuple[str, Profile]:
    return subject.space.case.name, profile


def _row(order: str, stopped: Tried, tried: Tried, kind: str | None = None) -> ContinuationRow:
    if stopped.net is None or tried.net is None:
        raise ValueError("profiles of a pool have a J")
    return ContinuationRow(
        order=order,
        depth=len(tried.records) - len(stopped.records),
        category=kind or category(stopped.net, stopped.score, tried.net, tried.score),
        extra_tokens=tried.tokens - stopped.tokens,
        stopped_records=len(stopped.records),
        stopped_net=stopped.net,
        stopped_score=stopped.score,
        tried=tried,
    )


FORCED_CONTINUATION = Diagnostic(
    "forced-continuation", ForcedContinuationConfig, ContinuationRow, measure, section
)
