"""Which scorer a model gets: the fastest one that is exact for it, judged on a small tree.

In: a model, perhaps a wish. Out: a scorer that agreed with padded batches.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from enough.errors import ModelError
from enough.generators.causal_lm import CausalLM
from enough.generators.compiled_layers import CompiledLayers
from enough.generators.config import ScorerName
from enough.generators.forked import ForkedScorer
from enough.generators.naive import NaiveScorer
from enough.generators.packed import PackedScorer
from enough.generators.prompt_side import window_of
from enough.generators.scoring import Scorer
from enough.protocols import ScoredSequence, Tokens

log = logging.getLogger(__name__)

SCORERS: dict[str, Callable[[CausalLM, int], Scorer]] = {
    "naive": NaiveScorer,
    "packed": PackedScorer,
    "forked": ForkedScorer,
}
_RECURRENT = {"linear_attention", "mamba", "conv", "hybrid"}


def build_scorer(lm: CausalLM, name: ScorerName = "auto") -> Scorer:
    """The scorer of that name, or the fastest one that is exact for the model.

    Raises:
        ModelError: if the scorer asked for is not exact for this model.
    """
    chosen = exact_scorer(lm.config) if name == "auto" else name
    if chosen == "naive":
        return NaiveScorer(lm, batch_tokens(lm))
    attention = lm.model.config._attn_implementation
    problem = disagreement(lm, SCORERS[chosen])
    if problem is None:
        return SCORERS[chosen](lm, batch_tokens(lm))
    if name != "auto":
        raise ModelError(f"the scorer {name!r} is not exact for {lm.config.model_type}: {problem}")
    log.warning("scoring %s in padded batches (%s: %s)", lm.config.model_type, chosen, problem)
    lm.model.set_attn_implementation(attention)
    return NaiveScorer(lm, batch_tokens(lm))


def compiled_scorer(lm: CausalLM, scorer: Scorer) -> Scorer:
    """The packed scorer with compiled layers, tried once.

    Raises:
        ModelError: if the model is not scored in packs, or this machine cannot compile it.
    """
    if not isinstance(scorer, PackedScorer):
        raise ModelError(
            f"compile = true needs the packed scorer, and {lm.config.model_type} is scored by "
            f"{type(scorer).__name__}; leave it out"
        )
    layers = CompiledLayers.for_packs(lm.decoder)
    if problem := disagreement(lm, lambda lm, tokens: PackedScorer(lm, tokens, layers)):
        raise ModelError(f"compile = true does not work here ({problem}); leave it out")
    return PackedScorer(lm, batch_tokens(lm), layers)


def disagreement(lm: CausalLM, build: Callable[[CausalLM, int], Scorer]) -> str | None:
    """What is wrong with a scorer for this model, judged on a small tree; None if nothing is.

    Architectures differ in more ways than their configurations tell, and a likelihood that is
    silently wrong is worse than a slow one.
    """
    ids = np.arange(1, 200, dtype=np.int32) * 7 % (lm.config.vocab_size - 1) + 1
    head, first, second, tail = ids[:40], ids[60:90], ids[90:130], ids[150:170]
    profiles: tuple[list[Tokens], ...] = ([], [first], [first, second], [second], [second, first])
    sequences = [ScoredSequence(np.concatenate([head, *p, tail]), 5) for p in profiles]
    expected = NaiveScorer(lm, 4096).score(sequences)
    try:
        found = build(lm, 64).score(sequences)
    except Exception as error:  # noqa: BLE001 (whatever an architecture does not support)
        return f"{type(error).__name__}: {error}"
    finally:
        lm.forward_passes = 0
    tolerance = 1e-3 if lm.dtype == torch.float32 else 0.3
    worst = float(np.abs(found - expected).max())
    return None if worst <= tolerance else f"off by {worst:.3g}"


def batch_tokens(lm: CausalLM) -> int:
    """Tokens to compute together: what fits a CPU's caches, what keeps a GPU busy (measured)."""
    return 65_536 if lm.device.type == "cuda" else 2048


def exact_scorer(config: Any) -> ScorerName:
    """Packed for full attention, forked for recurrent layers, naive for anything else."""
    layers = set(getattr(config, "layer_types", None) or ["full_attention"])
    if getattr(config, "attn_logit_softcapping", None) or "sliding_attention" in layers:
        return "naive"
    if layers == {"full_attention"}:
        window = getattr(config, "sliding_window", None)
        return "naive" if window and window < window_of(config) else "packed"
    return "forked" if layers <= _RECURRENT | {"full_attention"} else "naive"
