"""Scoring with forked caches, for models whose layers carry a state (Qwen3.5 and its kin).

In: sequences that share prefixes. Out: the same values as the naive scorer. A recurrent state
cannot be masked into a packed tree, so the token trie is walked depth first: the cache is forked
wherever later sequences branch off, shared stretches run once, and what remains of each sequence
(mostly the request and the reference) runs in batches of many forks. Shared stretches shorter than
`min_shared` are not worth a forward pass of their own and are computed again.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import pad
from transformers import DynamicCache

from enough.generators.causal_lm import CausalLM
from enough.generators.scoring import Results, mean_log_likelihoods, to_device
from enough.generators.token_trie import Index, input_tokens, sorted_with_overlaps
from enough.protocols import OnBatch, ScoredSequence


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """The model's memory after `depth` tokens of the current path; none at depth 0."""

    depth: int
    cache: Any


@dataclass(frozen=True, slots=True, eq=False)
class _Leaf:
    """A sequence whose remaining tokens are still to be run from a state."""

    member: int
    state: _State


class ForkedScorer:
    """Depth-first walk with forked caches."""

    def __init__(self, lm: CausalLM, max_tokens: int, min_shared: int = 16) -> None:
        self._lm = lm
        self._max_tokens = max_tokens
        self._min_shared = min_shared

    @torch.inference_mode()
    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """One value per sequence."""
        results = Results(len(sequences), on_batch)
        order, overlap = sorted_with_overlaps(sequences)
        stack = [_State(0, None)]
        waiting: list[_Leaf] = []
        for place, member in enumerate(order.tolist()):
            while stack[-1].depth > overlap[place]:
                stack.pop()
            self._deepen(stack, sequences[member], _branches(overlap, place, stack[-1].depth))
            waiting.append(_Leaf(member, _start(stack, sequences[member])))
            if self._is_full(waiting, sequences):
                self._run_all(waiting, sequences, results)
                waiting = []
        self._run_all(waiting, sequences, results)
        return results.scores

    def _deepen(self, stack: list[_State], sequence: ScoredSequence, depths: list[int]) -> None:
        """Push a state for every depth at which a later sequence leaves this one."""
        for depth in depths:
            top = stack[-1]
            if depth - top.depth < self._min_shared:
                continue
            tokens = to_device(self._lm, sequence.tokens[top.depth : depth])[None]
            cache = copy.deepcopy(top.cache) or DynamicCache(config=self._lm.config)
            self._lm.hidden(tokens, past_key_values=cache, use_cache=True)
            stack.append(_State(depth, cache))

    def _is_full(self, waiting: list[_Leaf], sequences: Sequence[ScoredSequence]) -> bool:
        widest = max(len(sequences[leaf.member].tokens) for leaf in waiting)
        return len(waiting) * widest >= self._max_tokens

    def _run_all(
        self, leaves: list[_Leaf], sequences: Sequence[ScoredSequence], results: Results
    ) -> None:
        for forked in (False, True):  # a sequence that shares nothing has no cache to join
            if group := [leaf for leaf in leaves if (leaf.state.depth > 0) == forked]:
                self._run(group, sequences, results)

    def _run(
        self, leaves: list[_Leaf], sequences: Sequence[ScoredSequence], results: Results
    ) -> None:
        """Run the rest of every waiting sequence as one batch."""
        rests = [input_tokens(sequences[x.member])[x.state.depth :] for x in leaves]
        widest = max(map(len, rests))
        padded = np.zeros((len(leaves), widest), np.int64)  # right padding: never looked at
        for row, rest in zip(padded, rests, strict=True):
            row[: len(rest)] = rest
        depths = np.array([leaf.state.depth for leaf in leaves])
        hidden = self._lm.hidden(  # [b, widest, d]
            to_device(self._lm, padded),
            position_ids=to_device(self._lm, depths[:, None] + np.arange(widest)),
            use_cache=True,
            **self._joined([leaf.state for leaf in leaves], widest),
        )
        members = [sequences[leaf.member] for leaf in leaves]
        rows = [
            hidden[i, len(rest) - s.reference_length : len(rest)]
            for i, (rest, s) in enumerate(zip(rests, members, strict=True))
        ]
        scores = mean_log_likelihoods(self._lm, torch.cat(rows), members)
        results.add(np.array([leaf.member for leaf in leaves]), scores)

    def _joined(self, states: Sequence[_State], widest: int) -> dict[str, Any]:
        """One cache for many states of different depths: keys padded on the left and masked."""
        if states[0].cache is None:
            return {"past_key_values": DynamicCache(config=self._lm.config)}
        longest = max(state.depth for state in states)
        joined = DynamicCache(config=self._lm.config)
        for layer in range(len(states[0].cache.layers)):
            _join_layer(joined, layer, [state.cache for state in states], longest)
        mask = torch.ones((len(states), longest + widest), dtype=torch.int64)
        for row, state in zip(mask, states, strict=True):
            row[: longest - state.depth] = 0
        return {"past_key_values": joined, "attention_mask": mask.to(self._lm.device)}


def _start(stack: Sequence[_State], sequence: ScoredSequence) -> _State:
    """The deepest state from which all rows that predict the reference are still to come."""
    limit = len(sequence.tokens) - sequence.reference_length - 1
    return next(state for state in reversed(stack) if state.depth <= limit)


def _branches(overlap: Index, place: int, depth: int) -> list[int]:
    """Depths below `depth` at which sequences after `place` leave its path, shallow first."""
    found: list[int] = []
    nearest = np.iinfo(np.int64).max
    for shared in overlap[place + 1 :].tolist():
        if shared <= depth:
            break
        if shared < nearest:
            nearest = shared
            found.append(shared)
    return found[::-1]


def _join_layer(joined: Any, layer: int, caches: Sequence[Any], longest: int) -> None:
    parts = [cache.layers[layer] for cache in caches]
    if getattr(parts[0], "keys", None) is not None:
        keys, values = (
            torch.cat([pad(x, (0, 0, longest - x.shape[2], 0)) for x in tensors])
            for tensors in ([p.keys for p in parts], [p.values for p in parts])
        )
        joined.update(keys, values, layer)
    else:
        joined.update_conv_state(torch.cat([c.get_conv_state(layer) for c in caches]), layer)
        joined.update_recurrent_state(
            torch.cat([c.get_recurrent_state(layer) for c in caches]), layer
        )
