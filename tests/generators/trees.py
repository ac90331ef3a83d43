"""Random sequences with shared prefixes, the shape that profiles of one request have."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from enough.protocols import ScoredSequence


@st.composite
def profile_trees(draw: st.DrawFn, vocabulary: int = 101) -> list[ScoredSequence]:
    """A head, a few records in random orders, a tail; sometimes two requests, repeats included."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sequences: list[ScoredSequence] = []
    head = rng.integers(1, vocabulary, draw(st.integers(1, 12)))
    for _ in range(draw(st.integers(1, 2))):
        records = [rng.integers(1, vocabulary, rng.integers(1, 25)) for _ in range(5)]
        tail = rng.integers(1, vocabulary, draw(st.integers(1, 15)))
        reference_length = draw(st.integers(1, len(tail)))
        for _ in range(draw(st.integers(1, 8))):
            order = rng.permutation(5)[: rng.integers(0, 6)]
            tokens = np.concatenate([head, *(records[i] for i in order), tail]).astype(np.int32)
            sequences.append(ScoredSequence(tokens, reference_length))
    return sequences
