"""Compiled layers: the same scores, one compilation for all lengths, and plain layers elsewhere."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch

from enough.errors import ModelError
from enough.generators.causal_lm import CausalLM
from enough.generators.naive import NaiveScorer
from enough.generators.packed import PackedScorer
from enough.generators.scorer_choice import build_scorer, compiled_scorer
from tests.conftest import TinyModel
from tests.generators.test_architectures import _sequences
from tests.generators.tiny_generators import tiny_generator

pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # the compiler's own
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*falling back:UserWarning"),
]


def test_scores_are_those_of_padded_batches_and_nothing_is_compiled_again(
    tiny_model: TinyModel,
) -> None:
    lm = CausalLM(tiny_model("llama"))
    sequences = _sequences()
    expected = NaiveScorer(lm, 60).score(sequences)
    scorer = compiled_scorer(lm, build_scorer(lm))
    with torch.compiler.set_stance("fail_on_recompile"):  # trying it out has compiled it
        np.testing.assert_allclose(scorer.score(sequences), expected, atol=1e-4)
        np.testing.assert_allclose(scorer.score(sequences[:2]), expected[:2], atol=1e-4)
        assert not any("forward" in vars(layer) for layer in lm.decoder.layers)


def test_decoding_after_scoring_runs_uncompiled(tiny_model: TinyModel) -> None:
    prompt = [np.arange(1, 9, dtype=np.int32)]
    plain = tiny_generator(tiny_model("llama"))
    expected = plain.generate(prompt, 5)
    plain.scorer = compiled_scorer(plain.lm, plain.scorer)
    plain.score(_sequences())
    with torch.compiler.set_stance("fail_on_recompile"):
        assert plain.generate(prompt, 5) == expected


def test_what_is_not_scored_in_packs_cannot_be_compiled(tiny_model: TinyModel) -> None:
    lm = CausalLM(tiny_model("qwen3_5"))
    with pytest.raises(ModelError, match="compile = true needs the packed scorer"):
        compiled_scorer(lm, build_scorer(lm))


def test_a_compiler_that_fails_is_named(
    tiny_model: TinyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> object:
        raise RuntimeError("no compiler found")

    lm = CausalLM(tiny_model("llama"))
    scorer = PackedScorer(lm, 100)
    monkeypatch.setattr(torch, "compile", lambda forward, **_: broken)
    with pytest.raises(ModelError, match=r"does not work here \(RuntimeError: no compiler found"):
        compiled_scorer(lm, scorer)
