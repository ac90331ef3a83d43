"""Packed-tree scoring for full-attention models: each distinct token is computed once.

In: sequences that share prefixes. Out: the same values as the naive scorer. All distinct tokens of
a pack go through the linear layers as one long row without padding; in attention, the new tokens of
a sequence see their whole path. On CUDA that is one variable-length flash-attention call per layer,
elsewhere one dense call per sequence. The attention enters the model through transformers' own
registry, so any architecture that uses it works unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from enough.generators.causal_lm import CausalLM
from enough.generators.scoring import Results, mean_log_likelihoods, to_device
from enough.generators.token_trie import Pack, packs
from enough.protocols import OnBatch, ScoredSequence

ATTENTION = "enough_packed"
"""Name of the attention in transformers' registry. Without a layout it is plain SDPA."""


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """The new tokens of one sequence and what they see.

    Attributes:
        queries: their places, a contiguous range of q tokens.
        path: places of all tokens of the sequence, [k].
        mask: additive causal mask aligned to the end, for every query head of a group, [rows, k].
    """

    queries: slice
    path: Tensor
    mask: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A pack's attention pattern on the device, shared by all layers.

    Attributes:
        key_index: places of every path's tokens, joined, [sum of k].
        query_starts: cumulative query lengths, int32, [s + 1].
        key_starts: cumulative key lengths, int32, [s + 1].
        spans: the same for one dense call each, where there is no variable-length kernel.
    """

    key_index: Tensor
    query_starts: Tensor
    key_starts: Tensor
    longest_query: int
    longest_key: int
    spans: tuple[Span, ...]


def attend(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    layout: Layout | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention over query [1, h, t, d] and key, value [1, h_kv, t, d] in transformers' convention.

    Returns:
        [1, t, h, d], and no weights.
    """
    if layout is None:
        plain: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **kwargs
        )
        return plain
    if query.is_cuda:
        return _attend_varlen(query, key, value, scaling, layout), None
    return _attend_spans(query, key, value, scaling, layout), None


def _attend_varlen(
    query: Tensor, key: Tensor, value: Tensor, scaling: float | None, layout: Layout
) -> Tensor:
    from torch.nn.attention.varlen import varlen_attn  # noqa: PLC0415 (CUDA only)

    heads = query[0].transpose(0, 1)  # [t, h, d]
    keys = key[0].transpose(0, 1)[layout.key_index]  # [sum of k, h_kv, d]
    values = value[0].transpose(0, 1)[layout.key_index]
    output = varlen_attn(
        heads,
        keys,
        values,
        layout.query_starts,
        layout.key_starts,
        layout.longest_query,
        layout.longest_key,
        scale=scaling,
        window_size=(-1, 0),  # causal, aligned to the end of the keys
        **_grouped_heads(varlen_attn),
    )
    assert isinstance(output, Tensor)
    return output[None]


@cache
def _grouped_heads(kernel: Callable[..., Any]) -> dict[str, Any]:
    """Torch before 2.12 shares key heads without being asked; later it wants to be asked."""
    return {"enable_gqa": True} if "enable_gqa" in signature(kernel).parameters else {}


def _attend_spans(
    query: Tensor, key: Tensor, value: Tensor, scaling: float | None, layout: Layout
) -> Tensor:
    keys = key[0].transpose(0, 1).contiguous()  # [t, h_kv, d]: a token's keys lie together
    values = value[0].transpose(0, 1).contiguous()
    output = torch.empty_like(query[0])  # [h, t, d]
    for span in layout.spans:
        # Query heads that share a key head become further query rows: no key is copied.
        rows = query[0, :, span.queries].reshape(key.shape[1], len(span.mask), -1)
        attended = scaled_dot_product_attention(
            rows[None],
            keys[span.path].transpose(0, 1)[None],
            values[span.path].transpose(0, 1)[None],
            attn_mask=span.mask,
            scale=scaling,
        )
        output[:, span.queries] = attended[0].reshape(query.shape[1], -1, query.shape[3])
    return output.transpose(0, 1)[None]


AttentionInterface.register(ATTENTION, attend)
AttentionMaskInterface.register(ATTENTION, sdpa_mask)


class PackedScorer:
    """Packs of at most `max_tokens` distinct tokens; memory grows with it, overlap lost shrinks."""

    def __init__(self, lm: CausalLM, max_tokens: int = 16_384) -> None:
        self._lm = lm
        self._max_tokens = max_tokens
        lm.model.set_attn_implementation(ATTENTION)

    @torch.inference_mode()
    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """One value per sequence."""
        results = Results(len(sequences), on_batch)
        for pack in packs(sequences, self._max_tokens):
            results.add(pack.members, self._pack(pack, [sequences[i] for i in pack.members]))
        return results.scores

    def _pack(self, pack: Pack, members: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        lm = self._lm
        hidden = lm.hidden(  # [1, t, d]
            to_device(lm, pack.tokens)[None],
            position_ids=to_device(lm, pack.positions)[None],
            # A prepared mask is passed on as it is, so none of t x t is built; `attend` ignores it.
            attention_mask=torch.ones((1, 1, 1, 1), dtype=torch.bool, device=lm.device),
            use_cache=False,
            layout=self._layout(pack),
        )
        places = np.concatenate(
            [pack.path(i)[-s.reference_length :] for i, s in enumerate(members)]
        )
        return mean_log_likelihoods(lm, hidden[0, to_device(lm, places)], members)

    def _layout(self, pack: Pack) -> Layout:
        lm = self._lm
        return Layout(
            key_index=to_device(lm, pack.key_index),
            query_starts=to_device(lm, pack.query_starts).int(),
            key_starts=to_device(lm, pack.key_starts).int(),
            longest_query=int(np.diff(pack.query_starts).max()),
            longest_key=int(np.diff(pack.key_starts).max()),
            spans=() if lm.device.type == "cuda" else self._spans(pack),
        )

    def _spans(self, pack: Pack) -> tuple[Span, ...]:
        lm = self._lm
        groups = lm.config.num_attention_heads // lm.config.num_key_value_heads
        longest = int(np.diff(pack.key_starts).max())
        future = torch.ones((longest, longest), dtype=torch.bool, device=lm.device).triu(1)
        causal = torch.zeros((longest, longest), dtype=lm.dtype, device=lm.device)
        causal.masked_fill_(future, float("-inf"))
        spans = []
        for i in range(len(pack.members)):
            start, end = int(pack.query_starts[i]), int(pack.query_starts[i + 1])
            path = pack.path(i)
            if end > start:
                mask = causal[len(path) - (end - start) : len(path), : len(path)]
                spans.append(Span(slice(start, end), to_device(lm, path), mask.repeat(groups, 1)))
        return tuple(spans)
