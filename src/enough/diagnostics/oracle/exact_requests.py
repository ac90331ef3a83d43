"""Reported requests whose every profile is scored, and how far a selector stays behind the best.

In: a laboratory, M', K' and a number of requests per task. Out: `ExactRequest`s, from which U*, J*
and all values follow without a generator (appendix, exact minimal-sufficient oracle). They are
the first of the requests that everything else is reported on; the laboratory remembers likelihoods,
so asking again costs no generator call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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


def exact_requests(
    lab: Laboratory, pool: int, max_records: int, requests: int
) -> list[ExactRequest]:
    """So many reported requests of every task, exhaustively scored.

    Args:
        lab: whose requests, generator and settings.
        pool: M', candidates left of each pool.
        max_records: K'; the study's own horizon, where that is shorter.
        requests: per task, the first of the reported ones; 0 takes all.
    """
    config = oracle_config(lab, pool, max_records)
    subjects = lab.first_subjects(requests)
    found = []
    for subject in subjects:
        case = reduced(subject.space.case, pool)
        small = Subject(case, lab.prompter, lab.generator.window, config.max_records)
        found.append(ExactRequest(small, exact_tree(small, config, lab.generator.score)))
        lab.on_step("exact oracle: scoring every profile", len(found), len(subjects))
    return found


def oracle_config(
    lab: Laboratory, pool: int, max_records: int, epsilon: float = 0.0
) -> OracleConfig:
    """The study's own teacher and operating point on reduced pools; its beams reach the horizon."""
    label = lab.study.label
    return OracleConfig(
        split=lab.study.config.split,
        pool=pool,
        max_records=min(max_records, lab.max_records),
        slots=lab.study.config.slots,
        epsilon=epsilon,
        matching=label.matching,
        search=replace(label.search, levels=0),
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
