"""Which epoch is kept, what the first loss is compared with, and when a run is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from enough.encoder_tuning import fit as fitting
from enough.encoder_tuning.config import EncoderTuneConfig
from enough.encoder_tuning.distilling import Reader
from enough.encoder_tuning.fit import fit, fit_reading, judged
from enough.encoder_tuning.lessons import Lesson
from enough.errors import ModelError
from enough.retrieval.encoders import EncoderSpec
from tests.retrieval.tiny import WORDS, save_bert


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    folder = save_bert(tmp_path)
    model = AutoModel.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return Reader(model, tokenizer, EncoderSpec(max_length=30), ["A"])


def lessons(count: int, seed: int = 0) -> list[Lesson]:
    rng = np.random.default_rng(seed)
    return [
        Lesson("A", f"u{i}", f"{WORDS[i % 20]}", tuple(WORDS[20:25]),
               rng.standard_normal(5).astype(np.float32))
        for i in range(count)
    ]  # fmt: skip


def config(**changes: Any) -> EncoderTuneConfig:
    return EncoderTuneConfig(**({"epochs": 3, "learning_rate": 1e-3, "batch": 4} | changes))


@pytest.mark.parametrize(("losses", "kept"), [
    ([2.0, 3.0, 1.0, 1.5], 2), ([1.0, 2.0, 2.0, 2.0], 0), ([3.0, 2.0, 2.0, 2.5], 1),
])  # fmt: skip
def test_the_best_epoch_is_kept(
    reader: Reader, monkeypatch: pytest.MonkeyPatch, losses: list[float], kept: int
) -> None:
    seen: list[torch.Tensor] = []

    def judge(reader: Reader, *_: Any) -> float:
        seen.append(next(reader.model.parameters()).detach().clone())
        return losses[len(seen) - 1]

    monkeypatch.setattr(fitting, "judged", judge)
    found = fit(reader, lessons(8), lessons(4, 1), config())
    assert found == losses
    assert torch.equal(next(reader.model.parameters()), seen[kept])
    assert not torch.equal(seen[kept], seen[kept - 1])
    assert not reader.training


def test_nothing_learnt_is_no_better_loss(reader: Reader) -> None:
    found = fit(reader, lessons(30), lessons(10, 1), config(learning_rate=1e-9, epochs=8))
    assert min(found[1:]) > found[0] - 0.05  # a and b are as good as they can be from the start


def test_reading_is_fitted_to_the_encoder_as_it_is(reader: Reader) -> None:
    ones = lessons(30)
    reader.eval()
    weights = next(reader.model.parameters()).detach().clone()
    before = judged(reader, ones, config())
    fit_reading(reader, ones, config())
    best = judged(reader, ones, config())
    assert best < before - 0.1
    assert torch.equal(next(reader.model.parameters()), weights)
    with torch.no_grad():
        for shift in (-0.1, 0.1):  # nothing beside it is better
            for number in (reader.steepness, reader.offset):
                number.add_(shift)
                assert judged(reader, ones, config()) > best
                number.sub_(shift)


def test_a_loss_that_is_no_number_is_refused(reader: Reader) -> None:
    with pytest.raises(ModelError, match="lower learning_rate"):
        fit(reader, lessons(4), lessons(4, 1), config(learning_rate=1e30, epochs=1))
