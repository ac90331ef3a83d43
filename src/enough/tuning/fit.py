"""The fitting itself: AdamW over the adapter's weights, one step after the other.

In: a generator with LoRA layers in it, samples, settings, and where to keep the state. Out: the
loss of every step; the weights are changed in place. A run that goes on from a saved state ends
with the same bits on the same machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils import deterministic

from enough.generators.causal_lm import CausalLM
from enough.generators.compiled_layers import CompiledLayers, layers_of
from enough.progress import OnStep, silent
from enough.protocols import ScoredSequence
from enough.tuning.config import TuneConfig
from enough.tuning.lora import Lora
from enough.tuning.loss import summed_loss
from enough.tuning.samples import Samples
from enough.tuning.schedule import Schedule, passes
from enough.tuning.state_files import UnfinishedRun
from enough.tuning.stepping import StepLosses, made_ahead

_SHOWN = 20  # steps whose mean loss is shown
_ADVICE = 'lower learning_rate, or set generator.dtype = "float32"'


def fit(
    lm: CausalLM,
    lora: Lora,
    samples: Samples,
    config: TuneConfig,
    state: UnfinishedRun,
    *,
    on_step: OnStep = silent,
) -> NDArray[np.float32]:
    """Make all steps, or those that are left; returns the mean loss of each, [steps]."""
    stepper = _Stepper(lm, lora, samples, config)
    steps = stepper.schedule.steps
    losses = StepLosses(steps, lm.device, _ADVICE)
    first = 0
    if (done := state.restore(lora.weights, stepper.optimiser)) is not None:
        losses.restore(done)
        first = len(done)
    left = range(first, steps)
    lora.dropping_out(True)
    with reproducible(lm.device), _fast(lm, lora, config):
        for step, sequences in zip(left, made_ahead(stepper.sequences, left), strict=True):
            losses.add(stepper.step(step, sequences))
            so_far = step + 1
            if so_far % config.save_every == 0 or so_far == steps:
                state.save(lora.weights, stepper.optimiser, losses.so_far())
            on_step("tuning", so_far, steps, losses.recent(_SHOWN))
    lora.dropping_out(False)
    found: NDArray[np.float32] = losses.so_far().numpy()
    return found


class _Stepper:
    """One step of the optimiser at a time."""

    def __init__(self, lm: CausalLM, lora: Lora, samples: Samples, config: TuneConfig) -> None:
        self._lm = lm
        self._samples = samples
        self._weights = list(lora.weights.values())
        self._clip = config.clip
        self._pass_tokens = config.pass_tokens or _pass_tokens(lm.device)
        self.schedule = Schedule.of(len(samples), config)
        self.optimiser = torch.optim.AdamW(self._weights, lr=config.learning_rate, weight_decay=0.0)

    def sequences(self, number: int) -> list[ScoredSequence]:
        """What a step learns from."""
        epoch, members = self.schedule.members(number)
        return [self._samples.sequence(int(place), epoch) for place in members]

    def step(self, number: int, sequences: Sequence[ScoredSequence]) -> Tensor:
        """Accumulate the gradient over the passes of a step, then move; the mean loss, []."""
        torch.manual_seed(self.schedule.torch_seed(number))
        self.optimiser.zero_grad(set_to_none=True)
        loss = torch.zeros((), device=self._lm.device)
        for batch in passes(sequences, self._pass_tokens):
            with half_precision(self._lm):
                part = summed_loss(self._lm, batch) / len(sequences)
            part.backward()  # type: ignore[no-untyped-call]
            loss += part.detach()
        torch.nn.utils.clip_grad_norm_(self._weights, self._clip)
        for group in self.optimiser.param_groups:
            group["lr"] = self.schedule.rate(number)
        self.optimiser.step()
        return loss


@contextmanager
def _fast(lm: CausalLM, lora: Lora, config: TuneConfig) -> Iterator[None]:
    with ExitStack() as ways:
        if _is_half(lm):
            ways.enter_context(lora.uncopied())
        if config.generator.compile:
            ways.enter_context(CompiledLayers(layers_of(lm.decoder)).in_place())
        yield


def half_precision(lm: CausalLM) -> AbstractContextManager[None]:
    """bfloat16 products on a GPU whose model is in bfloat16; nothing elsewhere."""
    return torch.autocast(lm.device.type, torch.bfloat16, enabled=_is_half(lm))


def _is_half(lm: CausalLM) -> bool:
    return lm.device.type == "cuda" and lm.dtype == torch.bfloat16


def keep_sums_in_order() -> None:
    """Before cuBLAS is first used, which reads it then; without it its sums may be in any order."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


@contextmanager
def reproducible(device: torch.device) -> Iterator[None]:
    """Random numbers of our own, and sums in an order that does not change from run to run."""
    before = torch.are_deterministic_algorithms_enabled()
    only_warns = torch.is_deterministic_algorithms_warn_only_enabled()
    filling = deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        try:
            torch.use_deterministic_algorithms(True, warn_only=True)
            deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
            yield
        finally:
            torch.use_deterministic_algorithms(before, warn_only=only_warns)
            deterministic.fill_uninitialized_memory = filling  # type: ignore[attr-defined]


def _pass_tokens(device: torch.device) -> int:
    """With SmolLM2's activations: about 20 GB on a GPU, 4 GB on a CPU."""
    return 16_384 if device.type == "cuda" else 1024
