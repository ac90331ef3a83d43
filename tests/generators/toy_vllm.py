"""A stand-in for vLLM's engine: the toy model behind the part of its interface that is used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from enough.generators.vllm_engine import VLLMGenerator
from tests.generators.toy_server import WINDOW, ToyGenerator, log_prob, next_tokens


@dataclass(frozen=True)
class Sampling:
    """What is used of `vllm.SamplingParams`."""

    temperature: float
    max_tokens: int
    prompt_logprobs: int | None = None
    detokenize: bool = True
    stop_token_ids: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Value:
    logprob: float


@dataclass(frozen=True)
class Completion:
    token_ids: list[int]


@dataclass(frozen=True)
class Output:
    """What is used of `vllm.RequestOutput`."""

    prompt_logprobs: list[dict[int, Value] | None] | None
    outputs: list[Completion]


@dataclass
class ToyEngine:
    """Implements `vllm_engine.Engine`; keeps what it was asked."""

    calls: list[tuple[list[list[int]], Sampling]] = field(default_factory=list)

    def generate(
        self, prompts: Any, sampling_params: Any = None, *, use_tqdm: Any = True
    ) -> list[Any]:
        assert not use_tqdm
        ids = [prompt["prompt_token_ids"] for prompt in prompts]
        self.calls.append((ids, sampling_params))
        return [self._output(tokens, sampling_params) for tokens in ids]

    def _output(self, tokens: list[int], params: Sampling) -> Output:
        written = Completion(next_tokens(tokens, params.max_tokens))
        if params.prompt_logprobs is None:
            return Output(None, [written])
        values = [{token: Value(log_prob(tokens, i))} for i, token in enumerate(tokens)]
        return Output([None, *values[1:]], [written])


def toy_vllm(engine: ToyEngine | None = None) -> VLLMGenerator:
    toy = ToyGenerator()
    return VLLMGenerator(engine or ToyEngine(), Sampling, toy.tokenizer, WINDOW, "toy-vllm")
