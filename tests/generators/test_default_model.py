"""The real SmolLM2: likelihoods, answers, tokenisation by segments."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from enough.bundled_models import BUNDLED_MODELS, bundled_folder, verify_sha256
from enough.data.leakage import LeakageControls
from enough.data.logs import read_log_folder
from enough.errors import MissingExtraError, ModelError, UnknownNameError
from enough.generators.config import GeneratorConfig
from enough.generators.hf import HFGenerator
from enough.generators.naive import NaiveScorer
from enough.generators.packed import PackedScorer
from enough.generators.score_cache import CachedGenerator
from enough.prompts.prompter import Prompter
from enough.protocols import Tokens
from tests.conftest import make_example, make_record, make_request
from tests.generators.test_scorers import textbook

pytestmark = pytest.mark.lm
TASKS = ("LaMP_1", "LaMP_2", "LaMP_3", "LaMP_4", "LaMP_5", "LaMP_7")


def test_packed_scores_equal_naive_ones_and_the_textbook(default_generator: HFGenerator) -> None:
    prompter = Prompter(default_generator.tokenizer)
    records = [make_record(i) for i in range(1, 4)]
    profiles = [(), records[:1], records[1:2], records[:2], records, records[::-1]]
    sequences = [prompter.sequence(make_example(), profile) for profile in profiles]
    assert isinstance(default_generator.scorer, PackedScorer)
    packed = default_generator.score(sequences)
    np.testing.assert_allclose(
        packed, NaiveScorer(default_generator.lm, 2048).score(sequences), atol=1e-3
    )
    assert packed[4] == pytest.approx(textbook(default_generator.lm, sequences[4]), abs=1e-3)


def test_a_second_scoring_run_does_no_forward_pass(
    default_generator: HFGenerator, tmp_path: Path
) -> None:
    prompter = Prompter(default_generator.tokenizer)
    sequences = [prompter.sequence(make_example(), profile) for profile in ([], [make_record()])]
    first = CachedGenerator(default_generator, tmp_path / "s").score(sequences)
    before = default_generator.lm.forward_passes
    second = CachedGenerator(default_generator, tmp_path / "s").score(sequences)
    np.testing.assert_array_equal(first, second)
    assert default_generator.lm.forward_passes == before


def test_answers_are_deterministic_and_equal_prompts_get_equal_ones(
    default_generator: HFGenerator,
) -> None:
    prompter = Prompter(default_generator.tokenizer)
    prompts = [
        prompter.prompt(make_request(), [make_record(i)] * count).tokens
        for i, count in ((1, 0), (2, 1), (3, 3))
    ]
    together = default_generator.generate([*prompts, prompts[0]], 8)
    assert together[0] == together[3]
    assert together == default_generator.generate([*prompts, prompts[0]], 8)
    assert all(isinstance(answer, str) and "<|im_end|>" not in answer for answer in together)


def test_it_is_converted_once(
    default_generator: HFGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def convert(*_: object) -> None:
        raise AssertionError("converted again")

    monkeypatch.setattr("enough.generators.weights._convert_gguf", convert)
    again = HFGenerator.load(GeneratorConfig(dtype="float32"))
    assert again.fingerprint == default_generator.fingerprint


@pytest.mark.parametrize("folder", TASKS)
def test_segments_tokenise_like_the_whole_text(
    real_data: Path, default_generator: HFGenerator, folder: str
) -> None:
    dataset = read_log_folder(real_data / folder)
    prompter = Prompter(default_generator.tokenizer)
    controls = LeakageControls(encoder=None)
    for example in dataset.splits["dev"]:
        request = example.request
        legal = controls.legal(request, dataset.history(request)).records
        profile = legal[-5:]
        tokens: Tokens = default_generator.tokenizer.encode(prompter.text(request, profile))
        np.testing.assert_array_equal(prompter.prompt(request, profile).tokens, tokens)


def test_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    name = "SmolLM2-135M-Instruct"
    model = BUNDLED_MODELS[name]
    copy = tmp_path / model.weights
    shutil.copy(bundled_folder(name) / model.weights, copy)
    verify_sha256(copy, model.sha256)
    with copy.open("r+b") as file:
        file.seek(1000)
        file.write(b"x")
    with pytest.raises(ModelError, match="sha256 is"):
        verify_sha256(copy, model.sha256)


def test_names_that_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'SmolLM2-135M-Instruct'"):
        bundled_folder("SmolLM2-135M-instruct")
    with pytest.raises(ModelError, match=r"needs a config\.json"):
        HFGenerator.load(GeneratorConfig(model=str(tmp_path)))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match=r"needs a tokenizer\.json"):
        HFGenerator.load(GeneratorConfig(model=str(tmp_path)))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot load"):
        HFGenerator.load(GeneratorConfig(model=str(tmp_path)))


def test_a_sequence_beyond_the_window_is_refused(default_generator: HFGenerator) -> None:
    from enough.protocols import ScoredSequence

    long = ScoredSequence(np.ones(default_generator.window + 1, np.int32), 1)
    with pytest.raises(ModelError, match="window of 8192"):
        default_generator.score([long])


def test_an_adapter_changes_scores_and_fingerprint(
    default_generator: HFGenerator, tmp_path: Path
) -> None:
    peft: Any = pytest.importorskip("peft")
    base = HFGenerator.load(GeneratorConfig(dtype="float32"))
    config = peft.LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False)
    peft.get_peft_model(base.lm.model, config).save_pretrained(tmp_path / "adapter")
    adapted = HFGenerator.load(GeneratorConfig(adapter=tmp_path / "adapter", dtype="float32"))
    assert adapted.fingerprint != default_generator.fingerprint
    sequence = Prompter(adapted.tokenizer).sequence(make_example())
    assert adapted.score([sequence])[0] != default_generator.score([sequence])[0]
    with pytest.raises(ModelError, match="not an adapter folder"):
        HFGenerator.load(GeneratorConfig(adapter=tmp_path))
    assert (
        MissingExtraError("x", "lora").args[0]
        == "x needs the extra 'lora': pip install 'enough[lora]'"
    )
