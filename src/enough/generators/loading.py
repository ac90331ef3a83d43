"""From settings to a generator: transformers here, a vLLM engine here, or a server.

Every command loads its generator by one of these two functions, so each of them works with all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from enough.errors import ModelError
from enough.generators.config import GeneratorConfig
from enough.protocols import Generator, OnBatch, OpenGenerator, ScoredSequence, Steered, Tokens


def load_configured(config: GeneratorConfig) -> Generator:
    """The generator of a configuration, for likelihoods and answers."""
    if config.remote is not None:
        from enough.generators.remote.generator import RemoteGenerator  # noqa: PLC0415 (httpx)

        return RemoteGenerator.load(config)
    if config.vllm is not None:
        from enough.generators.vllm_engine import VLLMGenerator  # noqa: PLC0415 (heavy)

        return VLLMGenerator.load(config)
    return _load_here(config)


def load_open(config: GeneratorConfig) -> OpenGenerator:
    """The same for callers that may want to look inside; another's engine then refuses."""
    if config.is_elsewhere:
        return ClosedGenerator(load_configured(config))
    return _load_here(config)


class ClosedGenerator:
    """Implements `protocols.OpenGenerator` for a generator nobody can look into."""

    def __init__(self, inner: Generator) -> None:
        self.tokenizer = inner.tokenizer
        self.fingerprint = inner.fingerprint
        self.window = inner.window
        self.batch_tokens = inner.batch_tokens
        self._inner = inner

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """Passed on."""
        return self._inner.score(sequences, on_batch)

    def rescore(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        """Passed on."""
        return self._inner.rescore(sequences)

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        """Passed on."""
        return self._inner.generate(prompts, max_new_tokens)

    def steer(self, answers: Sequence[Steered], max_new_tokens: int) -> list[str]:
        """Refused."""
        raise ModelError(
            "IC-RALM and REPLUG choose every token from several prompts' distributions, which a "
            "server or vLLM does not show; run the generator here (without [generator.remote] and "
            "[generator.vllm]) or leave these methods out"
        )

    def attention(self, prefix: Tokens, suffixes: Sequence[Tokens]) -> list[NDArray[np.float64]]:
        """Refused."""
        raise ModelError(
            "ICR reads the model's attention, which a server or vLLM does not show; name a model "
            "that runs here as [reranker], or leave this method out"
        )


def _load_here(config: GeneratorConfig) -> OpenGenerator:
    from enough.generators.hf import HFGenerator  # noqa: PLC0415 (heavy)

    return HFGenerator.load(config)
