"""P_τ(x, S) in tokens: head, record and tail segments, each tokenised once.

In: a request and ordered records. Out: exact token ids. Segments are tokenised one by one and
simply follow each other: cost is additive over records, prefixes of profiles are shared exactly,
and appending a record retokenises nothing. Every segment ends in a newline, the next begins with a
bracket, where byte-level tokenizers split anyway, so the tokens are those of the whole text.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from enough.errors import BudgetError, ModelError
from enough.prompts.escape import Escaper
from enough.prompts.serialise import serialise_record
from enough.prompts.sizes import Sizes
from enough.prompts.tails import Tails
from enough.prompts.template import SYSTEM, head_text, tail_text
from enough.protocols import Budget, ManyTokenizer, ScoredSequence, Tokenizer, Tokens
from enough.records import Example, Pool, Record, Request
from enough.tasks import Task

L_REF = 1024
"""The profile reference budget shared by all tasks, in tokens (the denominator of the cost)."""

_CACHED_SEGMENTS = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class Prompt:
    """A prompt ready for the generator.

    Attributes:
        tokens: all of it, [n].
        profile_tokens: exact increment over the empty-profile prompt.
    """

    tokens: Tokens
    profile_tokens: int

    @property
    def cost(self) -> float:
        """c_i(S): the increment over L_ref."""
        return self.profile_tokens / L_REF


class Prompter:
    """Builds prompts for one tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._escaper = Escaper(tokenizer.control_tokens)
        self._before, self._after = tokenizer.chat_frame(SYSTEM)
        ids = (tokenizer.encode(token) for token in sorted(tokenizer.control_tokens))
        self._control_ids = {int(i[0]) for i in ids if len(i) == 1}
        self._frame_controls = self._count_controls(tokenizer.encode(self._after))
        self._head = lru_cache(maxsize=64)(self._encode_head)
        self._record = lru_cache(maxsize=_CACHED_SEGMENTS)(self._encode_record)
        self._tail = lru_cache(maxsize=4096)(self._encode_tail)
        self._tails = Tails(self._encode_tails)
        self._sizes = Sizes(self._record, _CACHED_SEGMENTS)

    @property
    def frame(self) -> tuple[str, str]:
        """The model's own text before and after the user message."""
        return self._before, self._after

    def apart(self, segments: int) -> Prompter:
        """The same with a memory of its own, for users of whom nothing may stay behind.

        Args:
            segments: the most records it remembers; of requests only the last.
        """
        own = copy(self)
        own._record = lru_cache(maxsize=segments)(own._encode_record)
        own._tail = lru_cache(maxsize=1)(own._encode_tail)
        own._sizes = Sizes(own._record, segments)
        return own

    def expecting(self, request: Request) -> AbstractContextManager[None]:
        """In here the request's segment may be tokenised together with those of others."""
        return self._tails.expecting(request.input)

    def text(self, request: Request, records: Sequence[Record]) -> str:
        """The whole prompt as text, chat frame included."""
        lines = (serialise_record(request.task, record, self._escaper) for record in records)
        tail = tail_text(request.input, self._escaper)
        return f"{self._before}{head_text(request.task)}{''.join(lines)}{tail}{self._after}"

    def prompt(self, request: Request, records: Sequence[Record] = ()) -> Prompt:
        """The whole prompt as tokens."""
        segments = [self._record(request.task, record) for record in records]
        tokens = np.concatenate([self._head(request.task), *segments, self._tail(request)])
        return Prompt(tokens, sum(map(len, segments)))

    def sizes(self, request: Request, records: Sequence[Record]) -> tuple[int, int]:
        """Tokens of the whole prompt and of the profile in it, without joining them."""
        profile = sum(len(self._record(request.task, record)) for record in records)
        return len(self._head(request.task)) + profile + len(self._tail(request)), profile

    def record_tokens(self, task: Task, record: Record) -> int:
        """How many tokens the record adds to any profile."""
        return len(self._record(task, record))

    def reference(self, example: Example) -> Tokens:
        """The reference's own tokens: no end token, no template around it."""
        tokens = self._tokenizer.encode(self._escaper.request(example.reference))
        if len(tokens) == 0:
            raise ModelError(f"the reference of request {example.request.id!r} has no tokens")
        return tokens

    def sequence(self, example: Example, records: Sequence[Record] = ()) -> ScoredSequence:
        """Prompt and reference, ready to be scored."""
        reference = self.reference(example)
        tokens = np.concatenate([self.prompt(example.request, records).tokens, reference])
        return ScoredSequence(tokens, len(reference))

    def segments(
        self, example: Example, records: Sequence[Record]
    ) -> tuple[Tokens, list[Tokens], Tokens, Tokens]:
        """Head, one segment per record, tail and reference: what sequences are joined from."""
        request = example.request
        lines = [self._record(request.task, record) for record in records]
        return self._head(request.task), lines, self._tail(request), self.reference(example)

    def budget(
        self,
        request: Request,
        pool: Pool,
        window: int,
        max_records: int,
        answer_tokens: int | None = None,
    ) -> Budget:
        """K_i and the room that the window leaves for a profile and the answer.

        Args:
            request: whose empty prompt takes its part of the window.
            pool: the records that may be chosen.
            window: of the generator.
            max_records: K_max.
            answer_tokens: the task's room for an answer, by default.

        Raises:
            BudgetError: if the request does not even fit without a profile.
        """
        empty, _ = self.sizes(request, ())
        answer = answer_tokens or request.task.max_answer_tokens
        room = window - answer - empty
        if room < 0:
            raise BudgetError(
                f"request {request.id!r} needs {empty} prompt tokens and {answer} for the answer; "
                f"the window has {window}"
            )
        tokens = self._sizes.of(request.task, [candidate.record for candidate in pool])
        return Budget(min(max_records, len(pool)), room, tokens)

    def _encode_head(self, task: Task) -> Tokens:
        return self._tokenizer.encode(self._before + head_text(task))

    def _encode_record(self, task: Task, record: Record) -> Tokens:
        tokens = self._tokenizer.encode(serialise_record(task, record, self._escaper))
        return self._guarded(tokens, 0, f"record {record.id!r} of user {record.owner!r}")

    def _encode_tail(self, request: Request) -> Tokens:
        tokens = self._tails.of(request.input)
        return self._guarded(tokens, self._frame_controls, f"request {request.id!r}")

    def _encode_tails(self, inputs: Sequence[str]) -> list[Tokens]:
        texts = [tail_text(text, self._escaper) + self._after for text in inputs]
        if len(texts) > 1 and isinstance(self._tokenizer, ManyTokenizer):
            return self._tokenizer.encode_many(texts)
        return [self._tokenizer.encode(text) for text in texts]

    def _guarded(self, tokens: Tokens, allowed: int, owner: str) -> Tokens:
        # Escaping already prevents this; a tokenizer that rewrites text first could bring it back.
        if self._count_controls(tokens) != allowed:
            raise ModelError(f"{owner} holds a control token that this tokenizer cannot escape")
        tokens.flags.writeable = False  # segments are cached and shared
        return tokens

    def _count_controls(self, tokens: Tokens) -> int:
        return sum(map(self._control_ids.__contains__, tokens.tolist()))
