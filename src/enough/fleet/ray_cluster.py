"""A Ray to work with: the cluster that is named, or one of this machine for the length of a run.

In: the `[engine]` table. Out: Ray, connected, and how many workers it has room for. Nothing is
printed, no dashboard is started and no usage is reported by a Ray that is started here.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from enough.errors import ConfigError, EnoughError, MissingExtraError
from enough.fleet.config import EngineConfig

_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",  # Ray's own default for one machine; said here, it is not printed
}


def import_ray() -> Any:
    """Ray, or what to install."""
    try:
        import ray  # noqa: PLC0415 (an extra)
    except ImportError:
        raise MissingExtraError("the engine 'ray'", "ray") from None
    return ray


@contextmanager
def connected(engine: EngineConfig) -> Iterator[Any]:
    """Ray; one that was connected before stays as it was.

    Raises:
        ConfigError: if there is no cluster at the address, or never room for a worker.
    """
    address = engine.address or os.environ.get("RAY_ADDRESS") or "local"
    if address == "local":  # before the import, which reads some of them once and for all
        for name, value in _QUIET.items():
            os.environ.setdefault(name, value)
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    given: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **given)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConfigError(f"engine.address: no Ray cluster at {address!r} ({error})") from None
    except Exception as error:  # noqa: BLE001 (Ray raises it bare when its own start takes too long)
        raise EnoughError(f"Ray did not start: {error}") from None
    try:
        if address == "local":
            _require_room(ray.cluster_resources(), engine)
        yield ray
    finally:
        ray.shutdown()


def worker_room(ray: Any, engine: EngineConfig) -> int:
    """How many workers the cluster could hold as it is now; at least one."""
    has = ray.cluster_resources()
    wanted = {"CPU": engine.cpus_per_worker, "GPU": engine.gpus_per_worker}
    room = [int(has.get(name, 0.0) / amount) for name, amount in wanted.items() if amount]
    return max(1, min(room, default=1))


def _require_room(has: dict[str, float], engine: EngineConfig) -> None:
    """A Ray of one machine does not grow: what does not fit now never will."""
    for name, wanted in (("CPU", engine.cpus_per_worker), ("GPU", engine.gpus_per_worker)):
        if wanted > (found := has.get(name, 0.0)):
            raise ConfigError(
                f"engine: a worker asks for {wanted:g} {name}, this machine has {found:g}; ask for "
                "less, or name a cluster with engine.address"
            )
