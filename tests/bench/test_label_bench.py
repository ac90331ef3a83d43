from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from typing import Any

import pytest

from enough.bench.labelling import LabelBench, run_label_bench
from enough.errors import DataError
from enough.generators.hf import HFGenerator
from enough.labels.config import LabelConfig
from enough.teacher.case import Case
from enough.teacher.preparation import cases_of
from tests.conftest import TinyModel
from tests.labels.runs import WORDS, small_config, small_dataset, small_stages

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def word_tokenizer() -> Any:
    """One token per word or mark; what it does not know is one token, too."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    known = {word: number for number, word in enumerate(["other", *WORDS, *"[]<>/:.,="])}
    backend = Tokenizer(models.WordLevel(known, unk_token="other"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer: Any = PreTrainedTokenizerFast(tokenizer_object=backend)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.chat_template = TEMPLATE
    return tokenizer


@pytest.fixture(scope="module")
def generator(tiny_model: TinyModel) -> HFGenerator:
    return HFGenerator(tiny_model("llama"), word_tokenizer())


@pytest.fixture(scope="module")
def config() -> LabelConfig:
    return small_config()


@pytest.fixture(scope="module")
def cases(config: LabelConfig) -> list[Case]:
    dataset = small_dataset()
    return list(cases_of(dataset, dataset.splits["train"][:2], small_stages(config)))


def too_long(case: Case, words: int = 600) -> Case:
    request = replace(case.example.request, id="long", input="walk " * words)
    return replace(case, example=replace(case.example, request=request))


def check(found: LabelBench, config: LabelConfig) -> None:
    values = asdict(found)
    assert json.loads(json.dumps(values)) == values
    for name, value in values.items():
        if name not in ("device", "dtype"):
            assert math.isfinite(value), name
            assert value > 0, name
    assert found.dtype == "float32"
    assert found.generator_share <= 1
    assert found.ratio == pytest.approx(
        found.labelled_profiles_per_s / found.naive_labelled_profiles_per_s
    )
    assert found.scoring_ratio == pytest.approx(found.profiles_per_s / found.naive_profiles_per_s)
    assert found.labelled_profiles_per_s == pytest.approx(found.labelled_profiles / found.seconds)
    per_profile = config.matching.controls + 2
    assert found.naive_profiles % per_profile == 0
    assert found.naive_profiles <= found.labelled_profiles * per_profile


def test_what_is_measured(generator: HFGenerator, cases: list[Case], config: LabelConfig) -> None:
    found = run_label_bench(generator, cases, config, naive_share=0.5)
    assert found.requests == 2
    check(found, config)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_request_that_does_not_fit_the_window_is_left_out(
    generator: HFGenerator, cases: list[Case], config: LabelConfig, place: int
) -> None:
    some = [*cases[:place], too_long(cases[0]), *cases[place:]]
    found = run_label_bench(generator, some, config, naive_share=0.5)
    assert found.requests == 2
    check(found, config)


def test_nothing_to_measure_is_said(
    generator: HFGenerator, cases: list[Case], config: LabelConfig
) -> None:
    with pytest.raises(DataError, match="nothing to measure"):
        run_label_bench(generator, [too_long(cases[0])], config, naive_share=0.5)
