"""How numbers are printed, in tables and along axes.

In: a value and the format of its column. Out: text; an interval has its range apart, to be set in
smaller type. Negative numbers carry a minus sign, not a hyphen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import index

from enough.diagnostics.sections import Format, Value
from enough.evaluation.intervals import Interval

MISSING = "–"


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as it is read, and the range around it, if it has one."""

    text: str
    range: str = ""


def shown(value: Value, form: Format) -> Shown:
    """A cell of a table.

    Raises:
        ValueError: for a number that is NaN or infinite.
    """
    if value is None:
        return Shown(MISSING)
    if isinstance(value, str):
        return Shown(value)
    if isinstance(value, Interval):
        bounds = f"[{number_text(value.low, form)}, {number_text(value.high, form)}]"
        return Shown(number_text(value.mean, form), bounds)
    return Shown(number_text(value, form))


def number_text(value: float, form: Format) -> str:
    """One number, in the way of its column."""
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be shown")
    return _minus(_WRITERS[form](value))


def tick_texts(ticks: Sequence[float], form: Format) -> list[str]:
    """Names of equally spaced ticks: no more digits than tell them apart."""
    factor, unit = _unit(max(map(abs, ticks), default=0.0), form)
    scaled = [tick * factor for tick in ticks]
    sign = "+" if form == "signed" else ""
    step = min((b - a for a, b in pairwise(scaled)), default=1.0)
    if 0 < step < 1e-5 or max(map(abs, scaled), default=0.0) >= 1e6:
        return [_minus(f"{value:.3g}{unit}") for value in scaled]
    digits = next(d for d in range(9) if all(_is_round(v, d, step) for v in scaled) or d == 8)
    if unit and form != "share":
        return [_minus(f"{v:,.{digits}f}{unit}") if v else "0" for v in scaled]
    texts = [f"{round(value, digits) + 0.0:{sign if value else ''},.{digits}f}" for value in scaled]
    return [_minus(f"{text}{unit}") for text in texts]


def _unit(largest: float, form: Format) -> tuple[float, str]:
    if form == "share":
        return 100.0, "%"
    steps = ((1e12, 1e-12, "T"), (1e9, 1e-9, "B"), (1e6, 1e-6, "M"), (2e4, 1e-3, "k"))
    return next(((by, name) for bound, by, name in steps if largest >= bound), (1.0, ""))


def _is_round(value: float, digits: int, step: float) -> bool:
    return abs(round(value, digits) - value) < 1e-4 * step


def _number(value: float) -> str:
    """Three decimals or three digits, whichever says more; whole numbers as they are."""
    size = abs(value)
    if _is_whole_number(value) or value == 0:
        return f"{value:,.0f}"
    if size < 0.01:
        return f"{value:.2g}"
    digits = 3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0
    return f"{value:,.{digits}f}"


def _is_whole_number(value: object) -> bool:
    """Whether it is one by type, NumPy's included; a measured 3.0 is none."""
    try:
        index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _signed(value: float) -> str:
    rounded = round(value, 3)
    return f"{rounded:+,.3f}" if rounded else "0.000"


def _fixed(digits: int, factor: float = 1.0, unit: str = "") -> Callable[[float], str]:
    # Adding 0.0 turns a rounded −0 into 0.
    return lambda value: f"{round(value * factor, digits) + 0.0:,.{digits}f}{unit}"


def _minus(text: str) -> str:
    return text.replace("-", "−")


_WRITERS: Mapping[Format, Callable[[float], str]] = {
    "text": _number,
    "number": _number,
    "signed": _signed,
    "share": _fixed(1, 100.0, "%"),
    "count": _fixed(0),
    "quality": _fixed(1),
    "milliseconds": _fixed(1),
}
