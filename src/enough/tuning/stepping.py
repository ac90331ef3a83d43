"""What keeps a GPU busy: the next step's data is made meanwhile, and losses are read late.

In: a function that makes a step's data; the loss of every step, where the model is. Out: the data
in the order of the steps; losses on the CPU, or an error that names the step whose loss is no
number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch
from torch import Tensor

from enough.errors import ModelError

Made = TypeVar("Made")
_UNREAD = 8  # steps; to read a loss is to wait until the device has done all it was given


def made_ahead(make: Callable[[int], Made], steps: range) -> Iterator[Made]:
    """`make` of every step, the next one already under way in another thread."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="next step") as other:
        coming = [other.submit(make, step) for step in steps[:1]]
        for step in steps:
            made = coming.pop().result()
            if step + steps.step in steps:
                coming.append(other.submit(make, step + steps.step))
            yield made


class StepLosses:
    """The losses of a run.

    Args:
        steps: how many there will be.
        device: of the model.
        advice: what to do if one is not a number.
    """

    def __init__(self, steps: int, device: torch.device, advice: str) -> None:
        self._device = device
        self._advice = advice
        self._read = torch.zeros(steps)
        self._waiting: list[Tensor] = []
        self._done = 0

    def restore(self, losses: Tensor) -> None:
        """Begin behind these, [steps so far]."""
        self._done = len(losses)
        self._read[: self._done] = losses

    def add(self, loss: Tensor) -> None:
        """The next step's, [], not waited for on a GPU."""
        self._waiting.append(loss.detach())
        if self._device.type == "cpu" or len(self._waiting) == _UNREAD:
            self.so_far()

    def so_far(self) -> Tensor:
        """All that were added, [steps so far].

        Raises:
            ModelError: if one is not a number.
        """
        if self._waiting:
            end = self._done + len(self._waiting)
            self._read[self._done : end] = torch.stack(self._waiting).cpu()
            bad = (~self._read[self._done : end].isfinite()).nonzero()
            if len(bad):
                step = self._done + int(bad[0]) + 1
                raise ModelError(f"the loss of step {step} is not a number; {self._advice}")
            self._waiting.clear()
            self._done = end
        return self._read[: self._done]

    def recent(self, count: int) -> str:
        """Mean of the last ones that are read, in words; nothing before the first is."""
        if not self._done:
            return ""
        return f"loss {self._read[max(0, self._done - count) : self._done].mean():.3f}"
