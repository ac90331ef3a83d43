"""Packed-tree scoring for full-attention models: each distinct token is computed once.

In: sequences that share prefixes. Out: the same values as the naive scorer. All new tokens of a
pack go through the linear layers as one long row without padding; in attention, new tokens of a
sequence see their whole path (`packed_attention`). It enters the model through transformers' own
registry of attention functions, so any architecture that uses that works unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from enough.generators.causal_lm import CausalLM
from enough.generators.compiled_layers import COMPILED_ATTENTION, CompiledLayers
from enough.generators.packed_attention import (
    ATTENTION,
    Layout,
    PathMemory,
    Span,
    has_varlen_kernel,
)
from enough.generators.scoring import Results, mean_log_likelihoods, to_device
from enough.generators.token_trie import Pack, packs
from enough.protocols import OnBatch, ScoredSequence


class PackedScorer:
    """Packs of at most `max_tokens` tokens: few enough for its caches, enough to keep it busy."""

    def __init__(
        self, lm: CausalLM, max_tokens: int, compiled: CompiledLayers | None = None
    ) -> None:
        self._lm = lm
        self._max_tokens = max_tokens
        self._compiled = compiled
        attention = ATTENTION if compiled is None else COMPILED_ATTENTION
        lm.model.set_attn_implementation(attention)

    @torch.inference_mode()
    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """One value per sequence."""
        results = Results(len(sequences), on_batch)
        memory = PathMemory()
        with nullcontext() if self._compiled is None else self._compiled.in_place():
            for pack in packs(sequences, self._max_tokens):
                members = [sequences[i] for i in pack.members]
                results.add(pack.members, self._pack(pack, members, memory))
        return results.scores

    def _pack(
        self, pack: Pack, members: Sequence[ScoredSequence], memory: PathMemory
    ) -> NDArray[np.float64]:
        lm = self._lm
        rows = [pack.path(i)[-s.reference_length :] for i, s in enumerate(members)]
        places = to_device(lm, np.concatenate(rows) - pack.carried)
        with _last_block_only_on(places, lm.decoder):
            hidden = lm.hidden(  # [1, t, d]
                to_device(lm, pack.tokens)[None],
                position_ids=to_device(lm, pack.positions)[None],
                # A prepared mask is passed on as it is, so none of t x t is built.
                attention_mask=torch.ones((1, 1, 1, 1), dtype=torch.bool, device=lm.device),
                use_cache=False,
                layout=self._layout(pack, memory),
            )
        return mean_log_likelihoods(lm, hidden[0, places], members)

    def _layout(self, pack: Pack, memory: PathMemory) -> Layout:
        lm = self._lm
        return Layout(
            key_index=to_device(lm, pack.key_index),
            query_starts=to_device(lm, pack.query_starts).int(),
            key_starts=to_device(lm, pack.key_starts).int(),
            longest_query=int(np.diff(pack.query_starts).max()),
            longest_key=int(np.diff(pack.key_starts).max()),
            spans=() if has_varlen_kernel(lm.device, lm.dtype) else self._spans(pack),
            kept=to_device(lm, pack.kept),
            memory=memory,
        )

    def _spans(self, pack: Pack) -> tuple[Span, ...]:
        lm = self._lm
        # As transformers has it: modules without the attribute do not share key heads.
        groups = {getattr(m, "num_key_value_groups", 1) for m in lm.decoder.modules()}
        longest = int(np.diff(pack.query_starts).max())
        future = torch.ones((longest, longest), dtype=torch.bool, device=lm.device).triu(1)
        spans = []
        for i in range(len(pack.members)):
            start, end = int(pack.query_starts[i]), int(pack.query_starts[i + 1])
            path, fresh = pack.path(i), end - start
            if fresh:
                mask = torch.zeros((fresh, len(path)), dtype=lm.dtype, device=lm.device)
                mask[:, len(path) - fresh :].masked_fill_(future[:fresh, :fresh], float("-inf"))
                mask = mask.repeat(max(groups), 1)
                spans.append(Span(slice(start, end), to_device(lm, path), mask))
        return tuple(spans)


@contextmanager
def _last_block_only_on(rows: Tensor, decoder: nn.Module) -> Iterator[None]:
    """Run the last layer's feed-forward block on these rows alone; zeros elsewhere.

    Nothing reads the other rows, and the block is most of a layer's work.
    """
    layers = getattr(decoder, "layers", None)
    block = getattr(layers[-1], "mlp", None) if layers is not None else None
    if block is None:
        yield
        return
    shape: list[int] = []

    def narrow(module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        shape[:] = inputs[0].shape
        return (inputs[0][:, rows], *inputs[1:])

    def widen(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        return output.new_zeros(shape).index_copy(1, rows, output)

    hooks = [block.register_forward_pre_hook(narrow), block.register_forward_hook(widen)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
