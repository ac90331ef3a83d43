"""How many threads torch computes on, for a while.

Another number rounds differently, and more than one wait for each other on a busy machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """So many; whatever else runs in this process keeps its own number."""
    import torch  # noqa: PLC0415 (heavy)

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
