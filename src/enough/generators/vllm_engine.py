"""A generator that a vLLM engine runs inside this process, on one GPU or shared by several.

In: a model's folder or hub name. Out: likelihoods from the log-probabilities of prompt tokens, and
greedy answers. Its prefix cache is switched off: for prompt log-probabilities the engine ignores it
anyway, and while it is on, values were seen to depend on the order of requests. Requests go in the
order of their tokens, so that the same sequences make the same batches, whoever asks for them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from enough.errors import MissingExtraError, ModelError
from enough.generators.config import GeneratorConfig
from enough.generators.decoding_batches import distinct_prompts
from enough.generators.prompt_side import tokenizer_and_window
from enough.generators.remote.dialects import SpelledTokenizer
from enough.generators.token_trie import require_fitting, sorted_with_overlaps
from enough.generators.weights import locate_model
from enough.protocols import OnBatch, ScoredSequence, Tokens

_BATCH_TOKENS = 65_536  # handed over together; the engine makes its own batches of them
_CHUNK = 2**24  # bytes of a file hashed at once


class Engine(Protocol):
    """What is used of `vllm.LLM`."""

    def generate(
        self, prompts: Any, sampling_params: Any = None, *, use_tqdm: Any = True
    ) -> list[Any]:
        """One `RequestOutput` for each prompt, in their order."""
        ...


class VLLMGenerator:
    """Implements `protocols.Generator`. It can neither be steered nor show its attention."""

    def __init__(
        self,
        engine: Engine,
        sampling: Callable[..., Any],
        tokenizer: SpelledTokenizer,
        window: int,
        fingerprint: str,
    ) -> None:
        """Wrap an engine.

        Args:
            engine: a `vllm.LLM`.
            sampling: `vllm.SamplingParams`.
            tokenizer: the model's own.
            window: tokens of prompt and answer together.
            fingerprint: of all a likelihood depends on.
        """
        self.tokenizer = tokenizer
        self.window = window
        self.fingerprint = fingerprint
        self.batch_tokens = _BATCH_TOKENS
        self._engine = engine
        self._sampling = sampling

    @classmethod
    def load(cls, config: GeneratorConfig) -> VLLMGenerator:
        """The generator of a `[generator.vllm]` table."""
        try:
            import vllm  # noqa: PLC0415 (an extra)
        except ImportError:
            raise MissingExtraError("a [generator.vllm] table", "vllm") from None
        assert config.vllm is not None
        tokenizer, largest = tokenizer_and_window(config.model)
        window = min(largest, config.vllm.window or largest)
        place = locate_model(config.model)
        engine = vllm.LLM(
            model=place,
            revision=config.vllm.revision or None,
            dtype=config.dtype,
            tensor_parallel_size=config.vllm.tensor_parallel,
            gpu_memory_utilization=config.vllm.memory,
            max_model_len=window,
            enforce_eager=config.vllm.eager,
            enable_prefix_caching=False,
            seed=0,
        )
        told = [
            weights_digest(place) or [place, config.vllm.revision],
            str(engine.llm_engine.model_config.dtype),
            config.vllm.tensor_parallel,
            vllm.__version__,
            tokenizer.fingerprint,
        ]
        digest = hashlib.blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()
        return cls(engine, vllm.SamplingParams, tokenizer, window, f"vllm-{digest}")

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """Mean log-likelihood of each reference's tokens."""
        require_fitting(sequences, self.window - 1)  # the engine insists on writing a token
        scores = np.full(len(sequences), np.nan)
        for members in _batches(sequences, self.batch_tokens):
            scores[members] = self._scored([sequences[i] for i in members])
            if on_batch is not None:
                on_batch(members, scores[members])
        return scores

    def rescore(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        """One at a time: other shapes, other kernels."""
        require_fitting(sequences, self.window - 1)
        return np.array([self._scored([one])[0] for one in sequences], np.float64)

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        """One greedy answer per prompt; equal prompts are answered once."""
        distinct = distinct_prompts(prompts, max_new_tokens, self.window)
        if not distinct:
            return []
        params = self._sampling(
            temperature=0.0,
            max_tokens=max_new_tokens,
            stop_token_ids=sorted(self.tokenizer.ends.values()),
        )
        outputs = self._engine.generate(_as_prompts(distinct), params, use_tqdm=False)
        texts = [self.tokenizer.decode(list(one.outputs[0].token_ids)).strip() for one in outputs]
        written = {p.tobytes(): text for p, text in zip(distinct, texts, strict=True)}
        return [written[prompt.tobytes()] for prompt in prompts]

    def _scored(self, sequences: Sequence[ScoredSequence]) -> list[float]:
        params = self._sampling(temperature=0.0, max_tokens=1, prompt_logprobs=0, detokenize=False)
        prompts = _as_prompts([sequence.tokens for sequence in sequences])
        outputs = self._engine.generate(prompts, params, use_tqdm=False)
        return [_mean(o, s) for o, s in zip(outputs, sequences, strict=True)]


def weights_digest(place: str) -> str | None:
    """Of every file of weights in a folder and of its configuration; None for a hub name."""
    folder = Path(place).expanduser()
    if not folder.is_dir():
        return None
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(
        [*folder.glob("*.safetensors"), *folder.glob("*.bin"), *folder.glob("config.json")]
    ):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while piece := file.read(_CHUNK):
                digest.update(piece)
    return digest.hexdigest()


def _batches(sequences: Sequence[ScoredSequence], most: int) -> Iterator[NDArray[np.int64]]:
    """Places in the order of the tokens, so many tokens at a time."""
    order, _ = sorted_with_overlaps(sequences)
    batch: list[int] = []
    size = 0
    for member in order.tolist():
        length = len(sequences[member].tokens)
        if batch and size + length > most:
            yield np.array(batch)
            batch, size = [], 0
        batch.append(member)
        size += length
    if batch:
        yield np.array(batch)


def _as_prompts(tokens: Sequence[Tokens]) -> list[dict[str, list[int]]]:
    return [{"prompt_token_ids": one.tolist()} for one in tokens]


def _mean(output: Any, sequence: ScoredSequence) -> float:
    """Of the reference's tokens, each looked up by its id."""
    found = output.prompt_logprobs
    if found is None or len(found) != len(sequence.tokens):
        count = 0 if found is None else len(found)
        raise ModelError(
            f"vLLM gave {count} prompt log-probabilities for {len(sequence.tokens)} tokens"
        )
    count = sequence.reference_length
    places = range(len(sequence.tokens) - count, len(sequence.tokens))
    values = [
        found[i][token].logprob
        for i, token in zip(places, sequence.tokens[-count:].tolist(), strict=True)
    ]
    mean = float(np.mean(values))
    if not np.isfinite(mean):
        raise ModelError("a likelihood came out as not a number; load the model in float32")
    return mean
