"""Named frozen encoders and how to load them; nothing heavy is imported until one is loaded.

In: a name of the table, a folder or a hub id. Out: an `Encoder`. To add one, add one line to
`ENCODERS`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from enough.config import from_table
from enough.errors import ConfigError, MissingExtraError, UnknownNameError
from enough.precision import Precision
from enough.protocols import Encoder
from enough.run_folders import read_json

log = logging.getLogger(__name__)

DEFAULT_ENCODER = "minilm"
SPEC_FILE = "encoder.json"
"""In a folder of `enough tune-encoder`: how its encoder wants to be read."""


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """How a checkpoint turns a text into a vector, as its authors use it.

    Attributes:
        source: "bundled:<name>", a folder or a hub id.
        pooling: mean of the tokens, the first ("cls") or the last token.
        normalise: scale vectors to length 1, so that the dot product is a cosine.
        query_template: around a query; {text} stands for it.
        document_template: around a document.
        max_length: tokens, special ones included; what is beyond is not seen.
        padding: the side that is filled up in a batch.
    """

    source: str = ""
    pooling: Literal["mean", "cls", "last"] = "mean"
    normalise: bool = True
    query_template: str = "{text}"
    document_template: str = "{text}"
    max_length: int = 512
    padding: Literal["left", "right"] = "right"

    def __post_init__(self) -> None:
        for template in (self.query_template, self.document_template):
            if template.count("{text}") != 1:
                raise ConfigError(f"an encoder's template needs {{text}} once: {template!r}")
        if self.max_length < 3:
            raise ConfigError("an encoder's max_length must leave room for a token: at least 3")


_QWEN_TASK = "Given a web search query, retrieve relevant passages that answer the query"

# MiniLM was trained on 128 tokens and is published with 256. BGE-M3 reads 8192, but half a thousand
# hold every record of LaMP and cost a fraction. Qwen's tokenizer itself appends the end token that
# is pooled.
ENCODERS = {
    "minilm": EncoderSpec("bundled:all-MiniLM-L6-v2", "mean", max_length=256),
    "contriever": EncoderSpec("facebook/contriever", "mean", normalise=False, max_length=512),
    "qwen3-embedding": EncoderSpec(
        "Qwen/Qwen3-Embedding-0.6B",
        "last",
        query_template=f"Instruct: {_QWEN_TASK}\nQuery:{{text}}",
        max_length=8192,
        padding="left",
    ),
    "bge-m3": EncoderSpec("BAAI/bge-m3", "cls", max_length=512),
}


def load_encoder(
    name: str = DEFAULT_ENCODER,
    device: str | None = None,
    *,
    spec: EncoderSpec | None = None,
    precision: Precision = "float32",
) -> Encoder:
    """Load a frozen encoder.

    Args:
        name: of the table `ENCODERS`; or a folder or hub id, read with mean pooling unless `spec`
            or the folder itself says otherwise.
        device: "cpu", "cuda", "cuda:1", ...; None takes a GPU if there is one.
        spec: how to read the checkpoint, in place of the table's line.
        precision: "auto" is bfloat16 where the hardware is made for it, float32 elsewhere. The
            default is the same everywhere: labels from a GPU are trained on and served without one.

    Raises:
        UnknownNameError: if the name is neither in the table nor looks like a folder or hub id.
        MissingExtraError: if torch or transformers is not installed.
        ModelError: if the checkpoint cannot be had.
    """
    known = encoder_spec(name)
    chosen = replace(spec or known, source=known.source)
    try:
        from enough.retrieval.transformer_encoder import TransformerEncoder  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(f"the encoder {name!r}", "hf") from error
    return TransformerEncoder.load(chosen, device, precision)


def located_encoder(name: str | Path | None) -> str | None:
    """The same encoder under the one name that settings keep: None for the default one.

    A folder gets its full path, so that it is found from elsewhere, too, and however it was spelt.
    """
    if name is None or name == DEFAULT_ENCODER:
        return None
    if not isinstance(name, str | Path):  # types are not checked for everybody
        raise ConfigError(f"encoder must be a name or a folder, not {name!r}")
    name = str(name)
    folder = Path(name).expanduser()
    return name if name in ENCODERS or not folder.is_dir() else str(folder.resolve())


def encoder_spec(name: str) -> EncoderSpec:
    """How the encoder of that name is read, and where it lies.

    Raises:
        UnknownNameError: if the name is neither in the table nor looks like a folder or hub id.
    """
    if (known := ENCODERS.get(name)) is not None:
        if (Path(name) / "config.json").is_file():
            log.warning("taking the encoder %s, not the folder: give its full path", name)
        return known
    folder = Path(name).expanduser()
    if "/" not in name and not folder.is_dir():
        raise UnknownNameError("encoder (and no such folder)", name, ENCODERS)
    file = folder / SPEC_FILE
    own = from_table(read_json(file), EncoderSpec, str(file)) if file.is_file() else EncoderSpec()
    return replace(own, source=name)
