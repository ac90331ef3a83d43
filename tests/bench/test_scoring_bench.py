from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from enough.bench.search_like import search_like_profiles
from enough.cli import app
from tests.conftest import make_record


def test_profiles_look_like_a_searchs() -> None:
    pool = [make_record(i) for i in range(1, 8)]
    others = {r.id: [make_record(i, owner=f"other{i}") for i in (1, 2, 3)] for r in pool}
    profiles = search_like_profiles(
        pool, others, max_records=4, actions=2, width=2, rng=np.random.default_rng(0)
    )
    own = [p for p in profiles if all(record.owner == "ann" for record in p)]
    assert () in profiles
    assert sum(len(p) == 1 for p in own) == 7  # all actions at the root
    assert {len(p) for p in own} == {0, 1, 2, 3, 4}
    assert all(len(set(p)) == len(p) for p in profiles)
    replaced = [p for p in profiles if p not in own]
    assert all(sum(record.owner != "ann" for record in p) == 1 for p in replaced)


@pytest.mark.lm
def test_the_command_prints_a_ratio() -> None:
    arguments = ["bench", "scoring", "--width", "1", "--actions", "1", "--naive-share", "0.05"]
    result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    measured = json.loads(result.stdout)
    assert measured["max_abs_diff"] < 1e-3
    assert measured["naive_tokens"] > measured["distinct_tokens"] > 0, "each token once"
    rates = measured["tree_profiles_per_s"], measured["naive_profiles_per_s"]
    assert min(rates) > 0  # which is higher is for an idle machine to say, not for a test
    assert measured["ratio"] == pytest.approx(rates[0] / rates[1])
