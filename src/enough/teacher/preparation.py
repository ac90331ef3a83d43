"""From examples to cases: leakage controls, pools, matched controls, orders.

In: examples of a task and the frozen stages in front of the generator. Out: `Case`s. The one way by
which labels, estimates, benches and the oracle come by them, so that they see the same records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from enough.data.leakage import LeakageControls
from enough.matching.matcher import MatchConfig
from enough.matching.replacements import PoolMatcher
from enough.progress import OnStep, silent
from enough.protocols import Encoder, Retriever
from enough.records import Dataset, Example
from enough.retrieval.pools import (
    PooledExample,
    RetrievalConfig,
    build_stages,
    cached_encoder,
    collect_pools,
)
from enough.teacher.case import Case, prepare_cases

_PORTION = 128  # examples; on a GPU fewer would be embedded in too small batches


@dataclass(frozen=True, slots=True)
class Stages:
    """The frozen parts in front of the generator.

    Attributes:
        controls: what a request may see.
        retriever: which of it comes into the pool.
        encoder: for likeness; the retriever may have its own.
        pool: M.
        matching: how controls are found.
        matching_encoder: what they are compared by.
    """

    controls: LeakageControls
    retriever: Retriever
    encoder: Encoder
    pool: int
    matching: MatchConfig
    matching_encoder: Encoder


def load_stages(retrieval: RetrievalConfig, matching: MatchConfig) -> Stages:
    """Load encoders and retriever."""
    controls, retriever = build_stages(retrieval)
    encoder = controls.encoder
    assert encoder is not None
    is_same = matching.encoder == retrieval.encoder
    apart = encoder if is_same else cached_encoder(matching.encoder)
    return Stages(controls, retriever, encoder, retrieval.pool, matching, apart)


def cases_of(
    dataset: Dataset,
    examples: Sequence[Example],
    stages: Stages,
    on_step: OnStep = silent,
    wanted: Callable[[PooledExample], bool] | None = None,
) -> Iterator[Case]:
    """Cases in the order of the examples; those whose pool is not wanted are left out.

    They are made a portion at a time, so that whoever scores them need not wait for the last.
    """
    name = dataset.task.name
    matcher: PoolMatcher | None = None
    for first in range(0, len(examples), _PORTION):
        some = examples[first : first + _PORTION]
        found = collect_pools(dataset, some, stages.controls, stages.retriever, stages.pool)
        pools = [one for one in found if wanted is None or wanted(one)]
        on_step(f"{name}: preparing", first + len(some), len(examples))
        if not pools:
            continue
        if matcher is None:
            matcher = PoolMatcher(
                dataset,
                stages.controls,
                stages.matching_encoder,
                stages.matching,
                progress=lambda step, done, total: on_step(f"{name}: {step}", done, total),
            )
        matched = matcher.match(pools)
        yield from prepare_cases(dataset, pools, matched.records, stages.encoder)
