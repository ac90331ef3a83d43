"""LoRA layers inside a frozen model.

In: a model and the adapter's shape. Out: the same model with small trainable updates beside its
linear layers; they start at zero, so nothing changes until a step is made, or with the weights
of an adapter that was made before.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Any

import torch
from torch import nn

from enough.errors import ConfigError, MissingExtraError
from enough.generators.causal_lm import CausalLM
from enough.tuning.config import LoraSettings


class Lora:
    """The adapter of a model that is being tuned.

    Attributes:
        weights: name -> trainable parameter, float32; all others are frozen.
        modules: names of the layers that have an update.
        settings: its shape.
    """

    def __init__(self, lm: CausalLM, settings: LoraSettings, seed: int) -> None:
        self.settings = settings
        self._output = lm.output_layer
        with torch.random.fork_rng(devices=[]):  # layers are made on the CPU, then moved
            torch.manual_seed(seed)
            self._model = _with_lora(lm.model, settings)
        adapted = [
            name.rsplit(".", 1)[-1]
            for name, module in self._model.named_modules()
            if hasattr(module, "lora_A")
        ]
        self.modules = tuple(sorted(set(adapted)))
        self.weights: dict[str, nn.Parameter] = {
            name: weight for name, weight in self._model.named_parameters() if weight.requires_grad
        }
        self._check(lm)
        self.dropping_out(False)

    def begin_with(self, tensors: dict[str, torch.Tensor]) -> None:
        """Take over updates as peft saves them; see `adapter_files.read_start`."""
        from peft import set_peft_model_state_dict  # noqa: PLC0415 (an extra)

        if len(tensors) != len(self.weights):
            raise ConfigError(
                f"start: it has {len(tensors)} weights, updates of this model {len(self.weights)}"
            )
        try:
            result: Any = set_peft_model_state_dict(self._model, tensors)
        except RuntimeError as error:  # of other shapes
            raise ConfigError(f"start: it does not fit the model ({error})") from None
        if result.unexpected_keys:
            name = result.unexpected_keys[0]
            raise ConfigError(f"start: the model has no place for its weight {name!r}")

    def uncopied(self) -> AbstractContextManager[None]:
        """Inside, updates take their inputs as they come.

        peft makes float32 of them first. Under autocast that is rounded off again at once: time
        spent for nothing.
        """
        from peft.helpers import disable_input_dtype_casting  # noqa: PLC0415 (an extra)

        found: AbstractContextManager[None] = disable_input_dtype_casting(self._model)
        return found

    def dropping_out(self, active: bool) -> None:
        """Dropout of the updates on or off; the frozen model itself never drops anything."""
        self._model.eval()
        for name, module in self._model.named_modules():
            if name.endswith("lora_dropout"):
                module.train(active)

    @torch.no_grad()
    def round_off(self) -> None:
        """To what fits into bfloat16: what is measured afterwards is what is saved."""
        for weight in self.weights.values():
            weight.copy_(weight.bfloat16())

    def tensors(self) -> dict[str, torch.Tensor]:
        """The updates as peft saves them, bfloat16, on the CPU."""
        from peft import get_peft_model_state_dict  # noqa: PLC0415 (an extra)

        found = get_peft_model_state_dict(self._model, save_embedding_layers=False)
        return {name: found[name].detach().bfloat16().cpu().contiguous() for name in sorted(found)}

    def _check(self, lm: CausalLM) -> None:
        wanted = {name.rsplit(".", 1)[-1] for name in self.settings.modules}
        if unknown := sorted(wanted - set(self.modules)):
            raise ConfigError(
                f"lora.modules: the model has no layer {unknown[0]!r} that can be tuned"
            )
        if lm.model.get_output_embeddings() is not self._output:
            raise ConfigError("lora.modules must not name the output layer")


def require_peft() -> None:
    """Say at once if the extra is missing, not when its turn comes."""
    if find_spec("peft") is None:
        raise MissingExtraError("tuning", "lora")


def _with_lora(model: Any, settings: LoraSettings) -> Any:
    from peft import LoraConfig, get_peft_model  # noqa: PLC0415 (an extra)

    shape = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=list(settings.modules) or "all-linear",  # peft leaves the output layer out
        task_type="CAUSAL_LM",
    )
    try:
        return get_peft_model(model, shape)
    except ValueError as error:
        raise ConfigError(f"lora.modules: {error}") from None
