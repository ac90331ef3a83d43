"""Which number format to run a frozen model in on this machine.

In: a device and the user's wish. Out: a dtype name of torch. bfloat16 moves a MiniLM vector by less
than 2e-4 in cosine and is several times faster where the hardware multiplies it natively: on GPUs,
and on CPUs with AMX. On CPUs that have AVX512-BF16 alone it came out slower than float32.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from enough.errors import UnknownNameError

Precision = Literal["auto", "float32", "bfloat16", "float16"]
_AMX_DETAILS_LEAF = 0x1D


def choose_dtype(wish: Precision, device: str) -> str:
    """The wish, or the fastest format that is safe on the device."""
    if wish not in get_args(Precision):
        raise UnknownNameError("precision", wish, get_args(Precision))
    if wish != "auto":
        return wish
    return "bfloat16" if device.startswith("cuda") or cpu_has_usable_amx() else "float32"


def cpu_has_usable_amx(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether bfloat16 matrix tiles are there and described.

    Some virtual machines announce AMX but hide the CPUID leaf with the size of its tiles. oneDNN
    then sets up no tiles, and the first bfloat16 product ends the process with SIGILL.
    """
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False  # not Linux
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())  # the first processor speaks for all
    highest_leaf = fields.get("cpuid level", "")
    return (
        "amx_bf16" in fields.get("flags", "").split()
        and highest_leaf.isdigit()
        and int(highest_leaf) >= _AMX_DETAILS_LEAF
    )
