"""What prompts need of a generator: its tokenizer and its window, without its weights.

In: a model name (the bundled default, a local folder or a hub name). Out: a `PromptSide`. Only
configuration and tokenizer files are read; those of the bundled default come inside the file of its
weights and are taken out once, at its very first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from enough.errors import ModelError
from enough.generators.hf_tokenizer import HFTokenizer
from enough.generators.weights import locate_prompt_side
from enough.protocols import Tokenizer
from enough.quiet import quiet_transformers


@dataclass(frozen=True, slots=True)
class PromptSide:
    """The tokenizer of a generator, and how many tokens it can see, prompt and answer together."""

    tokenizer: Tokenizer
    window: int


def load_prompt_side(model: str) -> PromptSide:
    """What prompts for a model need; as `tokenizer_and_window`."""
    return PromptSide(*tokenizer_and_window(model))


def tokenizer_and_window(model: str) -> tuple[HFTokenizer, int]:
    """Read both.

    Raises:
        ModelError: if there is no such model, or its files are damaged.
    """
    from transformers import AutoConfig, AutoTokenizer  # noqa: PLC0415 (heavy)

    place = locate_prompt_side(model)
    if (folder := Path(place).expanduser()).is_dir():
        place = str(folder)
    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(place)
            config = AutoConfig.from_pretrained(place).get_text_config()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"cannot load the tokenizer of {model!r}: {reason}. Give a folder with config.json and "
            "tokenizer.json, or a hub id that this machine can download"
        ) from error
    return HFTokenizer(tokenizer), window_of(config)


def window_of(config: Any) -> int:
    """Tokens a model can see, by its configuration."""
    for name in ("max_position_embeddings", "n_positions", "max_sequence_length"):
        if window := getattr(config, name, None):
            return int(window)
    raise ModelError(f"the configuration of {config.model_type} names no window length")
