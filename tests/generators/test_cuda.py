"""On a GPU: the variable-length kernel and the dense path both equal padded batches."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from enough.generators.causal_lm import CausalLM
from enough.generators.naive import NaiveScorer
from enough.generators.packed import PackedScorer
from tests.conftest import TinyModel
from tests.generators.test_architectures import _sequences

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-3), ("bfloat16", 0.05)])
@pytest.mark.parametrize("max_tokens", [60, 10_000])
def test_packed_equals_naive(
    tiny_model: TinyModel, dtype: str, tolerance: float, max_tokens: int
) -> None:
    lm = CausalLM(tiny_model("llama").to("cuda", getattr(torch, dtype)))
    sequences = _sequences()
    expected = NaiveScorer(lm, max_tokens).score(sequences)
    found = PackedScorer(lm, max_tokens).score(sequences)
    np.testing.assert_allclose(found, expected, atol=tolerance)
