from __future__ import annotations

import math

import numpy as np
import pytest

from enough.diagnostics.sections import Format, Value
from enough.evaluation.intervals import Interval
from enough.report.formats import Shown, number_text, shown, tick_texts


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.183, "share", "18.3%"),
        (1.0, "share", "100.0%"),
        (-0.0004, "share", "0.0%"),
        (1234, "count", "1,234"),
        (1234.6, "count", "1,235"),
        (98.76, "quality", "98.8"),
        (0.018, "signed", "+0.018"),
        (-0.018, "signed", "−0.018"),
        (-0.0001, "signed", "0.000"),
        (12.34, "milliseconds", "12.3"),
        (1234.56, "milliseconds", "1,234.6"),
        (3, "number", "3"),
        (np.int64(3), "number", "3"),
        (3.0, "number", "3.000"),
        (0.12345, "number", "0.123"),
        (12.345, "number", "12.35"),
        (123.45, "number", "123.5"),
        (12345.6, "number", "12,346"),
        (0.00042, "number", "0.00042"),
        (-0.5, "number", "−0.500"),
        (0.0, "number", "0"),
        ("as it is", "share", "as it is"),
        (None, "quality", "–"),
        (7, "text", "7"),
    ],
)
def test_cells(value: Value, form: Format, text: str) -> None:
    assert shown(value, form) == Shown(text)


def test_an_interval_has_its_range_apart() -> None:
    assert shown(Interval(0.018, -0.002, 0.03), "signed") == Shown("+0.018", "[−0.002, +0.030]")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="cannot be shown"):
        number_text(value, "share")
    with pytest.raises(ValueError, match="cannot be shown"):
        shown(Interval(0.0, value, 1.0), "number")


@pytest.mark.parametrize(
    ("ticks", "form", "texts"),
    [
        ((0.0, 0.2, 0.4), "share", ["0%", "20%", "40%"]),
        ((0.0, 0.025, 0.05), "share", ["0.0%", "2.5%", "5.0%"]),
        ((98.0, 100.0), "quality", ["98", "100"]),
        ((-0.02, 0.0, 0.02), "signed", ["−0.02", "0.00", "+0.02"]),
        ((0.0, 2.5, 5.0), "number", ["0.0", "2.5", "5.0"]),
        ((0.0, 500.0, 1000.0), "count", ["0", "500", "1,000"]),
        ((0.0, 50_000.0), "count", ["0", "50k"]),
        ((0.0, 2.5e6), "count", ["0", "2.5M"]),
        ((3.0,), "number", ["3"]),
        ((0.0, 1e-9), "number", ["0", "1e−09"]),
    ],
)
def test_ticks_have_no_more_digits_than_needed(
    ticks: tuple[float, ...], form: Format, texts: list[str]
) -> None:
    assert tick_texts(ticks, form) == texts
