"""What fixed profile lengths do to a frozen generator: the first question to ask of any log.

In: examples with their pools, a generator, lengths such as 0, 1, 3, 5, 10. Out: one row per request
and length: exact tokens, likelihood of the reference, gain over the empty profile, the answer.
Tables are derived from the rows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

import numpy as np

from enough.answers import rouge_1
from enough.baselines.fixed import FixedLength
from enough.errors import BudgetError, ConfigError
from enough.generators.config import GeneratorConfig
from enough.prompts.prompter import Prompter
from enough.protocols import Budget, Generator
from enough.records import Record
from enough.retrieval.pools import PooledExample, RetrievalConfig

log = logging.getLogger(__name__)

_TOGETHER = 8  # requests whose answers are decoded in common batches


@dataclass(frozen=True, slots=True)
class LengthConfig:
    """A study of fixed lengths.

    Attributes:
        lengths: numbers of records to try.
        requests: requests per task, drawn at random; 0 takes all.
        split: which examples.
        seed: for the draw.
    """

    lengths: tuple[int, ...] = (0, 1, 3, 5, 10)
    requests: int = 50
    split: str = "dev"
    seed: int = 0
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    generator: GeneratorConfig = field(default_factory=GeneratorConfig)

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) < 0:
            raise ConfigError("lengths must name at least one number of records, none negative")
        if len(set(self.lengths)) < len(self.lengths):
            raise ConfigError("lengths must not name a number twice")
        if self.requests < 0:
            raise ConfigError(f"requests must not be negative, not {self.requests}")


@dataclass(frozen=True, slots=True)
class LengthRow:
    """One request under one fixed length.

    Attributes:
        log_likelihood: ℓ_i(S), mean over reference tokens.
        gain: g_i(S) = ℓ_i(S) − ℓ_i(∅).
        overlap: ROUGE-1 F of the answer with the reference.
        changed: the answer is not the one without a profile.
    """

    task: str
    request_id: str
    length: int
    records: int
    tokens: int
    log_likelihood: float
    gain: float
    answer: str
    overlap: float
    changed: bool


@dataclass(frozen=True, slots=True)
class LengthSummary:
    """Means over requests for one length; shares are of requests."""

    length: int
    requests: int
    records: float
    tokens: float
    log_likelihood: float
    gain: float
    helped: float
    harmed: float
    overlap: float
    answers_changed: float


def study_lengths(
    examples: Sequence[PooledExample],
    generator: Generator,
    lengths: Sequence[int],
    on_request: Callable[[int], None] | None = None,
) -> list[LengthRow]:
    """Rows of all requests; `on_request` is told how many are done."""
    prompter = Prompter(generator.tokenizer)
    rows: list[LengthRow] = []
    done = 0
    if on_request is not None:
        on_request(0)  # answers of the first few take minutes on a CPU
    for _, same_task in groupby(examples, key=lambda pooled: pooled.example.request.task.name):
        for some in _in_groups(same_task, _TOGETHER):
            rows += _rows(some, generator, prompter, lengths)
            done += len(some)
            if on_request is not None:
                on_request(done)
    return rows


def _rows(
    some: Sequence[PooledExample],
    generator: Generator,
    prompter: Prompter,
    lengths: Sequence[int],
) -> list[LengthRow]:
    """Score and answer a few requests of one task under every length, and under none."""
    tried = (0, *lengths)  # the first of each request is there to compare with
    cases = [
        (pooled.example, length, chosen)
        for pooled in some
        for length, chosen in zip(tried, _profiles(pooled, tried, generator, prompter), strict=True)
    ]
    scores = generator.score([prompter.sequence(example, chosen) for example, _, chosen in cases])
    prompts = [prompter.prompt(example.request, chosen) for example, _, chosen in cases]
    answer_tokens = some[0].example.request.task.max_answer_tokens
    answers = generator.generate([prompt.tokens for prompt in prompts], answer_tokens)
    rows = []
    for i, (example, length, chosen) in enumerate(cases):
        empty = i - i % len(tried)
        if i > empty:
            rows.append(
                LengthRow(
                    task=example.request.task.name,
                    request_id=example.request.id,
                    length=length,
                    records=len(chosen),
                    tokens=prompts[i].profile_tokens,
                    log_likelihood=float(scores[i]),
                    gain=float(scores[i] - scores[empty]),
                    answer=answers[i],
                    overlap=rouge_1(answers[i], example.reference),
                    changed=answers[i] != answers[empty],
                )
            )
    return rows


def _profiles(
    pooled: PooledExample, lengths: Sequence[int], generator: Generator, prompter: Prompter
) -> list[tuple[Record, ...]]:
    request = pooled.example.request
    budget = _budget(pooled, generator, prompter, max(lengths))
    return [FixedLength(k).select(request, pooled.pool, budget).records for k in lengths]


def _budget(
    pooled: PooledExample, generator: Generator, prompter: Prompter, longest: int
) -> Budget:
    """Room for the answer and, since it is scored, for the reference."""
    request = pooled.example.request
    answer = max(request.task.max_answer_tokens, len(prompter.reference(pooled.example)))
    return prompter.budget(request, pooled.pool, generator.window, longest, answer)


def fitting(examples: Sequence[PooledExample], generator: Generator) -> list[PooledExample]:
    """The examples whose request fits the window without a profile; the others are named."""
    prompter = Prompter(generator.tokenizer)
    kept = []
    for pooled in examples:
        try:
            _budget(pooled, generator, prompter, 0)
        except BudgetError as error:
            log.warning("left out: %s", error)
        else:
            kept.append(pooled)
    return kept


def _in_groups(examples: Iterable[PooledExample], size: int) -> Iterator[list[PooledExample]]:
    remaining = iter(examples)
    while some := list(islice(remaining, size)):
        yield some


def summarise(rows: Sequence[LengthRow]) -> list[LengthSummary]:
    """One line per length. Helped and harmed compare the likelihood with the empty profile's."""
    summaries = []
    for length in sorted({row.length for row in rows}):
        chosen = [row for row in rows if row.length == length]
        summaries.append(
            LengthSummary(
                length=length,
                requests=len(chosen),
                records=_mean([row.records for row in chosen]),
                tokens=_mean([row.tokens for row in chosen]),
                log_likelihood=_mean([row.log_likelihood for row in chosen]),
                gain=_mean([row.gain for row in chosen]),
                helped=_mean([row.gain > 0 for row in chosen]),
                harmed=_mean([row.gain < 0 for row in chosen]),
                overlap=_mean([row.overlap for row in chosen]),
                answers_changed=_mean([row.changed for row in chosen]),
            )
        )
    return summaries


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
