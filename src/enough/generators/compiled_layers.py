"""A decoder's layers compiled: norms, rotations and gates in few kernels.

In: a decoder of transformers. Out: a context in which its layers run compiled. For packed scoring
attention stays as it is, so all lengths share the same few graphs and nothing is compiled again for
another pack; the last layer stays as it is, too, because packed scoring narrows it to some rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from enough.errors import ModelError
from enough.generators.packed_attention import attend

COMPILED_ATTENTION = "enough_packed_compiled"
"""`packed_attention.attend`, which the compiler leaves alone."""


class CompiledLayers:
    """Compiled forwards of some layers; compiling happens when one first runs."""

    def __init__(self, layers: Sequence[Any]) -> None:
        self._forwards = [(layer, torch.compile(layer.forward, dynamic=True)) for layer in layers]

    @classmethod
    def for_packs(cls, decoder: nn.Module) -> CompiledLayers:
        """Of all layers but the last, for `COMPILED_ATTENTION`."""
        if COMPILED_ATTENTION not in AttentionInterface().valid_keys():
            # Asking for this imports the compiler: seconds, so only where it is wanted.
            left_alone = torch.compiler.disable(attend)  # type: ignore[no-untyped-call]
            AttentionInterface.register(COMPILED_ATTENTION, left_alone)
            AttentionMaskInterface.register(COMPILED_ATTENTION, sdpa_mask)
        return cls(layers_of(decoder)[:-1])

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Inside, the layers run compiled. Elsewhere, as in decoding, they do not."""
        for layer, forward in self._forwards:
            layer.forward = forward
        try:
            yield
        finally:
            for layer, _ in self._forwards:
                del layer.forward  # the class's own is back


def layers_of(decoder: nn.Module) -> list[Any]:
    """The decoder's layers in their order."""
    layers: Any = getattr(decoder, "layers", None)
    if layers is None:
        raise ModelError(f"{type(decoder).__name__} has no list of layers to compile")
    return list(layers)
