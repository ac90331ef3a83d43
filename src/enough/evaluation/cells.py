"""One method on one task in one run: a row for every request.

In: a method, questions, the meters of its generators. Out: `Row`s. What a method spends is read off
the meters and the clock; time of a remembered answer is that of the call it once was.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from enough.evaluation.metrics import example_scores
from enough.evaluation.questions import Question
from enough.evaluation.rows import Row, Seconds
from enough.generators.metering import Meter, Reading
from enough.progress import OnStep, silent
from enough.protocols import Answered, Method, ReferenceAwareMethod


@dataclass(frozen=True, slots=True, eq=False)
class Meters:
    """What is spent: by the generator that answers, by the one that orders, by writing prompts."""

    generator: Meter
    reranker: Meter
    prompter: Meter

    def reading(self) -> tuple[Reading, Reading, Reading]:
        """All of them, now."""
        return self.generator.reading(), self.reranker.reading(), self.prompter.reading()


@dataclass(frozen=True, slots=True)
class Cell:
    """Names the rows of one method on one task in one run."""

    method: str
    task: str
    seed: int

    def __str__(self) -> str:
        return f"{self.method}, {self.task}, seed {self.seed}"


def run_cell(
    cell: Cell,
    method: Method | ReferenceAwareMethod,
    questions: Sequence[Question],
    meters: Meters,
    on_step: OnStep = silent,
) -> list[Row]:
    """Rows in the order of the questions."""
    rows = []
    for question in questions:
        before, started = meters.reading(), time.perf_counter()
        answered = _answered(method, question)
        passed = time.perf_counter() - started
        after = meters.reading()
        spent = _Spent(after[0] - before[0], after[1] - before[1], after[2] - before[2], passed)
        rows.append(_row(cell, question, answered, spent))
        on_step(str(cell), len(rows), len(questions))
    return rows


def _answered(method: Method | ReferenceAwareMethod, question: Question) -> Answered:
    if hasattr(method, "answer_knowing"):
        return method.answer_knowing(question.asked, question.example)
    return method.answer(question.asked)


@dataclass(frozen=True, slots=True)
class _Spent:
    """On one request: by the generator, by the reranker, on prompts, and on the clock."""

    answering: Reading
    ordering: Reading
    writing: Reading
    passed: float


def _row(cell: Cell, question: Question, answered: Answered, spent: _Spent) -> Row:
    request, reference = question.example.request, question.example.reference
    answering, ordering, own = spent.answering, spent.ordering, answered.own_retrieval
    # What is neither waiting for a model nor searching nor writing the prompt is choosing.
    known = (answering.waited, ordering.waited, spent.writing.waited, own or 0.0)
    choosing = spent.passed - sum(known)
    return Row(
        method=cell.method,
        task=cell.task,
        seed=cell.seed,
        request_id=request.id,
        user=request.user,
        answer=answered.text,
        reference=reference,
        scores=example_scores(request.task, answered.text, reference),
        records=tuple(record.id for record in answered.records),
        profile_tokens=answered.profile_tokens,
        one_prompt=answered.one_prompt,
        root_stop=not answered.records,
        calls=answering.calls,
        rerank_calls=ordering.calls,
        prompt_tokens=answering.prompt_tokens + ordering.prompt_tokens,
        seconds=Seconds(
            retrieval=question.retrieval_seconds if own is None else own,
            selection=max(choosing, 0.0) + ordering.seconds,
            generation=answering.seconds,
            other=spent.writing.waited,
        ),
        reason=answered.reason,
    )
