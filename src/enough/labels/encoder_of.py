"""The encoder that labels were made with.

In: a folder of labels. Out: the encoder its settings name, loaded. Whether it still is the same one
is checked by its fingerprint when labels are read.
"""

from __future__ import annotations

from enough.errors import EnoughError, ModelError
from enough.labels.config import LabelConfig
from enough.labels.folder import LabelFolder
from enough.retrieval.embedding_cache import CachedEncoder
from enough.retrieval.pools import cached_encoder


def encoder_of(folder: LabelFolder, elsewhere: str | None = None) -> CachedEncoder:
    """Load it.

    Args:
        folder: finished labels.
        elsewhere: where the encoder lies now, or its name, if not where it was.

    Raises:
        ModelError: if it cannot be had; names the labels.
    """
    name = elsewhere or LabelConfig.of_folder(folder).retrieval.encoder
    try:
        return cached_encoder(name)
    except EnoughError as error:
        if name is None:
            raise
        raise ModelError(
            f"{folder.path}: was labelled with the encoder {name!r}, which cannot be loaded; if it "
            f"lies elsewhere now, put it back or say where ({error})"
        ) from error
