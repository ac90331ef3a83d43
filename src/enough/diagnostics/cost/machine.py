"""What a measurement of time was made on, in words: times mean nothing without it.

In: the device a generator was told to run on. Out: names and values, the same on every call.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")


def machine(device: str | None = None) -> dict[str, str]:
    """System, processor, cores, threads of torch, and the GPU where one is used."""
    import torch  # noqa: PLC0415 (heavy)

    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    found = {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(_CPU_INFO),
        "cores": str(cores),
        "torch": torch.__version__,
        "torch threads": str(torch.get_num_threads()),
    }
    if uses_gpu(device):
        found["gpu"] = torch.cuda.get_device_name(device)
    return found


def uses_gpu(device: str | None) -> bool:
    """Whether a generator that was told this runs on a GPU."""
    import torch  # noqa: PLC0415 (heavy)

    return torch.cuda.is_available() and device != "cpu"


def processor(cpu_info: Path) -> str:
    """The model's name as the system has it, or what the platform says."""
    try:
        lines = cpu_info.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next((name for name in names if name), platform.processor() or "unknown")
