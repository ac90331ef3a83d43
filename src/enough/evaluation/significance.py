"""Whether one method differs from others: by bootstrap over users, and by t-test over runs.

In: what every request contributed to a metric, per method and run, in one order of requests. Out:
for every other method the difference with its interval and p-values. Both protocols of the paper:
the bootstrap is clustered by user and Holm-corrected over all others, the paired t-test compares
the runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np

from enough.evaluation.intervals import Floats, Interval, Resampling, Value, estimate

LEVEL = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """One method's requests under one metric.

    Attributes:
        seeds: of the runs.
        parts: what every request contributes, [n, runs, p].
    """

    seeds: tuple[int, ...]
    parts: Floats

    def values(self, value: Value) -> dict[int, float]:
        """The metric of every run by its seed."""
        return dict(zip(self.seeds, value(self.parts.mean(axis=0)).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One method against another, oriented so that a positive difference favours the former.

    Attributes:
        other: the method compared with.
        difference: with a 95% interval over users.
        p: two-sided, of the bootstrap.
        holm: the same, corrected for all comparisons of the family.
        t: two-sided, of the paired t-test over runs; None with fewer than two runs, or runs whose
            differences are all alike.
    """

    other: str
    difference: Interval
    p: float
    holm: float
    t: float | None


def against_all(
    ours: Runs,
    others: Mapping[str, Runs],
    resampling: Resampling,
    value: Value,
    *,
    higher_is_better: bool,
) -> list[Comparison]:
    """One method against every other on the same requests; the others are the Holm family."""
    sign = 1.0 if higher_is_better else -1.0
    mine = estimate(ours.parts, resampling, value)
    differences = {
        name: mine - estimate(runs.parts, resampling, value) for name, runs in others.items()
    }
    p_values = [bootstrap_p(found.draws, resampling.users) for found in differences.values()]
    return [
        Comparison(
            name, _oriented(found.interval, sign), p, corrected, _over_runs(ours, runs, value)
        )
        for (name, found), runs, p, corrected in zip(
            differences.items(), others.values(), p_values, holm(p_values), strict=True
        )
    ]


def bootstrap_p(draws: Floats, users: int) -> float:
    """The two-sided p-value of a difference, from its draws.

    Twice the smaller share of draws on or beyond zero, at most 1; both shares count one draw more
    than there were, so the value is never 0. It is below 5% just where the 95% percentile interval
    leaves zero out (but for that one draw). A few users who all lean one way would never be drawn
    to the other side, so the value is not below 2^(1 − users), the least a sign test could say.
    """
    beyond = min(int(np.sum(draws <= 0)), int(np.sum(draws >= 0)))
    return max(min(1.0, 2 * (beyond + 1) / (len(draws) + 1)), 2.0 ** (1 - users))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the smallest times m, the next times m − 1, never falling."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [0.0] * len(p_values)
    reached = 0.0
    for step, i in enumerate(order):
        reached = max(reached, min(1.0, (len(order) - step) * p_values[i]))
        corrected[i] = reached
    return corrected


def paired_t(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """The two-sided p-value of the paired t-test.

    None where it says nothing: fewer than two pairs, or differences that are all alike, as those of
    methods that do the same in every run.
    """
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    if len(differences) < 2:
        return None
    mean, deviation = fmean(differences), stdev(differences)
    if deviation <= 1e-12 * max(map(abs, (*ours, *theirs))):  # rounding, not variation
        return None
    return student_tail(mean / (deviation / math.sqrt(len(differences))), len(differences) - 1)


def student_tail(t: float, freedom: int) -> float:
    """P(|T| ≥ |t|) for Student's t: the regularised incomplete beta I_x(ν/2, 1/2), x = ν/(ν+t²)."""
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised, by its continued fraction, which converges fast below (a+1)/(a+b+2)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta) / a
    fraction = 1.0  # evaluated from its 200th term back to the first
    for m in range(200, 0, -1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1))
        fraction = 1 + odd / (1 + even / fraction)
    return front / fraction


def _over_runs(ours: Runs, theirs: Runs, value: Value) -> float | None:
    """The t-test over common seeds; a method with one run is the same in all of them."""
    mine, others = ours.values(value), theirs.values(value)
    if len(others) == 1:
        others = dict.fromkeys(mine, next(iter(others.values())))
    common = [seed for seed in mine if seed in others]
    return paired_t([mine[seed] for seed in common], [others[seed] for seed in common])


def _oriented(interval: Interval, sign: float) -> Interval:
    low, high = sorted((sign * interval.low, sign * interval.high))
    return Interval(sign * interval.mean + 0.0, low + 0.0, high + 0.0)  # prints no −0
