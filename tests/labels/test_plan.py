"""What a run is planned to take, from rates that were measured in other runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from enough.errors import ConfigError, UnknownNameError
from enough.labels.dry_search import Work
from enough.labels.hardware import Hardware, load_hardware
from enough.labels.plan import Machines, make_plan

SMALL, LARGE = 134_515_008.0, 8.03e9


@pytest.fixture(scope="module")
def hardware() -> Hardware:
    return load_hardware()


def test_a_measured_rate_is_taken_as_it_is(hardware: Hardware) -> None:
    assert hardware.rate("H200", SMALL, True).tokens_per_s == 760_000
    assert hardware.rate("H200", SMALL, False).tokens_per_s == 490_000
    assert hardware.rate("h200", LARGE, True).tokens_per_s == 33_970  # only measured uncompiled
    assert "measured" in hardware.rate("H200", LARGE, False).because


def test_other_sizes_get_a_share_of_the_peak(hardware: Hardware) -> None:
    def share(parameters: float) -> float:
        return hardware.rate("H200", parameters, True).tokens_per_s * 2 * parameters / 989e12

    small, large = share(SMALL), share(LARGE)
    assert small == pytest.approx(0.207, abs=0.001)
    assert large == pytest.approx(0.552, abs=0.001)
    middle = (SMALL * LARGE) ** 0.5
    assert share(middle) == pytest.approx((small + large) / 2, abs=0.001)
    assert share(7e10) == pytest.approx(large)  # beyond the largest: no better than it
    assert share(1e7) == pytest.approx(small, abs=0.001)


def test_other_devices_get_the_share_of_those_that_were_measured(hardware: Hardware) -> None:
    a100, h200 = hardware.rate("A100", LARGE, False), hardware.rate("H200", LARGE, False)
    assert a100.tokens_per_s == pytest.approx(h200.tokens_per_s * 312 / 989)
    assert "other devices" in a100.because
    slow = hardware.rate("CPU", LARGE, False).tokens_per_s
    assert slow == pytest.approx(890 * 134.5e6 / LARGE)  # not the share of a GPU


def test_the_h200_run_is_planned_within_30_percent(hardware: Hardware) -> None:
    """3,383 requests took three calls of 572, 482 and 255 s; no rate comes from that run."""
    scale = 3383 / 3194  # calls and tokens were counted on 3,194 of them
    work = Work(requests=3383, calls=2.52e6 * scale, tokens=685e6 * scale)
    found = make_plan(work, Machines("H200", starts=3), hardware, SMALL, compiled=True)
    measured = (572 + 482 + 255) / 3600
    assert abs(found.hours / measured - 1) < 0.3
    assert found.cost == pytest.approx(4 * found.device_hours)


def test_more_devices_share_the_work_but_each_starts(hardware: Hardware) -> None:
    work = Work(requests=10, calls=1e6, tokens=3e8, bytes=2e9)
    one = make_plan(work, Machines("H200"), hardware, LARGE, compiled=False)
    four = make_plan(work, Machines("H200", count=4), hardware, LARGE, compiled=False)
    start = hardware.overhead.start_s / 3600
    assert four.hours - start == pytest.approx((one.hours - start) / 4)
    assert four.device_hours == pytest.approx(one.device_hours + 3 * start)
    assert one.gigabytes == 2
    again = make_plan(work, Machines("H200", starts=5), hardware, LARGE, compiled=False)
    assert again.hours == pytest.approx(one.hours + 4 * start)


def test_prices_and_rates_of_ones_own(hardware: Hardware, tmp_path: Path) -> None:
    work = Work(requests=1, calls=1, tokens=3.6e6)
    given = Machines("A800", price=2.0, tokens_per_s=1000.0)
    found = make_plan(work, given, hardware, LARGE, compiled=False)
    assert found.cost == pytest.approx(2.0, rel=0.01)
    assert found.rate_because == "given"
    assert make_plan(work, Machines("A800"), hardware, LARGE, compiled=False).cost is None
    own = tmp_path / "hardware.toml"
    own.write_text(
        '[devices.Z9]\nkind = "gpu"\ntflops = 500.0\nmemory_gb = 90.0\nsource = "ours"\n'
        '[[rates]]\ndevice = "Z9"\nparameters = 8e9\ncompiled = false\ntokens_per_s = 9.0\n'
        'source = "ours"\n'
        '[[rates]]\ndevice = "H200"\nparameters = 8.03e9\ncompiled = false\ntokens_per_s = 5.0\n'
        'source = "a better look"\n'
    )
    merged = load_hardware(own)
    assert merged.rate("Z9", 8e9, False).tokens_per_s == 9
    assert merged.rate("H200", 8e9, False).tokens_per_s == 5
    assert merged.rate("H200", SMALL, True).tokens_per_s == 760_000


def test_what_cannot_be_is_refused(hardware: Hardware, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown device 'H300'; did you mean 'H"):
        hardware.device("H300")
    with pytest.raises(ConfigError, match="take 140 GB, one H200 has 141"):
        make_plan(Work(), Machines("H200"), hardware, 7e10, compiled=False)
    own = tmp_path / "hardware.toml"
    own.write_text("[gpus]\n")
    with pytest.raises(UnknownNameError, match=r"key in .*hardware\.toml 'gpus'"):
        load_hardware(own)
    own.write_text(
        '[[rates]]\ndevice = "Z9"\nparameters = 8e9\ncompiled = false\ntokens_per_s = 9.0\n'
        'source = "ours"\n'
    )
    with pytest.raises(UnknownNameError, match="device in rates 'Z9'"):
        load_hardware(own)


def test_a_call_costs_a_fraction_of_the_papers_compute() -> None:
    """The worked example of docs/planning.md: peak operations per teacher call and weight."""
    paper = 336 * 3600 / 9.7e6 * 312e12 / 9e9
    lamp_4 = 989e12 / 185 / 8.03e9
    six_tasks = 989e12 / (33_970 / (685 / 2.52)) / 8.03e9
    assert paper / lamp_4 == pytest.approx(6.5, abs=0.05)
    assert paper / six_tasks == pytest.approx(4.4, abs=0.05)
