"""What the tokens of a suffix attend to in a prefix, summed over all heads and layers.

In: a prefix and several suffixes. Out: for each suffix the mean over its tokens of the attention
paid to every token of the prefix. The prefix runs once, in the model's fast attention; only the
suffixes run in eager attention, a few tokens at a time, so no map of prefix × prefix is ever made.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import DynamicCache

from enough.errors import ModelError
from enough.generators.causal_lm import CausalLM
from enough.generators.scoring import to_device
from enough.protocols import Tokens

_MAP_BYTES = 512 * 2**20  # memory for the maps of all layers that are held at once


class AttentionReader:
    """Reads the attention of one model.

    Raises:
        ModelError: if not every layer of the model has an attention map.
    """

    def __init__(self, lm: CausalLM) -> None:
        self._lm = lm
        token = torch.ones((1, 1), dtype=torch.int64, device=lm.device)
        with torch.inference_mode(), _eager(lm):
            maps = _maps(lm, token, use_cache=False)
        if len(maps) != lm.config.num_hidden_layers:
            raise ModelError(
                f"{lm.config.model_type} has {lm.config.num_hidden_layers} layers, of which "
                f"{len(maps)} have an attention map; name another model as the reranker, one with "
                "full attention in every layer"
            )
        self._heads = sum(attention.shape[1] for attention in maps)

    @torch.inference_mode()
    def read(self, prefix: Tokens, suffixes: Sequence[Tokens]) -> list[NDArray[np.float64]]:
        """One [len(prefix)] for every suffix."""
        lm = self._lm
        cache = DynamicCache(config=lm.config)
        lm.hidden(to_device(lm, prefix)[None], past_key_values=cache, use_cache=True)
        with _eager(lm):
            # Every suffix writes into the cache it is given, so each gets its own.
            return [self._suffix(copy.deepcopy(cache), len(prefix), suffix) for suffix in suffixes]

    def _suffix(self, cache: Any, prefix: int, suffix: Tokens) -> NDArray[np.float64]:
        total = torch.zeros(prefix, dtype=torch.float64, device=self._lm.device)
        step = max(1, _MAP_BYTES // (4 * self._heads * (prefix + len(suffix))))
        for start in range(0, len(suffix), step):
            tokens = to_device(self._lm, suffix[start : start + step])[None]
            end = prefix + start + tokens.shape[1]
            for attention in _maps(self._lm, tokens, past_key_values=cache, use_cache=True):
                # Layers with a sliding window keep the last keys only: columns end at `end`.
                first = end - attention.shape[-1]
                seen = attention[0, ..., : max(0, prefix - first)]
                total[first:] += seen.sum(dim=(0, 1), dtype=torch.float64)
        mean: NDArray[np.float64] = (total / len(suffix)).cpu().numpy()
        return mean


def _maps(lm: CausalLM, tokens: Tensor, **inputs: Any) -> list[Tensor]:
    """The attention [1, heads, tokens, keys] of every layer that has one."""
    lm.forward_passes += 1
    output = lm.decoder(input_ids=tokens, output_attentions=True, **inputs)
    return [attention for attention in output.get("attentions") or () if attention is not None]


@contextmanager
def _eager(lm: CausalLM) -> Iterator[None]:
    """The one implementation that gives its weights away; the model's own comes back after."""
    usual = lm.model.config._attn_implementation
    lm.model.set_attn_implementation("eager")
    try:
        yield
    finally:
        lm.model.set_attn_implementation(usual)
