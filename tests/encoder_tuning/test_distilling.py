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


def loss_of(scores: list[float], gains: list[float], temperature: float = 1.0) -> float:
    (found,) = worth_loss(
        torch.tensor([scores]), torch.tensor([gains]), torch.tensor([len(gains)]), temperature
    )
    return float(found)


def test_the_loss_by_hand() -> None:
    # Softmax of {0, ln 3} is {1/4, 3/4}, at half the temperature {1/10, 9/10}.
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert loss_of([math.log(3)], [math.log(3)]) == pytest.approx(entropy)
    sharper = -(0.1 * math.log(0.25) + 0.9 * math.log(0.75))
    assert loss_of([math.log(3)], [math.log(3)], 0.5) == pytest.approx(sharper)
    # Where all records harm, no record is what shall have all the weight.
    assert loss_of([-9.0] * 3, [-9.0] * 3) < loss_of([0.0] * 3, [-9.0] * 3)


def test_lessons_of_different_sizes_are_each_as_alone() -> None:
    scores = torch.tensor([[0.5, 7.0], [1.0, -2.0]], requires_grad=True)
    gains = torch.tensor([[1.5, 9.0], [0.5, 0.25]])
    found = worth_loss(scores, gains, torch.tensor([1, 2]), 1.0)
    expected = [loss_of([0.5], [1.5]), loss_of([1.0, -2.0], [0.5, 0.25])]
    assert found.tolist() == pytest.approx(expected)
    found.sum().backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert scores.grad[0, 1] == 0  # it is no record of the first lesson
    assert scores.grad[1].abs().min() > 0


@pytest.mark.parametrize("together", [1, 2, 100])
def test_portions_change_no_gradient(tmp_path: Path, together: int) -> None:
    reader = read(save_bert(tmp_path))
    whole = read(tmp_path)
    reader.loss(LESSONS, 1.0, together).backward()  # type: ignore[no-untyped-call]
    whole.loss(LESSONS, 1.0, 100).backward()  # type: ignore[no-untyped-call]
    learnt = 0
    for (name, one), other in zip(reader.named_parameters(), whole.parameters(), strict=True):
        assert (one.grad is None) == (other.grad is None), name
        if one.grad is not None and other.grad is not None:
            torch.testing.assert_close(one.grad, other.grad, atol=1e-6, rtol=1e-4, msg=name)
            learnt += bool(other.grad.any())
    assert learnt > 20


def test_fewer_texts_together_take_less_memory(tmp_path: Path) -> None:
    reader = read(save_bert(tmp_path))
    many = [
        Lesson("A", "u", f"w{i}", tuple(f"w{i} w{j} " * 8 for j in range(9)),
               np.zeros(9, np.float32))
        for i in range(9)
    ]  # fmt: skip

    def kept(together: int) -> int:
        sizes: list[int] = []

        def pack(tensor: torch.Tensor) -> torch.Tensor:
            sizes.append(tensor.numel())
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            reader.loss(many, 1.0, together)
        return sum(sizes)

    assert kept(8) < kept(1000) / 5


def test_cosines_stay_exact_in_half_precision(tmp_path: Path) -> None:
    reader = read(save_bert(tmp_path))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        rough = reader.likeness(LESSONS, 8)
    assert {one.dtype for one in rough} == {torch.float32}


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
