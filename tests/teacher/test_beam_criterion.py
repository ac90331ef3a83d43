"""What keeping prefixes by likelihood instead of by U or J costs, on exhaustively scored requests.

The figures in DECISIONS.md are these.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from enough.prompts.profile_sequences import Profile

WIDTH, LENGTH, POOL = 4, 3, 6
FLOOR = 0.03  # of both scales: one task has no signal
Values = dict[Profile, tuple[float, float, float]]


@pytest.fixture(scope="module")
def requests() -> list[tuple[str, Values]]:
    data = Path(__file__).parent.parent.parent.parent / "shared" / "data"
    path = data / "exhaustive" / "scores.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"needs {path}, which is not there")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = [(row["task"], _values(row)) for row in map(json.loads, lines)]
    return [(task, values) for task, values in found if len(values) == 157]


def _values(row: dict[str, Any]) -> Values:
    """(g, p, c) of every own profile; p from the one slot that was scored."""
    scores: dict[str, float] = row["loglik"]
    replaced: dict[Profile, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    own: dict[Profile, float] = {}
    for key, value in scores.items():
        parts = key.split(",") if key else []
        profile = tuple(int(part.split("r")[0]) for part in parts)
        slots = [i for i, part in enumerate(parts) if "r" in part]
        if slots:
            replaced[profile][slots[0]].append(value)
        elif len(profile) <= LENGTH and max(profile, default=0) < POOL:
            own[profile] = value
    values = {}
    for profile, value in own.items():
        gain, specificity = value - own[()], 0.0
        for slot, others in list(replaced[profile].items())[:1]:
            without = own.get(profile[:slot] + profile[slot + 1 :])
            if gain > 0 and without is not None:
                beyond = [max(0.0, other - without) for other in others]
                specificity = max(0.0, value - without) - float(np.mean(beyond))
        cost = sum(row["record_tokens"][place] for place in profile) / 1024
        values[profile] = (gain, specificity, cost)
    return values


def _regret(requests: list[tuple[str, Values]], by: str, lambda_: float) -> float:
    """Mean of J* minus the best J that a beam of this criterion comes by."""
    squares: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for task, values in requests:
        squares[task] += [(g * g, p * p) for profile, (g, p, _) in values.items() if profile]
    scale = {t: np.maximum(np.sqrt(np.mean(rows, axis=0)), FLOOR) for t, rows in squares.items()}
    regrets = []
    for task, values in requests:
        s_g, s_p = scale[task]
        u = {profile: g / s_g + 0.4 * p / s_p for profile, (g, p, _) in values.items()}
        j = {profile: u[profile] - lambda_ * values[profile][2] for profile in values}
        worth = {"gain": {p: v[0] for p, v in values.items()}, "U": u, "J": j}[by]
        kept: list[Profile] = [()]
        seen: set[Profile] = {()}
        for _ in range(LENGTH):
            grown = list(
                chain.from_iterable(
                    [(*p, place) for place in range(POOL) if place not in p] for p in kept
                )
            )
            seen.update(grown)
            kept = sorted(grown, key=lambda p: -worth[p])[:WIDTH]
        regrets.append(max(j.values()) - max(j[profile] for profile in seen))
    return float(np.mean(regrets))


@pytest.mark.parametrize(
    ("lambda_", "expected"),
    [
        (0.1, {"gain": 0.0340, "U": 0.0332, "J": 0.0336}),
        (1.0, {"gain": 0.0179, "U": 0.0168, "J": 0.0167}),
    ],
)
def test_keeping_by_likelihood_costs_little(
    requests: list[tuple[str, Values]], lambda_: float, expected: dict[str, float]
) -> None:
    found = {by: _regret(requests, by, lambda_) for by in expected}
    assert len(requests) == 1268
    assert found == pytest.approx(expected, abs=0.001)
    assert found["gain"] - min(found.values()) < 0.002
