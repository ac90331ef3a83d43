"""The loss by hand; and a text's direction does not depend on its company."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from enough.encoder_tuning.distilling import Reader, worth_loss
from enough.encoder_tuning.lessons import Lesson
from enough.retrieval.encoders import EncoderSpec, load_encoder
from tests.retrieval.tiny import save_bert, save_qwen

LESSONS = [
    Lesson("A", "u", "w1 w2", ("w3", "w1 w2 w4"), np.array([0.0, 1.0], np.float32)),
    Lesson("B", "v", "w5", ("w1 w2 w4", "w5 w6 w7, w8", "w9"), np.zeros(3, np.float32)),
]


def read(folder: Path, **spec: Any) -> Reader:
    model = AutoModel.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return Reader(model, tokenizer, EncoderSpec(max_length=30, **spec), ["A", "B"]).eval()


def test_the_loss_by_hand() -> None:
    # Softmax of {0, ln 3} is {1/4, 3/4}, at half the temperature {1/10, 9/10}.
    scores, gains = torch.tensor([math.log(3)]), torch.tensor([math.log(3)])
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert float(worth_loss(scores, gains, 1.0)) == pytest.approx(entropy)
    sharper = -(0.1 * math.log(0.25) + 0.9 * math.log(0.75))
    assert float(worth_loss(scores, gains, 0.5)) == pytest.approx(sharper)
    # Where all records harm, no record is what shall have all the weight.
    lowered = worth_loss(torch.full((3,), -9.0), torch.full((3,), -9.0), 1.0)
    assert float(lowered) < float(worth_loss(torch.zeros(3), torch.full((3,), -9.0), 1.0))


@pytest.mark.parametrize(("save", "spec"), [
    (save_bert, {}),
    (save_bert, {"pooling": "cls", "query_template": "w9 {text}"}),
    (save_qwen, {"pooling": "last", "padding": "left"}),
])  # fmt: skip
def test_it_reads_as_the_frozen_encoder_does(tmp_path: Path, save: Any, spec: Any) -> None:
    reader = read(save(tmp_path), **spec)
    frozen = load_encoder(
        str(tmp_path), "cpu", spec=EncoderSpec(max_length=30, **spec), precision="float32"
    )
    with torch.no_grad():
        together = reader.likeness(LESSONS, together=3)
    for lesson, found in zip(LESSONS, together, strict=True):
        expected = frozen.encode(lesson.records, "document") @ frozen.encode(
            [lesson.query], "query"
        ).squeeze(0)
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)


def test_each_task_reads_cosines_its_own_way(tmp_path: Path) -> None:
    reader = read(save_bert(tmp_path))
    reader.loss(LESSONS[:1], 1.0, 8).backward()  # type: ignore[no-untyped-call]
    assert reader.offset.grad is not None
    assert reader.offset.grad[0] != 0
    assert reader.offset.grad[1] == 0
