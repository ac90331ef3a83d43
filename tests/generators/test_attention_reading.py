"""Attention of suffixes to a prefix equals the maps of one plain pass over both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray

from enough.errors import ModelError
from enough.generators import attention_reading
from enough.generators.hf import HFGenerator
from enough.protocols import Tokens
from tests.conftest import TinyModel
from tests.generators.test_architectures import SIZES
from tests.generators.tiny_generators import tiny_generator


@pytest.fixture(scope="module")
def generator(tiny_model: TinyModel) -> HFGenerator:
    return tiny_generator(tiny_model("llama"))


def tokens(*lengths: int) -> list[Tokens]:
    rng = np.random.default_rng(3)
    return [rng.integers(1, 97, length).astype(np.int32) for length in lengths]


def textbook(model: Any, prefix: Tokens, suffix: Tokens) -> NDArray[np.float64]:
    """One eager pass over everything, then sums over its whole maps."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    ids = torch.from_numpy(np.concatenate([prefix, suffix]).astype(np.int64))[None]
    with torch.inference_mode():
        maps = model(input_ids=ids, use_cache=False, output_attentions=True).attentions
    model.set_attn_implementation(before)
    total = sum(m[0, :, len(prefix) :, : len(prefix)].double().sum(0) for m in maps)  # [s, p]
    means: NDArray[np.float64] = total.mean(0).numpy()
    return means


def check(generator: HFGenerator, prefix: Tokens, suffixes: list[Tokens]) -> None:
    found = generator.attention(prefix, suffixes)
    for row, suffix in zip(found, suffixes, strict=True):
        assert row.dtype == np.float64
        expected = textbook(generator.lm.model, prefix, suffix)
        np.testing.assert_allclose(row, expected, atol=1e-5)


@pytest.mark.parametrize("length", [1, 30, 200])
def test_it_equals_a_plain_pass(generator: HFGenerator, length: int) -> None:
    prefix, *suffixes = tokens(length, 1, 12, 40)
    check(generator, prefix, suffixes)


def test_a_suffix_in_small_steps_is_the_same(
    generator: HFGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention_reading, "_MAP_BYTES", 4 * 12 * 50 * 7)  # seven tokens at a time
    passes = generator.lm.forward_passes
    prefix, suffix = tokens(30, 20)
    check(generator, prefix, [suffix])
    assert generator.lm.forward_passes - passes == 1 + 3


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Mistral", {"sliding_window": 16}),  # keeps the last keys only
        ("Gemma2", {"head_dim": 8, "sliding_window": 16}),  # every other layer does, and caps
        ("Qwen2", {}),
        ("GPTNeoX", {}),
        ("Bloom", {"n_layer": 2, "n_head": 4}),
    ],
)
def test_other_architectures(name: str, changes: dict[str, Any]) -> None:
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**(SIZES | changes))
    prefix, *suffixes = tokens(40, 9, 25)
    check(tiny_generator(getattr(transformers, f"{name}ForCausalLM")(config)), prefix, suffixes)


def test_suffixes_do_not_see_each_other(generator: HFGenerator) -> None:
    prefix, first, second = tokens(50, 10, 15)
    one, two = generator.attention(prefix, [first, second])
    again_two, again_one, alone = generator.attention(prefix, [second, first, first])
    np.testing.assert_array_equal(one, again_one)
    np.testing.assert_array_equal(one, alone)
    np.testing.assert_array_equal(two, again_two)
    assert np.abs(one - two).max() > 1e-3


def test_the_prefix_runs_once(generator: HFGenerator) -> None:
    seen: list[int] = []
    handle = generator.lm.decoder.layers[0].register_forward_pre_hook(
        lambda module, args, kwargs: seen.append(args[0].shape[1]), with_kwargs=True
    )
    generator.attention(*_split(tokens(50, 10, 15)))
    handle.remove()
    assert seen[-3:] == [50, 10, 15]


def test_the_models_own_attention_comes_back(generator: HFGenerator) -> None:
    prefix, *suffixes = tokens(20, 5)
    assert generator.lm.model.config._attn_implementation == "enough_packed"
    generator.attention(prefix, suffixes)
    assert generator.lm.model.config._attn_implementation == "enough_packed"
    handle = generator.lm.decoder.layers[1].register_forward_pre_hook(_fail)
    with pytest.raises(ZeroDivisionError):
        generator.attention(prefix, suffixes)
    handle.remove()
    assert generator.lm.model.config._attn_implementation == "enough_packed"
    check(generator, prefix, suffixes)


@pytest.mark.filterwarnings("ignore:.*falling back:UserWarning")
def test_a_model_without_attention_maps_is_refused(tiny_model: TinyModel) -> None:
    generator = tiny_generator(tiny_model("qwen3_5"))
    before = generator.lm.model.config._attn_implementation
    with pytest.raises(ModelError, match=r"3 layers, of which 1 have .* name another model"):
        generator.attention(*_split(tokens(20, 5)))
    assert generator.lm.model.config._attn_implementation == before


@pytest.mark.parametrize("lengths", [(0, 5), (20, 0), (500, 5, 13)])
def test_what_does_not_fit_is_refused(generator: HFGenerator, lengths: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match="window of 512"):
        generator.attention(*_split(tokens(*lengths)))


def test_no_suffix_asks_for_nothing(generator: HFGenerator) -> None:
    assert generator.attention(tokens(5)[0], []) == []


def _split(texts: list[Tokens]) -> tuple[Tokens, list[Tokens]]:
    return texts[0], texts[1:]


def _fail(module: Any, args: Any) -> None:
    raise ZeroDivisionError
