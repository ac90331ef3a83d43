"""Steered answers equal plain decoding and full forward passes without any cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from enough.errors import ModelError
from enough.generators.decoding_batches import decoded_together
from enough.generators.hf import HFGenerator
from enough.protocols import Floats, OpenGenerator, Steered, Tokens
from tests.conftest import TinyModel
from tests.generators.test_architectures import SIZES
from tests.generators.tiny_generators import ARCHITECTURES, tiny_generator

pytestmark = pytest.mark.filterwarnings("ignore:.*falling back:UserWarning")


class Greedy:
    """The likeliest token of the only prompt."""

    key = "greedy"

    def next(self, log_probs: Floats) -> int:
        assert log_probs.dtype == np.float32
        return int(log_probs[0].argmax())


class Mixture:
    """The likeliest token under a weighted mean of distributions; keeps what it saw."""

    key = "mixture"

    def __init__(self, weights: list[float], never: Sequence[int] = ()) -> None:
        self.seen: list[Floats] = []
        self.chosen: list[int] = []
        self._weights = np.array(weights)
        self._never = list(never)

    def next(self, log_probs: Floats) -> int:
        mixed = self._weights @ np.exp(log_probs.astype(np.float64))
        mixed[self._never] = 0.0
        self.seen.append(log_probs)
        self.chosen.append(int(mixed.argmax()))
        return self.chosen[-1]


class Script:
    """Says what it was told to."""

    key = "script"

    def __init__(self, tokens: list[int]) -> None:
        self.left = list(tokens)

    def next(self, log_probs: Floats) -> int:
        return self.left.pop(0)


@pytest.fixture(scope="module")
def generators(tiny_model: TinyModel) -> dict[str, HFGenerator]:
    return {name: tiny_generator(tiny_model(name)) for name in ARCHITECTURES}


def prompts(*lengths: int, seed: int = 0) -> list[Tokens]:
    rng = np.random.default_rng(seed)
    return [rng.integers(1, 101, length).astype(np.int32) for length in lengths]


def by_hand(generator: HFGenerator, streams: list[Tokens], rule: Mixture, steps: int) -> None:
    """Every step runs every whole stream anew: no padding, no cache."""
    texts = [stream.tolist() for stream in streams]
    for _ in range(steps):
        rows = []
        for text in texts:
            with torch.inference_mode():
                logits = generator.lm.model(input_ids=torch.tensor([text]), use_cache=False).logits
            rows.append(logits[0, -1].double().log_softmax(-1).numpy().astype(np.float32))
        token = rule.next(np.stack(rows))
        texts = [[*text, token] for text in texts]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_likeliest_token_of_one_prompt_is_what_generate_writes(
    generators: dict[str, HFGenerator], name: str
) -> None:
    generator: OpenGenerator = generators[name]
    several = prompts(1, 7, 20, 64, 150)
    written = [generator.generate([prompt], 12)[0] for prompt in several]
    assert [generator.steer([Steered([prompt], Greedy())], 12)[0] for prompt in several] == written
    assert len(set(written)) > 1


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("lengths", [(5, 40), (33, 33), (60, 3, 17)])
def test_streams_equal_full_passes_without_a_cache(
    generators: dict[str, HFGenerator], name: str, lengths: tuple[int, ...]
) -> None:
    """Streams of other lengths, so padding, positions and recurrent states all count."""
    generator, streams = generators[name], prompts(*lengths)
    weights = [0.5, 0.3, 0.2][: len(lengths)]
    rule, expected = Mixture(weights, never=[0]), Mixture(weights, never=[0])
    text = generator.steer([Steered(streams, rule)], 15)[0]
    by_hand(generator, streams, expected, 15)
    assert rule.chosen == expected.chosen
    assert len(rule.seen) == 15
    np.testing.assert_allclose(np.stack(rule.seen), np.stack(expected.seen), atol=1e-4)
    assert text == generator.tokenizer.decode(rule.chosen).strip()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Granite", {"logits_scaling": 8.0}),
        ("Gemma2", {"head_dim": 8, "sliding_window": 16, "final_logit_softcapping": 0.2}),
        ("Mistral", {"sliding_window": 16}),
        ("Mamba2", {"head_dim": 8, "num_heads": 8, "state_size": 8, "n_groups": 1}),
        ("Bloom", {"n_layer": 2, "n_head": 4}),
    ],
)
def test_other_architectures(name: str, changes: dict[str, Any]) -> None:
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**(SIZES | changes))
    generator = tiny_generator(getattr(transformers, f"{name}ForCausalLM")(config))
    streams = [stream % 96 + 1 for stream in prompts(5, 40)]
    rule, expected = Mixture([0.5, 0.5], never=[0, 2]), Mixture([0.5, 0.5], never=[0, 2])
    generator.steer([Steered(streams, rule)], 8)[0]
    by_hand(generator, streams, expected, 8)
    assert rule.chosen == expected.chosen
    np.testing.assert_allclose(np.stack(rule.seen), np.stack(expected.seen), atol=1e-4)


def test_every_prompt_counts(generators: dict[str, HFGenerator]) -> None:
    streams = prompts(5, 40)
    answers = {
        generators["llama"].steer([Steered(streams, Mixture(weights, never=[0]))], 10)[0]
        for weights in ([1.0, 0.0], [0.0, 1.0])
    }
    alone = {
        generators["llama"].steer([Steered([stream], Mixture([1.0], [0]))], 10)[0]
        for stream in streams
    }
    assert answers == alone
    assert len(answers) == 2


def test_an_end_token_ends_it(generators: dict[str, HFGenerator]) -> None:
    script = Script([5, 6, 0, 7, 8])
    assert generators["llama"].steer([Steered(prompts(4, 9), script)], 5)[0] == "w5 w6"
    assert script.left == [7, 8]
    assert generators["llama"].steer([Steered(prompts(4, 9), Script([5, 6, 7]))], 2)[0] == "w5 w6"


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_answers_written_together_are_those_written_alone(
    generators: dict[str, HFGenerator], name: str
) -> None:
    generator = generators[name]
    groups = [prompts(5, 40), prompts(12, seed=1), prompts(33, 3, 60, seed=2)]

    def asked() -> list[Steered]:
        return [Steered(group, Mixture([1 / len(group)] * len(group), [0])) for group in groups]

    alone = [generator.steer([one], 10)[0] for one in asked()]
    assert generator.steer(asked(), 10) == alone
    assert len(set(alone)) == 3
    assert generator.steer([], 10) == []


def test_an_answer_that_ended_is_not_asked_about_again(
    generators: dict[str, HFGenerator],
) -> None:
    short, long = Script([5, 0, 9]), Script([6, 7, 8, 0])
    together = [Steered(prompts(4, 9), short), Steered(prompts(20), long)]
    assert generators["llama"].steer(together, 6) == ["w5", "w6 w7 w8"]
    assert (short.left, long.left) == ([9], [])


@given(st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=4), max_size=12))
def test_batches_hold_every_answer_once_and_fit(lengths: list[list[int]]) -> None:
    room = 100
    answers = [prompts(*of_one) for of_one in lengths]
    batches = list(decoded_together(answers, room))
    assert sorted(place for batch in batches for place in batch) == list(range(len(answers)))
    for batch in batches:
        streams = [prompt for place in batch for prompt in answers[place]]
        assert len(batch) == 1 or len(streams) * max(map(len, streams)) <= room


def test_scoring_is_unchanged_by_it(generators: dict[str, HFGenerator]) -> None:
    """Both go through the same model, in attention of the scorer's own."""
    generator = generators["llama"]
    before = generator.lm.model.config._attn_implementation
    generator.steer([Steered(prompts(5, 40), Mixture([0.5, 0.5]))], 4)[0]
    assert generator.lm.model.config._attn_implementation == before == "enough_packed"


@pytest.mark.parametrize("lengths", [(), (0, 4), (500, 4)])
def test_what_does_not_fit_is_refused(
    generators: dict[str, HFGenerator], lengths: tuple[int, ...]
) -> None:
    with pytest.raises(ModelError, match="window of 512"):
        generators["llama"].steer([Steered(prompts(*lengths), Greedy())], 13)[0]


def test_the_window_can_be_filled(generators: dict[str, HFGenerator]) -> None:
    rule = Mixture([1.0], never=[0])
    generators["llama"].steer([Steered(prompts(500), rule)], 12)[0]
    assert len(rule.chosen) == 12
