"""Machines and how fast they score: a table with sources, and what follows for other model sizes.

In: `hardware.toml`, and a file of the user's before it. Out: `Hardware`, which gives the rate of a
model on a device: the measured one where there is one, else the peak times the share of it that
was measured nearest in size.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from enough.config import from_table, read_toml
from enough.errors import ConfigError, UnknownNameError

_SAME_SIZE = 0.1  # models this much apart count as equally fast
_FLOPS_PER_WEIGHT = 2.0  # of one token


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU type, or a machine without any.

    Attributes:
        tflops: dense bfloat16 peak, in 10¹² operations a second.
        memory_gb: of one.
        price: dollars an hour for one; None where nobody knows.
        source: of these figures.
    """

    kind: Literal["gpu", "cpu"]
    tflops: float
    memory_gb: float
    source: str
    price: float | None = None


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """Distinct tokens scored in a second by one device."""

    device: str
    parameters: float
    compiled: bool
    tokens_per_s: float
    source: str


@dataclass(frozen=True, slots=True)
class Overhead:
    """What a run costs beside scoring: seconds of each start, of compiling, of each call."""

    start_s: float
    compile_s: float
    call_s: float
    source: str


@dataclass(frozen=True, slots=True)
class RateFor:
    """How fast a model is taken to be, and why."""

    tokens_per_s: float
    because: str


@dataclass(frozen=True, slots=True)
class Hardware:
    """All that is known."""

    devices: Mapping[str, Device]
    rates: Sequence[MeasuredRate]
    overhead: Overhead

    def device(self, name: str) -> Device:
        """A device by its name, in any case."""
        for known, device in self.devices.items():
            if known.lower() == name.lower():
                return device
        raise UnknownNameError("device", name, self.devices)

    def rate(self, name: str, parameters: float, compiled: bool) -> RateFor:
        """Tokens a second of a model of so many weights on one such device."""
        device = self.device(name)
        own = [rate for rate in self.rates if rate.device.lower() == name.lower()]
        same = [one for one in own if abs(one.parameters / parameters - 1) <= _SAME_SIZE]
        if same:
            found = max(same, key=lambda one: (one.compiled == compiled, one.tokens_per_s))
            return RateFor(found.tokens_per_s, f"measured: {found.source}")
        alike = own or [one for one in self.rates if self.devices[one.device].kind == device.kind]
        if not alike:
            raise ConfigError(f"no rate was measured on a device like {name}; give --tokens-per-s")
        share = _share_of_peak(self._shares(alike, compiled), parameters)
        rate = share * device.tflops * 1e12 / (_FLOPS_PER_WEIGHT * parameters)
        where = "it" if own else "other devices"
        return RateFor(
            rate, f"{share:.0%} of its peak, as measured on {where} with models next in size"
        )

    def _shares(self, rates: Sequence[MeasuredRate], compiled: bool) -> list[tuple[float, float]]:
        """(weights, share of the peak), one for every size, ascending."""
        best: dict[float, MeasuredRate] = {}
        for one in sorted(rates, key=lambda one: (one.compiled == compiled, one.tokens_per_s)):
            best[one.parameters] = one
        return sorted((size, self._share(one)) for size, one in best.items())

    def _share(self, rate: MeasuredRate) -> float:
        peak = self.devices[rate.device].tflops * 1e12
        return rate.tokens_per_s * _FLOPS_PER_WEIGHT * rate.parameters / peak


def _share_of_peak(shares: Sequence[tuple[float, float]], parameters: float) -> float:
    """Between two sizes in proportion to the logarithm; beyond the last that of the last."""
    (low, below), (high, above) = shares[0], shares[-1]
    for (size, share), (next_size, next_share) in itertools.pairwise(shares):
        if size <= parameters <= next_size:
            (low, below), (high, above) = (size, share), (next_size, next_share)
    if parameters <= low or low == high:
        return below
    if parameters >= high:
        return above
    weight = math.log(parameters / low) / math.log(high / low)
    return below + weight * (above - below)


def load_hardware(more: Path | None = None) -> Hardware:
    """The table that comes with the package, and a file whose devices and rates go before it."""
    built_in = Path(str(resources.files("enough.labels"))) / "hardware.toml"
    table = read_toml(built_in)
    if more is not None:
        table = _merged(table, read_toml(more), more)
    devices = {
        name: from_table(one, Device, f"devices.{name}") for name, one in table["devices"].items()
    }
    rates = [from_table(one, MeasuredRate, "rates") for one in table["rates"]]
    for rate in rates:
        if rate.device not in devices:
            raise UnknownNameError("device in rates", rate.device, devices)
    return Hardware(devices, rates, from_table(table["overhead"], Overhead, "overhead"))


def _merged(table: dict[str, Any], own: dict[str, Any], path: Path) -> dict[str, Any]:
    if unknown := sorted(own.keys() - table.keys()):
        raise UnknownNameError(f"key in {path}", unknown[0], table)
    rates = own.get("rates", [])
    given = {(one.get("device"), one.get("parameters"), one.get("compiled")) for one in rates}
    kept = [
        one
        for one in table["rates"]
        if (one["device"], one["parameters"], one["compiled"]) not in given
    ]
    return {
        "devices": {**table["devices"], **own.get("devices", {})},
        "rates": [*rates, *kept],
        "overhead": {**table["overhead"], **own.get("overhead", {})},
    }


def with_price(device: Device, price: float | None) -> Device:
    """The device at another price."""
    return device if price is None else dataclasses.replace(device, price=price)
