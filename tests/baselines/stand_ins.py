"""Open generators by hand, and requests to ask methods with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from enough.baselines.tools import Tools
from enough.generators.fake import FakeGenerator
from enough.prompts.prompter import Prompter
from enough.protocols import Asked, Encoder, Floats, OpenGenerator, Steered, Tokens
from enough.records import Candidate, Pool, Record
from enough.tasks import LAMP_TASKS, Task
from tests.conftest import make_record, make_request
from tests.retrieval.tiny import BagEncoder

Reply = Callable[[str], str]
Attend = Callable[[list[str], list[str]], NDArray[np.float64]]
"""From the words of prefix and suffix to the attention paid to each word of the prefix."""


class OpenFake(FakeGenerator):
    """A fake generator that replies, attends and is steered as it is told.

    Everything it is asked is kept: `prompts` of answers, `steered` prompts, `read` prefixes and
    suffixes.
    """

    def __init__(
        self,
        window: int = 4096,
        *,
        reply: Reply | None = None,
        attend: Attend | None = None,
        distributions: Sequence[Floats] = (),
    ) -> None:
        super().__init__(window)
        self._reply = reply
        self._attend = attend
        self._distributions = distributions
        self.prompts: list[Tokens] = []
        self.rooms: list[int] = []
        self.steered: list[list[Tokens]] = []
        self.read: list[tuple[Tokens, list[Tokens]]] = []

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        self.prompts += prompts
        self.rooms += [max_new_tokens] * len(prompts)
        if self._reply is None:
            return super().generate(prompts, max_new_tokens)
        return [self._reply(self.text(prompt)) for prompt in prompts]

    def steer(self, answers: Sequence[Steered], max_new_tokens: int) -> list[str]:
        """The numbers of the tokens that are chosen from the distributions, one for each."""
        self.steered += [list(answer.prompts) for answer in answers]
        return [self._steered(answer, max_new_tokens) for answer in answers]

    def _steered(self, answer: Steered, max_new_tokens: int) -> str:
        steps = self._distributions[:max_new_tokens]
        return " ".join(str(answer.steering.next(log_probs)) for log_probs in steps)

    def attention(self, prefix: Tokens, suffixes: Sequence[Tokens]) -> list[NDArray[np.float64]]:
        assert self._attend is not None
        self.read.append((prefix, list(suffixes)))
        return [self._attend(self.words(prefix), self.words(suffix)) for suffix in suffixes]

    def words(self, tokens: Tokens) -> list[str]:
        return [self.tokenizer.decode([token]) for token in tokens.tolist()]

    def text(self, tokens: Tokens) -> str:
        return self.tokenizer.decode(tokens.tolist())


def make_tools(
    generator: OpenGenerator | None = None,
    reranker: OpenGenerator | None = None,
    *,
    encoder: Encoder | None = None,
    max_records: int = 10,
    seed: int = 0,
    folder: Path | None = None,
) -> Tools:
    answering = generator or OpenFake()
    return Tools(
        answering,
        reranker or answering,
        encoder or BagEncoder(),
        Prompter(answering.tokenizer),
        max_records,
        seed,
        folder,
    )


def films(*contexts: str) -> tuple[Record, ...]:
    """One record for each text; of LaMP-2, where the context alone is searched."""
    return tuple(
        make_record(i, context=text, action=f"tag{i}") for i, text in enumerate(contexts, start=1)
    )


def pool_of(records: Sequence[Record]) -> Pool:
    return tuple(Candidate(record, 1 / (i + 1)) for i, record in enumerate(records))


def ask(
    tools: Tools,
    records: Sequence[Record],
    query: str = "a keeper hides a letter",
    task: Task = LAMP_TASKS["LaMP-2"],
) -> Asked:
    """The records are the history and, in the same order, the pool."""
    text = f"Which tag? tags: [classic] description: {query}"
    request = make_request(task, input=text)
    pool = pool_of(records)
    return Asked(request, tuple(records), pool, tools.budget(request, pool))


def ids(records: Sequence[Record]) -> list[str]:
    return [record.id for record in records]
