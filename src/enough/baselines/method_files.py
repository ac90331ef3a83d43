"""A trained method on disk: weights as safetensors, everything else as JSON. No pickle.

```
weights.safetensors   all of its trained parts
method.json           kind, settings, seed, fingerprints of the frozen models, versions, report
```

In: what was learned. Out: a folder, and the same again. JSON comes last and has a checksum over
both files, so that an altered or half-written folder is refused. Nothing in it depends on the time
or the machine: equal training gives equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from enough.baselines.tools import Tools
from enough.errors import ModelError
from enough.run_folders import first_difference, write_json, write_whole
from enough.tuning.adapter_files import versions

log = logging.getLogger(__name__)

FORMAT = 1
WEIGHTS, SETTINGS = "weights.safetensors", "method.json"

Weights = dict[str, NDArray[np.float32]]
"""Name of a parameter -> its values."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What training leaves behind.

    Attributes:
        kind: of the method, as in the registry.
        settings: those that shaped the weights.
        weights: all trained parts; parts of several modules have a prefix.
        report: how training went, as plain values.
    """

    kind: str
    settings: dict[str, Any]
    weights: Weights
    report: dict[str, Any]


def save_learned(folder: Path, learned: Learned, tools: Tools) -> None:
    """Write both files."""
    raw = save({name: np.ascontiguousarray(w) for name, w in sorted(learned.weights.items())})
    about = {
        "format": FORMAT,
        "kind": learned.kind,
        "settings": learned.settings,
        "seed": tools.seed,
        "encoder": tools.encoder.fingerprint,
        "generator": tools.generator.fingerprint,
        "versions": versions(),
        "report": learned.report,
    }
    write_whole(folder / WEIGHTS, raw)
    write_json(folder / SETTINGS, {**about, "sha256": _checksum(about, raw)})


def load_learned(folder: Path, kind: str, settings: dict[str, Any], tools: Tools) -> Learned:
    """Read a trained method.

    Args:
        folder: where it is.
        kind: of the method that is wanted.
        settings: those that it should have been trained with.
        tools: the frozen models it is going to be used with.

    Raises:
        ModelError: if files are missing or altered, of another method or other settings, or made
            for the vectors of another encoder.
    """
    try:
        about = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        raw = (folder / WEIGHTS).read_bytes()
        checksum = about.pop("sha256")
        unaltered = checksum == _checksum(about, raw)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{folder}: not a trained method ({error}); train it again") from None
    if not unaltered:
        raise ModelError(f"{folder}: altered since it was written; copy it again")
    _check(folder, about, kind, settings, tools)
    return Learned(kind, about["settings"], load(raw), about["report"])


def _checksum(about: dict[str, Any], raw: bytes) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode() + raw).hexdigest()


def _check(
    folder: Path, about: dict[str, Any], kind: str, settings: dict[str, Any], tools: Tools
) -> None:
    if about["format"] != FORMAT:
        raise ModelError(f"{folder}: format {about['format']}, this version reads {FORMAT}")
    if about["kind"] != kind:
        raise ModelError(f"{folder}: holds the method {about['kind']!r}, not {kind!r}")
    if (different := first_difference(about["settings"], settings)) is not None:
        raise ModelError(f"{folder}: was trained with another setting of {different}; train again")
    if about["encoder"] != tools.encoder.fingerprint:
        raise ModelError(
            f"{folder}: was trained on the vectors of another encoder ({about['encoder']}, not "
            f"{tools.encoder.fingerprint}); use that one, or train again"
        )
    if about["generator"] != tools.generator.fingerprint:
        # Allowed: a half-precision model on another device has another fingerprint, too.
        log.warning("%s: was trained for another generator (%s)", folder, about["generator"])
