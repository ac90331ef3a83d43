"""vLLM inside this process: what the engine is asked, and, where it is installed, the real one."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from enough.errors import ConfigError, MissingExtraError, ModelError
from enough.generators.config import GeneratorConfig
from enough.generators.loading import load_configured
from enough.generators.vllm_config import VLLMConfig
from enough.generators.vllm_engine import weights_digest
from enough.protocols import ScoredSequence
from tests.generators.test_remote import profiles
from tests.generators.toy_server import WINDOW, ToyGenerator
from tests.generators.toy_vllm import ToyEngine, toy_vllm

HAS_VLLM = importlib.util.find_spec("vllm") is not None


def test_likelihoods_are_looked_up_by_token() -> None:
    generator = toy_vllm()
    sequences = profiles(generator.tokenizer)  # type: ignore[arg-type]
    expected = ToyGenerator().score(sequences)
    np.testing.assert_array_equal(generator.score(sequences), expected)
    np.testing.assert_array_equal(generator.rescore(sequences), expected)


def test_requests_go_in_the_order_of_the_trie_in_batches_of_so_many_tokens() -> None:
    engine = ToyEngine()
    generator = toy_vllm(engine)
    sequences = profiles(generator.tokenizer, 9)  # type: ignore[arg-type]
    generator.batch_tokens = 2 * max(len(sequence.tokens) for sequence in sequences)
    told: list[list[int]] = []
    generator.score(sequences, lambda where, _: told.append(where.tolist()))
    asked = [tokens for ids, _ in engine.calls for tokens in ids]
    assert asked == sorted(sequence.tokens.tolist() for sequence in sequences)
    assert len(told) == len(engine.calls) > 1
    assert all(sum(map(len, ids)) <= generator.batch_tokens for ids, _ in engine.calls)
    assert sorted(place for batch in told for place in batch) == list(range(9))
    engine.calls.clear()
    generator.rescore(sequences)
    assert [len(ids) for ids, _ in engine.calls] == [1] * 9


def test_the_engine_is_asked_for_prompt_log_probabilities_and_one_token() -> None:
    engine = ToyEngine()
    generator = toy_vllm(engine)
    generator.score(profiles(generator.tokenizer, 1))  # type: ignore[arg-type]
    ((_, params),) = engine.calls
    assert (params.prompt_logprobs, params.max_tokens, params.temperature) == (0, 1, 0.0)


def test_equal_prompts_are_answered_once() -> None:
    engine = ToyEngine()
    generator = toy_vllm(engine)
    prompt = profiles(generator.tokenizer, 1)[0].tokens  # type: ignore[arg-type]
    answers = generator.generate([prompt, prompt], 3)
    assert answers == ToyGenerator(generator.tokenizer).generate([prompt] * 2, 3)  # type: ignore[arg-type]
    assert len(engine.calls[0][0]) == 1
    assert engine.calls[0][1].stop_token_ids == list(generator.tokenizer.ends.values())
    with pytest.raises(ModelError, match="do not fit"):
        generator.generate([np.ones(WINDOW, np.int32)], 1)


def test_an_engine_that_loses_log_probabilities_is_not_believed() -> None:
    class Lossy(ToyEngine):
        def _output(self, tokens: list[int], params: Any) -> Any:
            return super()._output(tokens[1:], params)

    generator = toy_vllm(Lossy())
    with pytest.raises(ModelError, match="prompt log-probabilities for"):
        generator.score([ScoredSequence(np.arange(1, 9, dtype=np.int32), 2)])


def test_weights_in_a_folder_are_hashed(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "config.json").write_text("{}")
    first = weights_digest(str(tmp_path))
    assert first == weights_digest(str(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"weightz")
    assert weights_digest(str(tmp_path)) != first
    assert weights_digest("owner/name") is None


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="tensor_parallel must be at least 1"):
        VLLMConfig(tensor_parallel=0)
    with pytest.raises(ConfigError, match="memory"):
        VLLMConfig(memory=1.5)
    with pytest.raises(ConfigError, match="compile is for a model that transformers runs here"):
        GeneratorConfig(vllm=VLLMConfig(), compile=True)
    assert GeneratorConfig(vllm=VLLMConfig(), dtype="float32").is_elsewhere


@pytest.mark.skipif(HAS_VLLM, reason="vLLM is installed")
def test_without_the_extra_it_says_what_to_install() -> None:
    with pytest.raises(MissingExtraError, match=r"enough\[vllm\]"):
        load_configured(GeneratorConfig(vllm=VLLMConfig()))


@pytest.mark.gpu
@pytest.mark.skipif(not HAS_VLLM, reason="needs vLLM: pip install 'enough[vllm]'")
def test_the_real_engine_scores_as_transformers_does(default_generator: Any) -> None:
    config = VLLMConfig(window=2048, memory=0.3, eager=True)
    engine = load_configured(GeneratorConfig(dtype="float32", vllm=config))
    sequences = profiles(default_generator.tokenizer, 12)
    expected = default_generator.score(sequences)
    np.testing.assert_allclose(engine.score(sequences), expected, atol=1e-3)
    np.testing.assert_allclose(engine.rescore(sequences[:3]), expected[:3], atol=1e-3)
    prompts = [s.tokens[: -s.reference_length] for s in sequences[:3]]
    assert engine.generate(prompts, 8) == default_generator.generate(prompts, 8)
