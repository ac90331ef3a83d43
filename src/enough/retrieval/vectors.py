"""Vectors of frozen encoders as directions."""

from __future__ import annotations

import numpy as np

from enough.protocols import Floats


def unit_rows(vectors: Floats) -> Floats:
    """Rows scaled to length 1, [n, dim]; a zero row stays one."""
    # What `np.linalg.norm` computes, in half its time where there are few.
    lengths = np.sqrt(np.add.reduce(vectors * vectors, axis=1, keepdims=True))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)
