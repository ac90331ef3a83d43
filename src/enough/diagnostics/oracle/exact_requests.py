"""Reported requests whose every profile is scored, and how far a selector stays behind the best.

In: a laboratory, M', K' and a number of requests per task. Out: `ExactRequest`s, from which U*, J*
and all values follow without a generator (appendix, exact minimal-sufficient oracle). They are
drawn from the requests that everything else is reported on, and scored once for each laboratory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from enough.diagnostics.laboratory import Laboratory
from enough.evaluation.sufficiency import judge, selected_profile
from enough.protocols import Selector
from enough.teacher.components import scaled_components
from enough.teacher.oracle import Exact, exact_tree, exact_values, reduced
from enough.teacher.oracle_config import OracleConfig
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.supervision import Subject

RequestKey = tuple[str, str]
"""Task and id: a request among all tasks."""


@dataclass(frozen=True, slots=True, eq=False)
class ExactRequest:
    """A request with a reduced pool, and all of its profiles."""

    subject: Subject
    tree: ScoredTree

    @property
    def key(self) -> RequestKey:
        """Names the request."""
        return self.tree.of.task, self.tree.of.request


_SCORED: WeakKeyDictionary[Laboratory, dict[tuple[int, int, int], list[ExactRequest]]] = (
    WeakKeyDictionary()
)


def exact_requests(
    lab: Laboratory, pool: int, max_records: int, requests: int
) -> list[ExactRequest]:
    """So many reported requests of every task, exhaustively scored.

    Args:
        lab: whose requests, generator and settings.
        pool: M', candidates left of each pool.
        max_records: K'; the study's own horizon, where that is shorter.
        requests: per task, drawn at random from the reported ones; 0 takes all.
    """
    known = _SCORED.setdefault(lab, {})
    size = (pool, max_records, requests)
    if size not in known:
        config = oracle_config(lab, pool, max_records)
        drawn = _drawn(lab.subjects(), requests, lab.study.config.seed)
        found = []
        for subject in drawn:
            small = Subject(
                reduced(subject.space.case, pool),
                lab.prompter,
                lab.generator.window,
                config.max_records,
            )
            found.append(ExactRequest(small, exact_tree(small, config, lab.generator.score)))
            lab.on_step("exact oracle: scoring every profile", len(found), len(drawn))
        known[size] = found
    return known[size]


def oracle_config(
    lab: Laboratory, pool: int, max_records: int, epsilon: float = 0.0
) -> OracleConfig:
    """The study's own teacher and operating point on reduced pools."""
    label = lab.study.label
    return OracleConfig(
        split=lab.study.config.split,
        pool=pool,
        max_records=min(max_records, lab.max_records),
        slots=lab.study.config.slots,
        epsilon=epsilon,
        matching=label.matching,
        search=label.search,
        targets=lab.study.point,
    )


def exact_of(lab: Laboratory, one: ExactRequest, epsilon: float = 0.0) -> Exact:
    """All values of a request at the study's operating point and in its scales."""
    components = scaled_components(one.tree, lab.study.scales[one.tree.of.task])
    return exact_values(one.tree, components, lab.study.point, epsilon)


def regrets(
    lab: Laboratory, selector: Selector, requests: Sequence[ExactRequest]
) -> dict[RequestKey, float]:
    """J* − J of what a selector takes, by request."""
    return {
        one.key: judge(
            exact_of(lab, one), type(selector).__name__, selected_profile(selector, one.subject)
        ).regret
        for one in requests
    }


def _drawn(subjects: Sequence[Subject], count: int, seed: int) -> list[Subject]:
    """So many of every task, in their order."""
    by_task: dict[str, list[Subject]] = {}
    for subject in subjects:
        task = subject.space.case.example.request.task.name
        by_task.setdefault(task, []).append(subject)
    found = []
    for of_task in by_task.values():
        size = min(count or len(of_task), len(of_task))
        chosen = np.random.default_rng(seed).choice(len(of_task), size, replace=False)
        found += [of_task[place] for place in sorted(chosen)]
    return found
