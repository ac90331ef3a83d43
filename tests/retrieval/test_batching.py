"""Batches of tokens: each row as if alone, spread over cores, leaving torch as it was."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from enough.retrieval.batching import (
    GPU_ROWS,
    batches_of_one_length,
    filled,
    for_each_batch,
    padded,
)

CPU = torch.device("cpu")


def test_batches_hold_rows_of_one_length() -> None:
    rows = [[0] * n for n in (5, 1, 9, 30, 2, 2, 7, 2)]
    assert list(batches_of_one_length(rows, 2)) == [[3], [2], [6], [0], [4, 5], [7], [1]]


def test_on_a_gpu_shapes_depend_on_the_length_alone() -> None:
    rows = [[1, 2], [3, 4]]
    assert filled(rows, CPU) == rows
    on_gpu = filled(rows, torch.device("cuda"))
    assert len(on_gpu) == GPU_ROWS
    assert on_gpu[:3] == [[1, 2], [3, 4], [1, 2]]


@pytest.mark.parametrize("cores", [1, 3])
def test_every_row_is_done_once_and_torch_keeps_its_threads(cores: int) -> None:
    rows = [[0] * 1000] * 9
    done: list[int] = []
    seen: set[tuple[int, int]] = set()
    before = torch.get_num_threads()
    torch.set_num_threads(cores)

    def work(batch: list[int]) -> None:
        done.extend(batch)
        seen.add((threading.get_ident(), torch.get_num_threads()))

    try:
        for_each_batch(rows, CPU, work)
        assert sorted(done) == list(range(9))
        assert {threads for _, threads in seen} == {1}
        assert torch.get_num_threads() == cores
        with ThreadPoolExecutor(1) as later:
            assert later.submit(torch.get_num_threads).result() == cores
    finally:
        torch.set_num_threads(before)


def test_an_error_in_a_batch_is_raised() -> None:
    def work(batch: list[int]) -> None:
        if 0 in batch:
            raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        for_each_batch([[0] * 2000] * 5, CPU, work)


def test_nothing_to_do() -> None:
    for_each_batch([], CPU, lambda batch: pytest.fail(f"called with {batch}"))


def test_padding_sides() -> None:
    rows = [[1, 2, 3], [4]]
    ids, mask = padded(rows, 9, "left", CPU)
    assert ids.tolist() == [[1, 2, 3], [9, 9, 4]]
    assert mask.tolist() == [[1, 1, 1], [0, 0, 1]]
    ids, mask = padded(rows, 9, "right", CPU)
    assert ids.tolist() == [[1, 2, 3], [4, 9, 9]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]
