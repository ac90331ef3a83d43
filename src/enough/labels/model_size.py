"""How many weights a generator has, from its configuration alone."""

from __future__ import annotations

from enough.errors import ModelError
from enough.generators.config import DEFAULT_GENERATOR

_DEFAULT = 134_515_008.0  # its configuration comes inside the file of its weights


def parameters_of(model: str) -> float:
    """Weights of a model; none of them is loaded.

    Raises:
        ModelError: if its configuration cannot be read.
    """
    if model == DEFAULT_GENERATOR:
        return _DEFAULT
    import torch  # noqa: PLC0415 (heavy)
    from transformers import AutoConfig, AutoModelForCausalLM  # noqa: PLC0415 (heavy)

    try:
        config = AutoConfig.from_pretrained(model)
        with torch.device("meta"):
            shell = AutoModelForCausalLM.from_config(config)
    except (OSError, ValueError, KeyError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"the size of {model!r} is not known ({reason}); give it with --parameters"
        ) from None
    return float(sum(weights.numel() for weights in shell.parameters()))
