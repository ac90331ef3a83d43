"""The loss is the textbook's, however a step is cut into passes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from enough.generators.causal_lm import CausalLM
from enough.generators.naive import NaiveScorer
from enough.protocols import ScoredSequence
from enough.tuning.loss import summed_loss
from enough.tuning.schedule import passes
from tests.conftest import TinyModel
from tests.generators.test_scorers import textbook


@pytest.fixture(scope="module")
def lm(tiny_model: TinyModel) -> CausalLM:
    return CausalLM(tiny_model("llama"))


def sequences(count: int = 6) -> list[ScoredSequence]:
    rng = np.random.default_rng(3)
    shapes = [(int(rng.integers(6, 40)), int(rng.integers(1, 5))) for _ in range(count)]
    return [
        ScoredSequence(rng.integers(1, 101, length).astype(np.int32), answer)
        for length, answer in shapes
    ]


def test_it_is_the_mean_over_tokens_summed_over_examples(lm: CausalLM) -> None:
    batch = sequences()
    found = float(summed_loss(lm, batch))
    assert found == pytest.approx(-sum(textbook(lm, one) for one in batch), abs=1e-4)
    assert found == pytest.approx(-NaiveScorer(lm, 64).score(batch).sum(), abs=1e-4)


def test_passes_add_up(lm: CausalLM) -> None:
    batch = sequences(9)
    parts = [float(summed_loss(lm, part)) for part in passes(batch, 70)]
    assert len(parts) > 2
    assert sum(parts) == pytest.approx(float(summed_loss(lm, batch)), abs=1e-4)


def test_a_softcap_counts(tiny_model: TinyModel) -> None:
    capped = CausalLM(tiny_model("llama"))
    capped.softcap, capped.factor = 0.05, 2.0
    batch = sequences()
    plain = float(summed_loss(CausalLM(tiny_model("llama")), batch))
    assert float(summed_loss(capped, batch)) != pytest.approx(plain, abs=1e-4)
    expected = -NaiveScorer(capped, 64).score(batch).sum()
    assert float(summed_loss(capped, batch)) == pytest.approx(expected, abs=1e-4)


def test_only_rows_that_predict_a_reference_reach_the_output_layer(tiny_model: TinyModel) -> None:
    lm = CausalLM(tiny_model("llama"))
    batch = sequences()
    seen: list[torch.Size] = []
    lm.output_layer.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].shape))
    summed_loss(lm, batch)
    assert seen == [torch.Size((sum(s.reference_length for s in batch), 32))]
