"""Architectures as transformers builds them: the scorer each gets equals the naive one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers

from enough.errors import ModelError
from enough.generators.causal_lm import CausalLM
from enough.generators.naive import NaiveScorer
from enough.generators.scorer_choice import build_scorer
from enough.protocols import ScoredSequence

SIZES = {
    "vocab_size": 97,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "head_dim": 8}
LINEAR = {
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "shared_expert_intermediate_size": 16,
    "layer_types": ["linear_attention", "full_attention"],
}


@pytest.mark.parametrize(
    ("name", "changes", "scorer"),
    [
        ("Mistral", {"sliding_window": None}, "PackedScorer"),
        ("Mistral", {"sliding_window": 16}, "NaiveScorer"),
        ("Qwen2", {}, "PackedScorer"),
        ("Phi3", {}, "PackedScorer"),
        ("Olmo2", {}, "PackedScorer"),
        ("GPTNeoX", {}, "PackedScorer"),  # no shared key heads
        ("Qwen3Moe", EXPERTS, "PackedScorer"),
        ("Granite", {"logits_scaling": 8.0}, "PackedScorer"),  # divides its logits
        ("Cohere", {}, "PackedScorer"),  # multiplies them
        ("Gemma2", {"head_dim": 8}, "NaiveScorer"),  # caps attention logits
        ("Qwen3Next", EXPERTS | LINEAR, "ForkedScorer"),
        ("Bloom", {"n_layer": 2, "n_head": 4}, "NaiveScorer"),  # its own attention code
        (
            "Mamba2",
            {"head_dim": 8, "num_heads": 8, "state_size": 8, "n_groups": 1},
            "NaiveScorer",  # no cache that could be joined
        ),
    ],
)
def test_the_scorer_it_gets_is_exact(name: str, changes: dict[str, Any], scorer: str) -> None:
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**(SIZES | changes))
    lm = CausalLM(getattr(transformers, f"{name}ForCausalLM")(config))
    chosen = build_scorer(lm)
    assert type(chosen).__name__ == scorer
    sequences = _sequences()
    expected = NaiveScorer(lm, 500).score(sequences)
    np.testing.assert_allclose(chosen.score(sequences), expected, atol=1e-4)


def test_a_scorer_that_is_not_exact_is_refused_by_name() -> None:
    config = transformers.BloomConfig(**(SIZES | {"n_layer": 2, "n_head": 4}))
    with pytest.raises(ModelError, match="'packed' is not exact for bloom"):
        build_scorer(CausalLM(transformers.BloomForCausalLM(config)), "packed")


def _sequences() -> list[ScoredSequence]:
    rng = np.random.default_rng(0)
    head, tail = rng.integers(1, 97, 20), rng.integers(1, 97, 25)
    records = [rng.integers(1, 97, rng.integers(5, 30)) for _ in range(5)]
    profiles = [(), (0,), (0, 1), (0, 2), (2, 0, 1), (2, 0, 1, 3), (2, 0, 1, 4), (4, 3)]
    return [
        ScoredSequence(np.concatenate([head, *(records[i] for i in p), tail]).astype(np.int32), 3)
        for p in profiles
    ]
