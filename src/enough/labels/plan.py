"""What labelling with a generator of some size on some machines will take.

In: how much there is to score, and the hardware. Out: `Plan`: calls, tokens, device-hours, disk and
cost. Scoring is tokens over the rate; every call and every start adds what was measured; devices
share the calls evenly, because chunks are independent.
"""

from __future__ import annotations

from dataclasses import dataclass

from enough.errors import ConfigError
from enough.labels.dry_search import Work
from enough.labels.hardware import Device, Hardware, RateFor, with_price

_BYTES_PER_WEIGHT = 2.0  # bfloat16
_ROOM = 0.9  # of the memory, for weights


@dataclass(frozen=True, slots=True)
class Machines:
    """What there is to work with.

    Attributes:
        device: its name in the table.
        count: of such devices.
        starts: how often the run is started: 1, or more where machines come and go.
        price: dollars an hour for one device; None takes the table's.
        tokens_per_s: of one device; None takes the table's.
    """

    device: str
    count: int = 1
    starts: int = 1
    price: float | None = None
    tokens_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will take.

    Attributes:
        requests, profiles, calls, tokens: to label, labelled, scored, computed.
        gigabytes: of labels on the disk.
        tokens_per_s: of one device.
        rate_because: where that comes from.
        overhead_hours: of device_hours, what is not scoring.
        hours: on the clock.
        device_hours: hours times devices.
        cost: dollars; None where no price is known.
    """

    requests: int
    profiles: int
    calls: int
    tokens: int
    gigabytes: float
    parameters: float
    device: str
    devices: int
    tokens_per_s: float
    rate_because: str
    overhead_hours: float
    hours: float
    device_hours: float
    price: float | None
    cost: float | None


def make_plan(
    work: Work, machines: Machines, hardware: Hardware, parameters: float, compiled: bool
) -> Plan:
    """Divide the work by the rate, and add what is spent beside it.

    Raises:
        ConfigError: if the weights do not fit one device.
    """
    device = with_price(hardware.device(machines.device), machines.price)
    _require_fit(device, machines.device, parameters)
    if machines.tokens_per_s is None:
        rate = hardware.rate(machines.device, parameters, compiled)
    else:
        rate = RateFor(machines.tokens_per_s, "given")
    overhead = hardware.overhead
    start = overhead.start_s + (overhead.compile_s if compiled else 0.0)
    scoring = work.tokens / rate.tokens_per_s
    searching = work.calls * overhead.call_s
    seconds = (scoring + searching) / machines.count + machines.starts * start
    device_hours = seconds * machines.count / 3600
    return Plan(
        requests=round(work.requests),
        profiles=round(work.profiles),
        calls=round(work.calls),
        tokens=round(work.tokens),
        gigabytes=work.bytes / 1e9,
        parameters=parameters,
        device=machines.device,
        devices=machines.count,
        tokens_per_s=rate.tokens_per_s,
        rate_because=rate.because,
        overhead_hours=device_hours - scoring / 3600,
        hours=seconds / 3600,
        device_hours=device_hours,
        price=device.price,
        cost=None if device.price is None else device.price * device_hours,
    )


def _require_fit(device: Device, name: str, parameters: float) -> None:
    needed = _BYTES_PER_WEIGHT * parameters / 1e9
    if needed > _ROOM * device.memory_gb:
        raise ConfigError(
            f"{parameters:.2g} weights take {needed:.0f} GB, one {name} has {device.memory_gb:g}: "
            "a worker holds a whole model"
        )
