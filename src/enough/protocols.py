"""Every extension point on one page. Each asks for one thing; values go in, values come out.

To add a retriever, an encoder, a generator or a selector, write one class with these methods in one
file and add one line to the table that names it. The contract suites in `tests/contracts` run over
every implementation in those tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from enough.records import Example, History, Pool, Record, Request, Selection

Floats = NDArray[np.float32]
Tokens = NDArray[np.int32]


class Encoder(Protocol):
    """Texts to vectors. Frozen: the same text always gives the same vector."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever a vector could change: weights, pooling, prefixes, truncation, dtype."""
        ...

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        """Vectors [len(texts), dim]; similarity is their dot product."""
        ...


@runtime_checkable
class ThreadedEncoder(Encoder, Protocol):
    """An encoder that says how threads can share it, as a service wants to know: all or nothing."""

    @property
    def is_symmetric(self) -> bool:
        """Whether a text has the same vector as a query and as a document."""
        ...

    @property
    def is_normalised(self) -> bool:
        """Whether vectors have length 1, so that their product is a cosine."""
        ...

    @property
    def lanes(self) -> int:
        """Threads that can encode at the same time."""
        ...

    @property
    def batch_rows(self) -> int:
        """Texts that such a thread encodes together; more at once would gain nothing."""
        ...

    def start_threads(self, work: Callable[[], None]) -> list[Thread]:
        """Start as many to do `work`, which may call `encode_here`."""
        ...

    def encode_here(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        """The same vectors, computed in the calling thread, one that `start_threads` started."""
        ...


class Retriever(Protocol):
    """R(x, H; M): the frozen first stage."""

    def retrieve(self, request: Request, history: History, limit: int) -> Pool:
        """At most `limit` records of the (legal) history, best first, ties in history order."""
        ...


@runtime_checkable
class PreparingRetriever(Protocol):
    """A retriever that works faster when it is told beforehand what many requests will need."""

    def prepare(self, requests: Sequence[Request], histories: Sequence[History]) -> None:
        """Embed everything in large batches; later calls find it in the encoder's cache."""
        ...


class Tokenizer(Protocol):
    """What prompts need to know of a model: its tokens, its control tokens, its chat form."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the tokens of a prompt could change."""
        ...

    @property
    def control_tokens(self) -> frozenset[str]:
        """Strings the model reads as one control token when they occur in text."""
        ...

    def encode(self, text: str) -> Tokens:
        """Token ids of our own text; control tokens in it are recognised, none are added."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of generated ids, without control tokens."""
        ...

    def chat_frame(self, system: str) -> tuple[str, str]:
        """The model's own text before and after the user message, up to where the answer begins."""
        ...


@runtime_checkable
class ManyTokenizer(Tokenizer, Protocol):
    """One that takes less for several texts at once than for one after the other."""

    def encode_many(self, texts: Sequence[str]) -> list[Tokens]:
        """Of each what `encode` gives."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSequence:
    """A prompt followed by a reference whose likelihood is wanted.

    Attributes:
        tokens: prompt then reference, [n].
        reference_length: how many of the last tokens are the reference; at least 1.
    """

    tokens: Tokens
    reference_length: int


OnBatch = Callable[[NDArray[np.int64], NDArray[np.float64]], None]
"""Called with the places and scores of sequences as soon as they are known."""


class Generator(Protocol):
    """The frozen language model G."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever a likelihood could change: weights, adapter, precision, tokenizer."""
        ...

    @property
    def window(self) -> int:
        """Tokens the model can see, prompt and answer together."""
        ...

    @property
    def batch_tokens(self) -> int:
        """How many tokens it likes to compute together; callers size their calls by it."""
        ...

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """Mean log-likelihood of each reference's tokens given its prompt, [len(sequences)]."""
        ...

    def rescore(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        """The same likelihoods computed in another way; what differs is numerical noise."""
        ...

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        """One deterministic answer per prompt."""
        ...


class Steering(Protocol):
    """Which token comes next where several prompts are continued by one answer.

    Made anew for every answer, so it may keep what it has seen of this one.
    """

    @property
    def key(self) -> str:
        """Names the rule and all its settings; answers are remembered under it."""
        ...

    def next(self, log_probs: Floats) -> int:
        """The next token, from every prompt's distribution over it, [prompts, vocabulary]."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Steered:
    """One answer that several prompts are continued by, and who chooses its tokens."""

    prompts: Sequence[Tokens]
    steering: Steering


class OpenGenerator(Generator, Protocol):
    """A generator that can be steered while it writes, and whose attention can be read."""

    def steer(self, answers: Sequence[Steered], max_new_tokens: int) -> list[str]:
        """Each answer is written to all of its prompts at once, token by token."""
        ...

    def attention(self, prefix: Tokens, suffixes: Sequence[Tokens]) -> list[NDArray[np.float64]]:
        """What every suffix pays to each token of the common prefix, one [len(prefix)] for each.

        The mean over the tokens of the suffix of their attention, summed over heads and layers.
        """
        ...


@dataclass(frozen=True, slots=True)
class Budget:
    """What a selector may spend on one request.

    Attributes:
        max_records: K_i, the horizon.
        max_profile_tokens: room left in the window after the empty prompt and the answer.
        record_tokens: exact increment of every pool record, in pool order.
    """

    max_records: int
    max_profile_tokens: int
    record_tokens: tuple[int, ...]


class Selector(Protocol):
    """Anything that chooses records: empty, fixed-k, a reranker, a learned policy."""

    def select(self, request: Request, pool: Pool, budget: Budget) -> Selection:
        """Distinct records of the pool, in prompt order, within the budget; possibly none."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A request as a method meets it. There is no reference in it.

    Attributes:
        request: what is asked.
        history: everything of the user that is legal, for methods with a retriever of their own.
        pool: C_i, the shared candidates, best first.
        budget: what may be spent on records of the pool.
    """

    request: Request
    history: History
    pool: Pool
    budget: Budget


@dataclass(frozen=True, slots=True)
class Answered:
    """What a method wrote, and what it had in front of it.

    Attributes:
        text: the answer.
        records: of the profile, in prompt order; of several prompts, one after the other.
        profile_tokens: what they add to the empty prompt, over all prompts.
        one_prompt: whether all of them stood in one prompt, so that its likelihood can be judged.
        reason: why there are not more records.
        own_retrieval: seconds it took to search the history itself; None where the shared pool was
            used, whose search is then counted.
    """

    text: str
    records: tuple[Record, ...]
    profile_tokens: int
    one_prompt: bool = True
    reason: str = ""
    own_retrieval: float | None = None


class Method(Protocol):
    """Anything that answers with a user's records: a selector and one call, or more than that."""

    def answer(self, asked: Asked) -> Answered:
        """The answer to one request."""
        ...


class ReferenceAwareMethod(Protocol):
    """A bound, not a method: it knows the reference. Never in a main table."""

    def answer_knowing(self, asked: Asked, example: Example) -> Answered:
        """The answer to one request whose reference is known."""
        ...
