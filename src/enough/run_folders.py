"""What folders of long runs share: files that appear whole, settings that must not change, one run.

In: a folder that a command works into. Out: nothing half-written after a kill, and a refusal that
names the setting by which a run differs from the one that began there.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from enough.errors import ConfigError, DataError

_UNFINISHED = ".part"


@contextmanager
def held_folder(path: Path) -> Iterator[None]:
    """Make the folder and keep other runs out of it; a process that was killed lets go of it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / ".lock").open("w")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({error.strerror or error})") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigError(f"{path}: another run is working into it") from None
        yield


def write_whole(path: Path, content: bytes) -> None:
    """The file appears when it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}{_UNFINISHED}")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def names_in(folder: Path) -> set[str]:
    """What lies in a folder; what a kill left half-written counts as the file it was to become."""
    return {one.name.removesuffix(_UNFINISHED) for one in folder.glob("*")}


def write_json(path: Path, value: object) -> None:
    """Indented JSON, the same bytes for equal values."""
    write_whole(path, f"{json.dumps(value, indent=2, sort_keys=True)}\n".encode())


def read_json(path: Path) -> dict[str, Any]:
    """An object from such a file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read: {error}", path=path) from None
    if not isinstance(value, dict):
        raise DataError("must hold one JSON object", path=path)
    return value


def first_difference(found: object, wanted: object, where: str = "") -> str | None:
    """The first key with another value, both values with it; None if there is none.

    Args:
        found: as read from JSON.
        wanted: plain values; tuples count as the lists JSON makes of them.
        where: the key they stand under.
    """
    if not (isinstance(found, dict) and isinstance(wanted, dict)):
        same = found == json.loads(json.dumps(wanted))
        return None if same else f"{where} ({found!r}, now {wanted!r})"
    for key in sorted(found.keys() | wanted.keys()):
        inner = f"{where}.{key}" if where else key
        if (different := first_difference(found.get(key), wanted.get(key), inner)) is not None:
            return different
    return None
