"""Rows of tokens through a frozen model, each as if it were alone.

In: token ids of any lengths. Out: batches in tensors. What is computed together changes the last
bits of a vector, and with them near ties, pools and everything behind them. So a row's result must
not depend on its company: on a CPU every row goes alone, one core to each; on a GPU rows of one
length go together, filled up to a fixed number, so that shapes depend on the length alone.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import torch
from torch import Tensor

GPU_ROWS = 64


def for_each_batch(
    rows: Sequence[Sequence[int]], device: torch.device, work: Callable[[list[int]], None]
) -> None:
    """Call `work` with the places of each batch's rows, longest first."""
    if device.type != "cpu":
        for batch in batches_of_one_length(rows, GPU_ROWS):
            work(batch)
        return
    if not rows:
        return
    places = iter(sorted(range(len(rows)), key=lambda i: -len(rows[i])))
    failures: list[BaseException] = []

    def take_turns() -> None:
        try:
            for place in places:
                work([place])
        except BaseException as error:  # noqa: BLE001 (raised again below)
            failures.append(error)

    # Also for a single row: one core and several round differently.
    for thread in one_core_threads(min(torch.get_num_threads(), len(rows)), take_turns):
        thread.join()
    if failures:
        raise failures[0]


def one_core_threads(count: int, work: Callable[[], None]) -> list[threading.Thread]:
    """Start threads that do `work`, in each of which torch computes on one core.

    What a thread sets is also what later threads start with, so when all of these have begun, the
    setting is put back to what it was.
    """
    cores = torch.get_num_threads()
    all_here = threading.Barrier(count + 1)

    def begin() -> None:
        torch.get_num_threads()  # a thread's first question sets its default, so it must come first
        torch.set_num_threads(1)
        all_here.wait()
        work()

    threads = [threading.Thread(target=begin, name="encoder", daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    all_here.wait()
    torch.set_num_threads(cores)
    return threads


def batches_of_one_length(rows: Sequence[Sequence[int]], count: int) -> Iterator[list[int]]:
    """Places of the rows in batches of at most `count` rows of one length, longest first."""
    groups: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        groups[len(row)].append(place)
    for length in sorted(groups, reverse=True):
        places = groups[length]
        for start in range(0, len(places), count):
            yield places[start : start + count]


def filled(rows: Sequence[Sequence[int]], device: torch.device) -> Sequence[Sequence[int]]:
    """The rows, on a GPU followed by copies of the first up to the fixed number."""
    missing = 0 if device.type == "cpu" else GPU_ROWS - len(rows)
    return [*rows, *[rows[0]] * missing]


def padded(
    rows: Sequence[Sequence[int]], filler: int, side: Literal["left", "right"], device: torch.device
) -> tuple[Tensor, Tensor]:
    """Token ids and mask, both [batch, longest]."""
    longest = max(map(len, rows))
    ids = torch.full((len(rows), longest), filler)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        start = longest - len(row) if side == "left" else 0
        ids[i, start : start + len(row)] = torch.tensor(row)
        mask[i, start : start + len(row)] = 1
    return ids.to(device), mask.to(device)
