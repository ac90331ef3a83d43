"""A transformers causal LM seen as two functions: hidden states of tokens, log-probs of targets.

In: token ids. Out: hidden states [b, n, d]; then, only for the rows that predict a reference token,
the log-probability of that token. The full logits of a prompt are never made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from enough.errors import ModelError

_LOGIT_BYTES = 512 * 2**20  # memory for one slice of float32 logits


class CausalLM:
    """A frozen decoder and its output layer."""

    def __init__(self, model: Any) -> None:
        self.model = model.eval().requires_grad_(False)
        self.config = model.config.get_text_config()
        self.decoder = model.get_decoder()
        self.output_layer = model.get_output_embeddings()
        self.softcap: float | None = getattr(self.config, "final_logit_softcapping", None)
        # Granite divides its logits by a constant, Cohere multiplies them by one.
        divisor = getattr(self.config, "logits_scaling", None) or 1.0
        self.factor: float = (getattr(self.config, "logit_scale", None) or 1.0) / divisor
        self.device: torch.device = next(model.parameters()).device
        self.dtype: torch.dtype = next(model.parameters()).dtype
        self.forward_passes = 0
        self._check_split()

    def hidden(self, input_ids: Tensor, **inputs: Any) -> Tensor:
        """Last hidden states [b, n, d] of input_ids [b, n]."""
        self.forward_passes += 1
        output: Tensor = self.decoder(input_ids=input_ids, **inputs).last_hidden_state
        return output

    def log_probs(self, rows: Tensor, targets: Tensor) -> NDArray[np.float64]:
        """Each log p(target | row) for rows [n, d] and targets [n], in float64 on the CPU, [n]."""
        slice_size = max(1, _LOGIT_BYTES // (4 * self.config.vocab_size))
        parts = []
        for start in range(0, len(rows), slice_size):
            logits = self.logits(rows[start : start + slice_size])
            wanted = logits.gather(1, targets[start : start + slice_size, None]).squeeze(1)
            parts.append((wanted - logits.logsumexp(1)).double())
        joined: NDArray[np.float64] = torch.cat(parts).cpu().numpy()
        return joined

    def logits(self, rows: Tensor) -> Tensor:
        """Rows [n, d] to [n, vocabulary], in float32, scaled and capped as the model has it."""
        logits: Tensor = self.output_layer(rows).float() * self.factor
        if self.softcap:
            logits = torch.tanh(logits / self.softcap) * self.softcap
        return logits

    def _check_split(self) -> None:
        """Refuse a model that does more to output_layer(decoder(x)) than scale and cap it."""
        ids = torch.arange(1, 9, device=self.device)[None] % self.config.vocab_size
        with torch.inference_mode():
            whole = self.model(input_ids=ids, use_cache=False).logits[0].float()
            split = self.logits(self.hidden(ids, use_cache=False)[0])
        self.forward_passes = 0
        scale = whole.abs().max().clamp(min=1.0)
        if not torch.allclose(whole / scale, split / scale, atol=1e-2):
            raise ModelError(
                f"{type(self.model).__name__} changes its logits after the output layer in a way "
                "this version does not know; its likelihoods would be wrong"
            )
