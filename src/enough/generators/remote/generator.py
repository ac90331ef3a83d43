"""A language model behind a URL as a generator.

In: where the server is and what it speaks. Out: likelihoods and answers, checked while they are
read. Sequences are asked for in the order of their tokens, so that those with a common beginning
follow each other and a prefix cache has it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence

import httpx
import numpy as np
from numpy.typing import NDArray

from enough.generators.config import GeneratorConfig
from enough.generators.decoding_batches import distinct_prompts
from enough.generators.prompt_side import tokenizer_and_window
from enough.generators.remote.alignment import require_aligned
from enough.generators.remote.client import Client
from enough.generators.remote.completions import VLLM, Echo
from enough.generators.remote.config import DialectName, RemoteConfig
from enough.generators.remote.dialects import About, Dialect, SpelledTokenizer, Written
from enough.generators.remote.sglang import SGLang
from enough.generators.token_trie import require_fitting, sorted_with_overlaps
from enough.protocols import OnBatch, ScoredSequence, Tokens

DIALECTS: dict[DialectName, Callable[[str, SpelledTokenizer], Dialect]] = {
    "sglang": SGLang,
    "vllm": VLLM,
    "openai": Echo,
}
_TOKENS_EACH = 1024  # of a request, about: callers then hand over enough to keep all under way


class RemoteGenerator:
    """Implements `protocols.Generator`. It can neither be steered nor show its attention.

    Attributes:
        client: counts requests that had to be made again.
    """

    def __init__(
        self,
        model: str,
        config: RemoteConfig,
        tokenizer: SpelledTokenizer,
        window: int,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Ask the server what it is, and check that its tokens are the tokenizer's.

        Args:
            model: what the server calls its model.
            config: where it is.
            tokenizer: the model's own.
            window: of the model; the server may have a smaller one.
            transport: stands in for the network.

        Raises:
            ModelError: if it cannot be reached, or cannot give what is needed.
        """
        self.client = Client(config, transport)
        self.tokenizer = tokenizer
        self.batch_tokens = config.concurrency * _TOKENS_EACH
        self._dialect = DIALECTS[config.dialect](model, tokenizer)
        about = self._dialect.about(self.client)
        require_aligned(self.client, self._dialect, tokenizer)
        self.window = min(filter(None, (window, about.window, config.window)))
        self.fingerprint = _fingerprint(model, config, about, tokenizer)

    @classmethod
    def load(cls, config: GeneratorConfig) -> RemoteGenerator:
        """The generator of a `[generator.remote]` table."""
        assert config.remote is not None
        tokenizer, window = tokenizer_and_window(config.prompt_model)
        return cls(config.model, config.remote, tokenizer, window)

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """Mean log-likelihood of each reference's tokens; announced reply by reply."""
        require_fitting(sequences, self.window - 1)  # some servers insist on writing a token
        order, _ = sorted_with_overlaps(sequences)
        return self._scores(sequences, order, on_batch)

    def rescore(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        """One at a time, in reverse order, the whole prompt anew where the dialect can ask for it.

        So neither batches nor a prefix cache are those of `score`.
        """
        require_fitting(sequences, self.window - 1)
        order = sorted_with_overlaps(sequences)[0][::-1]
        return self._scores(sequences, order, None, whole=True)

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        """One greedy answer per prompt; equal prompts are answered once."""
        distinct = distinct_prompts(prompts, max_new_tokens, self.window)
        distinct.sort(key=lambda prompt: prompt.astype(">u4").tobytes())
        asks = [self._dialect.write(prompt, max_new_tokens) for prompt in distinct]
        written: dict[bytes, str] = {}

        def keep(place: int, answer: Written) -> None:
            written[distinct[place].tobytes()] = answer.text.strip()

        self.client.each(asks, keep)
        return [written[prompt.tobytes()] for prompt in prompts]

    def _scores(
        self,
        sequences: Sequence[ScoredSequence],
        order: NDArray[np.int64],
        on_batch: OnBatch | None,
        *,
        whole: bool = False,
    ) -> NDArray[np.float64]:
        scores = np.full(len(sequences), np.nan)
        asks = [self._dialect.score(sequences[i], whole=whole) for i in order]

        def keep(place: int, values: NDArray[np.float64]) -> None:
            member = order[place]
            scores[member] = values.mean()
            if on_batch is not None:
                on_batch(np.array([member]), scores[[member]])

        self.client.each(asks, keep, concurrency=1 if whole else None)
        return scores


def _fingerprint(
    model: str, config: RemoteConfig, about: About, tokenizer: SpelledTokenizer
) -> str:
    """What is known of who answers; weights behind a URL cannot be hashed."""
    told = [model, config.dialect, config.revision, about.facts, tokenizer.fingerprint]
    text = json.dumps(told, sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return f"remote-{config.dialect}-{digest}"
