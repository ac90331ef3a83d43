"""All scorers equal the naive one, and the naive one equals the textbook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from enough.generators.causal_lm import CausalLM
from enough.generators.forked import ForkedScorer
from enough.generators.naive import NaiveScorer
from enough.generators.packed import PackedScorer
from enough.generators.scorer_choice import exact_scorer
from enough.generators.scoring import Scorer
from enough.protocols import ScoredSequence
from tests.conftest import TinyModel
from tests.generators.trees import profile_trees

ARCHITECTURES = ("llama", "qwen3", "qwen3_5")
pytestmark = pytest.mark.filterwarnings("ignore:.*falling back:UserWarning")


@pytest.fixture(scope="module")
def models(tiny_model: TinyModel) -> dict[str, CausalLM]:
    return {name: CausalLM(tiny_model(name)) for name in ARCHITECTURES}


def textbook(lm: CausalLM, sequence: ScoredSequence) -> float:
    """Eq. for ℓ_i(S): one sequence, full logits, log-softmax, mean over the reference."""
    tokens = torch.from_numpy(sequence.tokens.astype(np.int64))
    with torch.inference_mode():
        logits = lm.model(input_ids=tokens[None]).logits[0].double()
    values = logits.log_softmax(-1)[:-1].gather(1, tokens[1:, None]).squeeze(1)
    return float(values[-sequence.reference_length :].mean())


def scorers_for(name: str, lm: CausalLM, max_tokens: int) -> list[Scorer]:
    forked: list[Scorer] = [ForkedScorer(lm, max_tokens, min_shared=1), ForkedScorer(lm, 8192)]
    return forked if name == "qwen3_5" else [*forked, PackedScorer(lm, max_tokens)]


@pytest.mark.parametrize("name", ARCHITECTURES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sequences=profile_trees(), max_tokens=st.sampled_from([40, 300, 10_000]))
def test_every_scorer_equals_the_naive_one(
    models: dict[str, CausalLM], name: str, sequences: list[ScoredSequence], max_tokens: int
) -> None:
    lm = models[name]
    expected = NaiveScorer(lm, max_tokens).score(sequences)
    for scorer in scorers_for(name, lm, max_tokens):
        np.testing.assert_allclose(scorer.score(sequences), expected, atol=1e-4)


@pytest.mark.parametrize("name", ARCHITECTURES)
@settings(max_examples=5, deadline=None)
@given(sequences=profile_trees())
def test_the_naive_scorer_equals_the_textbook(
    models: dict[str, CausalLM], name: str, sequences: list[ScoredSequence]
) -> None:
    lm = models[name]
    expected = [textbook(lm, sequence) for sequence in sequences]
    np.testing.assert_allclose(NaiveScorer(lm, 200).score(sequences), expected, atol=1e-4)


def test_packing_computes_shared_prefixes_once(models: dict[str, CausalLM]) -> None:
    lm = models["llama"]
    head = np.arange(1, 50, dtype=np.int32)
    sequences = [
        ScoredSequence(np.concatenate([head, [50 + i, 7, 8]]).astype(np.int32), 2)
        for i in range(20)
    ]
    seen: list[int] = []
    handle = lm.decoder.layers[0].register_forward_pre_hook(
        lambda module, args, kwargs: seen.append(args[0].shape[1]), with_kwargs=True
    )
    PackedScorer(lm, 8192).score(sequences)
    handle.remove()
    assert seen == [49 + 20 * 2]


def test_batches_are_announced_as_they_finish(models: dict[str, CausalLM]) -> None:
    lm = models["qwen3"]
    rng = np.random.default_rng(0)
    sequences = [ScoredSequence(rng.integers(1, 100, 30).astype(np.int32), 3) for _ in range(9)]
    for scorer in (NaiveScorer(lm, 90), PackedScorer(lm, 90), ForkedScorer(lm, 90)):
        told: dict[int, float] = {}

        def note(
            members: Sequence[int], scores: Sequence[float], told: dict[int, float] = told
        ) -> None:
            told.update(zip(map(int, members), map(float, scores), strict=True))

        scores = scorer.score(sequences, note)  # type: ignore[arg-type]
        assert [told[i] for i in range(9)] == scores.tolist()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "packed"),
        ({"layer_types": ["linear_attention", "full_attention"]}, "forked"),
        ({"layer_types": ["sliding_attention", "full_attention"]}, "naive"),
        ({"sliding_window": 128}, "naive"),
        ({"sliding_window": 512}, "packed"),
        ({"attn_logit_softcapping": 50.0}, "naive"),
        ({"layer_types": ["something_new"]}, "naive"),
    ],
)
def test_the_scorer_follows_from_the_architecture(changes: dict[str, Any], expected: str) -> None:
    class Config:
        max_position_embeddings = 512

    config = Config()
    for key, value in changes.items():
        setattr(config, key, value)
    assert exact_scorer(config) == expected
