"""The `[engine]` table: the same file for a laptop and for a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from enough.config import require_at_least
from enough.errors import ConfigError

EngineKind = Literal["local", "ray"]
_LEAST = {"workers": 0, "gpus_per_worker": 0, "cpus_per_worker": 0}


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Who works, and with what. No result depends on it.

    Attributes:
        kind: "local" works with processes of this machine, "ray" with the actors of a cluster.
        workers: how many; 0 is one per GPU, or one per core (at most 8) where there is none; with
            Ray as many as the cluster has room for when the run begins.
        cpus_per_worker: what a worker asks Ray for.
        gpus_per_worker: the same; 0.5 puts two workers on one GPU.
        address: of the Ray cluster: "auto" is the one this machine belongs to; without any,
            RAY_ADDRESS counts, and else a Ray of this machine alone is started for the run.
    """

    kind: EngineKind = "local"
    workers: int = 0
    cpus_per_worker: float = 1.0
    gpus_per_worker: float = 0.0
    address: str = ""

    def __post_init__(self) -> None:
        require_at_least(self, _LEAST, "engine.")
        if self.address.startswith("ray://"):
            raise ConfigError(
                "engine.address must not be a Ray Client address (ray://…): start the command on a "
                'machine of the cluster, with address = "auto"'
            )
