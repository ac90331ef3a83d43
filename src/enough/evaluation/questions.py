"""Requests as all methods meet them: leakage controls, the shared pool, the budget.

In: examples of a task. Out: `Question`s. They are made once and handed to every method, so that all
choose from the same records with the same room.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

from enough.errors import BudgetError
from enough.progress import OnStep, silent
from enough.prompts.prompter import Prompter
from enough.protocols import Asked, PreparingRetriever
from enough.records import Dataset, Example, Pool
from enough.teacher.preparation import Stages

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A request with what is known of it.

    Attributes:
        example: the request with its reference; methods get `asked` alone.
        asked: what a method gets.
        ranked: the whole legal history in the retriever's order; the pool is its beginning.
        retrieval_seconds: it took to rank it.
    """

    example: Example
    asked: Asked
    ranked: Pool
    retrieval_seconds: float


def ask(
    dataset: Dataset,
    examples: Sequence[Example],
    stages: Stages,
    prompter: Prompter,
    *,
    window: int,
    max_records: int,
    on_step: OnStep = silent,
) -> list[Question]:
    """Questions in the order of the examples; those too long for the window are left out."""
    requests = [example.request for example in examples]
    legal = stages.controls.legal_many(
        requests,
        [dataset.history(request) for request in requests],
        [example.reference for example in examples],
    )
    if isinstance(stages.retriever, PreparingRetriever):
        stages.retriever.prepare(requests, [history.records for history in legal])
    found = []
    for place, (example, history) in enumerate(zip(examples, legal, strict=True)):
        request, records = example.request, history.records
        started = time.perf_counter()
        ranked = stages.retriever.retrieve(request, records, max(len(records), 1))
        seconds = time.perf_counter() - started
        pool = ranked[: stages.pool]
        try:
            budget = prompter.budget(request, pool, window, max_records)
        except BudgetError as error:
            log.warning("left out: %s", error)
            continue
        found.append(Question(example, Asked(request, records, pool, budget), ranked, seconds))
        on_step(f"{dataset.task.name}: retrieving", place + 1, len(examples))
    return found
