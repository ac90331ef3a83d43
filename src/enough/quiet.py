"""Silence for libraries that write to the terminal while they load a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """No progress bars and no remarks of transformers inside the block."""
    from transformers.utils import logging as remarks  # noqa: PLC0415 (heavy)

    verbosity = remarks.get_verbosity()
    bars = remarks.is_progress_bar_enabled()
    remarks.set_verbosity_error()
    remarks.disable_progress_bar()
    try:
        yield
    finally:
        remarks.set_verbosity(verbosity)
        if bars:
            remarks.enable_progress_bar()
