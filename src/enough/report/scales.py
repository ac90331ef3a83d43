"""From values to pixels, and the round values an axis is named at.

In: the lowest and highest value. Out: ticks that cover them, and a linear scale. A chart with a
value that is no number is refused here, by its title.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_FACTORS = (1.0, 2.0, 2.5, 5.0, 10.0)
_LARGEST = 1e300  # beyond it a difference of two values overflows


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` onto pixels from `start` to `end`, linearly."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a value lies."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def require_finite(title: str, values: Iterable[float | None]) -> list[float]:
    """The values that are there.

    Raises:
        ValueError: if one is NaN or infinite, naming the chart.
    """
    found = [float(value) for value in values if value is not None]
    for value in found:
        if not abs(value) <= _LARGEST:
            raise ValueError(f"chart {title!r}: {value} cannot be drawn")
    return found


def require_grid(
    title: str, values: Sequence[Sequence[float | None]], rows: int, columns: int
) -> None:
    """Refuse values that are not [rows][columns], naming the chart."""
    shape = [len(row) for row in values]
    if shape != [columns] * rows:
        raise ValueError(f"chart {title!r}: {rows} × {columns} values are needed, not {shape}")


def nice_ticks(low: float, high: float, most: int = 5) -> tuple[float, ...]:
    """Round values at equal steps; the first is at most `low`, the last at least `high`.

    Args:
        low: of the data. If all values are equal, the ticks run from 0 to them.
        high: of the data.
        most: steps that cover the data, before both ends are rounded outward.
    """
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = 0.0, 1.0
    step = _step((high - low) / most)
    # A bound that is a multiple of the step but for rounding must not open another step.
    first, last = math.floor(low / step + 1e-6), math.ceil(high / step - 1e-6)
    digits = 2 - math.floor(math.log10(step))
    return tuple(round(number * step, digits) + 0.0 for number in range(first, last + 1))


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(f * power for f in _FACTORS if f * power >= least * (1 - 1e-9))
