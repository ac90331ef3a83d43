"""Attention for packed trees: new tokens see their path, whatever lies between.

In: queries of a pack's new tokens, keys and values of the same tokens, and a `Layout` that says
where each sequence's path lies. Out: what transformers' attention functions return. On CUDA that is
one variable-length flash-attention call per layer, elsewhere one dense call per sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

ATTENTION = "enough_packed"
"""Name of the attention in transformers' registry. Without a layout it is plain SDPA."""


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """The new tokens of one sequence and what they see.

    Attributes:
        queries: their places, a contiguous range of q tokens.
        path: keys of all tokens of the sequence, [k].
        mask: additive causal mask aligned to the end, for every query head of a group, [rows, k].
    """

    queries: slice
    path: Tensor
    mask: Tensor


class PathMemory:
    """Keys and values, per layer, of the path on which one pack ended and the next goes on."""

    def __init__(self) -> None:
        self._layers: dict[int, Tensor] = {}

    def extended(self, layer: int, pairs: Tensor, kept: Tensor) -> Tensor:
        """What is remembered, followed by these pairs [t, 2, h_kv, d]; remembers `kept` of it."""
        if layer in self._layers:
            pairs = torch.cat([self._layers[layer], pairs])
        self._layers[layer] = pairs[kept]
        return pairs


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A pack's attention pattern on the device, shared by all layers.

    Attributes:
        key_index: keys of every path's tokens, joined, [sum of k].
        query_starts: cumulative query lengths, int32, [s + 1].
        key_starts: cumulative key lengths, int32, [s + 1].
        spans: the same for one dense call each; empty where the variable-length kernel runs.
        kept: keys that the next pack goes on from.
        memory: where they are kept.
    """

    key_index: Tensor
    query_starts: Tensor
    key_starts: Tensor
    longest_query: int
    longest_key: int
    spans: tuple[Span, ...]
    kept: Tensor
    memory: PathMemory


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
    # A token's keys and values side by side, [t, 2, h_kv, d]: a path is gathered in one go.
    pairs = torch.stack([key[0].transpose(0, 1), value[0].transpose(0, 1)], dim=1)
    pairs = layout.memory.extended(cast(int, module.layer_idx), pairs, layout.kept)
    if not layout.spans:
        return _attend_varlen(query, pairs, scaling, layout), None
    return _attend_spans(query, pairs, scaling, layout), None


def _attend_varlen(query: Tensor, pairs: Tensor, scaling: float | None, layout: Layout) -> Tensor:
    from torch.nn.attention.varlen import varlen_attn  # noqa: PLC0415 (CUDA only)

    keys, values = pairs.index_select(0, layout.key_index).unbind(1)  # [sum of k, h_kv, d]
    output = varlen_attn(
        query[0].transpose(0, 1),  # [t, h, d]
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


def _attend_spans(query: Tensor, pairs: Tensor, scaling: float | None, layout: Layout) -> Tensor:
    _, heads, tokens, size = query.shape
    output = query.new_empty(tokens, heads, size)
    for span in layout.spans:
        # Query heads that share a key head become further query rows: no key is copied.
        rows = query[:, :, span.queries].reshape(1, pairs.shape[2], len(span.mask), size)
        keys, values = pairs.index_select(0, span.path).permute(1, 2, 0, 3)  # [2, h_kv, k, d]
        attended = scaled_dot_product_attention(
            rows, keys[None], values[None], attn_mask=span.mask, scale=scaling
        )
        output[span.queries] = attended.reshape(heads, -1, size).transpose(0, 1)
    return output[None]


AttentionInterface.register(ATTENTION, attend)
AttentionMaskInterface.register(ATTENTION, sdpa_mask)


def has_varlen_kernel(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether the variable-length flash kernel runs there: on CUDA, in half precision."""
    return device.type == "cuda" and dtype in (torch.bfloat16, torch.float16)
