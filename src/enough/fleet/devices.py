"""GPUs of one machine for several processes: each sees one, the first comes again after the last.

A process that sees one GPU takes it as "cuda", whatever loads there; naming "cuda:1" instead would
leave libraries behind that launch on the first one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

_VISIBLE = "CUDA_VISIBLE_DEVICES"


def devices_here(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """GPUs of this machine that torch can use, as CUDA_VISIBLE_DEVICES names them."""
    import torch  # noqa: PLC0415 (heavy)

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return device_names(count, environment.get(_VISIBLE))


def device_names(count: int, visible: str | None) -> tuple[str, ...]:
    """Names of the first so many devices; those this process was given, if it was given some."""
    given = [name.strip() for name in (visible or "").split(",") if name.strip()]
    return tuple(given[:count]) if given else tuple(str(i) for i in range(count))


def placed(workers: int, devices: Sequence[str]) -> list[str | None]:
    """The device of every worker; None leaves it where it is."""
    return [devices[i % len(devices)] if devices else None for i in range(workers)]


def see_only(device: str) -> None:
    """Let this process see one device; before it has touched any."""
    os.environ[_VISIBLE] = device
