"""A frozen BERT on a CPU as one graph: from the tokens of texts to their vectors in one call.

In: a `BertModel` of transformers in float32. Out: a vector for every row of token ids, equal to the
module's to within rounding. Python's lock is free for the whole of the call, where a module takes
it back after every operation; weights lie as oneDNN reads them, and queries, keys and values are
one product. Texts that come together share their products and each attends to itself, so there is
no mask and weights are read once for all of them. Company must change no bit: that is tried when
the graph is made, and where it does, each text goes alone.
"""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from enough.retrieval.batching import one_core_threads

Graph = Callable[[list[Tensor]], list[Tensor]]
Pooling = Literal["mean", "cls", "last"]
_USUAL_TOKENS = 32  # what weights are laid out for; others are as right and hardly slower
_STEP = 32  # several texts are filled up to a multiple of it, so that there are few shapes
_TRIED = (2, 9, 27, 40, 64, 130)  # lengths of texts that go together when a graph is tried
# Products whose code is kept by torch's wrapper of oneDNN and by oneDNN itself. Every length of a
# text needs four of its own, about 2.5 MB: with their default of 1,024 each, a process that meets
# all lengths grows by 700 MB. So many serve fifty lengths; making them anew costs 1 or 2 ms.
_KEPT = {"LRU_CACHE_CAPACITY": "128", "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "256"}


def fits(model: Any) -> bool:
    """Whether the graph computes what this model does."""
    config, weight = model.config, next(model.parameters())
    return (
        type(model).__name__ == "BertModel"
        and config.hidden_act == "gelu"
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
        and not (config.is_decoder or config.add_cross_attention)
        and (weight.device.type, weight.dtype) == ("cpu", torch.float32)
    )


def bert_graph(model: Any, pooling: Pooling, *, normalise: bool) -> Graph:
    """From token ids of texts, [length] each, to vectors [dim]; safe for many threads."""
    for name, value in _KEPT.items():
        os.environ.setdefault(name, value)  # read by the first product
    with warnings.catch_warnings():
        # Deprecated in favour of compilers that this machine may not have; nothing else frees
        # Python's lock between operations.
        warnings.simplefilter("ignore", DeprecationWarning)
        graph = torch.jit.script(_Bert(model, pooling, normalise=normalise).eval())
        frozen: Graph = torch.jit.freeze(graph)
    longest = model.config.max_position_embeddings
    tried = [torch.arange(min(length, longest)) % model.config.vocab_size for length in _TRIED]
    found: list[bool] = []
    # On one core, as texts are encoded: several round otherwise.
    (trial,) = one_core_threads(1, lambda: found.append(is_exact_together(frozen, tried)))
    trial.join()
    return frozen if found == [True] else _one_by_one(frozen)


@torch.inference_mode()
def is_exact_together(graph: Graph, rows: list[Tensor]) -> bool:
    """Whether every text has the bits it has alone; a library may sum larger products otherwise."""
    alone = [graph([row])[0] for row in rows]
    for some in (slice(0, 2), slice(2, 5), slice(0, len(rows))):
        if not all(map(torch.equal, graph(rows[some]), alone[some])):
            return False
    return True


def _one_by_one(graph: Graph) -> Graph:
    return lambda rows: [graph([row])[0] for row in rows]


def _has_onednn() -> bool:
    """Elsewhere than on x86 other libraries stand behind its name, with layouts of their own."""
    is_built_in: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return is_built_in and platform.machine() in {"x86_64", "AMD64"}


class _Linear(nn.Module):
    """x Wᵀ + b, perhaps with GELU behind it."""

    __constants__ = ("after", "is_packed")  # so that only the branch that is taken is compiled

    def __init__(self, weight: Tensor, bias: Tensor, after: Literal["none", "gelu"]) -> None:
        super().__init__()
        self.is_packed = _has_onednn()
        self.after = after
        weight = weight.detach().contiguous()
        if self.is_packed:
            weight = torch.ops.mkldnn._reorder_linear_weight(weight, _USUAL_TOKENS)
        self.weight, self.bias = weight, bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        if self.is_packed:
            # The last argument is GELU's own: exact, not the tanh it resembles.
            made: Tensor = torch.ops.mkldnn._linear_pointwise(
                x, self.weight, self.bias, self.after, [], "none"
            )
            return made
        out = functional.linear(x, self.weight, self.bias)
        return functional.gelu(out) if self.after == "gelu" else out


class _Norm(nn.Module):
    def __init__(self, norm: nn.LayerNorm) -> None:
        super().__init__()
        self.weight, self.bias = norm.weight.detach(), norm.bias.detach()
        self.eps = float(norm.eps)

    def forward(self, x: Tensor) -> Tensor:
        return functional.layer_norm(x, [x.shape[-1]], self.weight, self.bias, self.eps)


class _Layer(nn.Module):
    def __init__(self, layer: Any, heads: int) -> None:
        super().__init__()
        self.heads = heads
        own, after = layer.attention.self, layer.attention.output
        parts = (own.query, own.key, own.value)
        self.qkv = _Linear(
            torch.cat([part.weight for part in parts]),
            torch.cat([part.bias for part in parts]),
            "none",
        )
        self.out = _Linear(after.dense.weight, after.dense.bias, "none")
        self.norm = _Norm(after.LayerNorm)
        wide, narrow = layer.intermediate.dense, layer.output.dense
        self.wide = _Linear(wide.weight, wide.bias, "gelu")
        self.narrow = _Linear(narrow.weight, narrow.bias, "none")
        self.last_norm = _Norm(layer.output.LayerNorm)

    def forward(self, x: Tensor, lengths: list[int]) -> Tensor:
        """From [sum of lengths, dim] to the same."""
        dim = x.shape[1]
        seen: list[Tensor] = []
        for own in self.qkv(x).split_with_sizes(lengths):
            qkv = own.view(own.shape[0], 3, self.heads, dim // self.heads)
            query, key, value = qkv.permute(1, 2, 0, 3).unsqueeze(1).unbind(0)  # [1, heads, n, d]
            read = functional.scaled_dot_product_attention(query, key, value)
            seen.append(read[0].transpose(0, 1).reshape(own.shape[0], dim))
        x = self.norm(self.out(torch.cat(seen)) + x)
        made: Tensor = self.last_norm(self.narrow(self.wide(x)) + x)
        return made


class _Bert(nn.Module):
    __constants__ = ("normalise", "pooling", "step")

    def __init__(self, model: Any, pooling: Pooling, *, normalise: bool) -> None:
        super().__init__()
        self.pooling, self.normalise = pooling, normalise
        self.step = min(_STEP, model.config.max_position_embeddings)
        parts = model.embeddings
        self.words = parts.word_embeddings.weight.detach()
        types = parts.token_type_embeddings.weight[0]  # a text alone has one type of token
        self.places = (parts.position_embeddings.weight + types).detach()
        self.norm = _Norm(parts.LayerNorm)
        heads = model.config.num_attention_heads
        self.layers = nn.ModuleList([_Layer(layer, heads) for layer in model.encoder.layer])

    def forward(self, rows: list[Tensor]) -> list[Tensor]:
        ids, lengths = torch.cat(rows), [row.shape[0] for row in rows]
        missing = -ids.shape[0] % self.step
        if len(rows) > 1 and missing > 0:
            ids = functional.pad(ids, [0, missing])
            lengths.append(missing)  # one more text, which nobody asked for
        places = torch.cat([self.places[:length] for length in lengths])
        x = self.norm(functional.embedding(ids, self.words) + places)
        for layer in self.layers:
            x = layer(x, lengths)
        return [self.pooled(text) for text in x.split_with_sizes(lengths)[: len(rows)]]

    def pooled(self, x: Tensor) -> Tensor:
        """[dim] from [length, dim]."""
        if self.pooling == "mean":
            pooled = x.mean(dim=0)
        elif self.pooling == "cls":
            pooled = x[0]
        else:
            pooled = x[-1]
        return functional.normalize(pooled, dim=0) if self.normalise else pooled
