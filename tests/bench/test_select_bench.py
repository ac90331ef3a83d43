from __future__ import annotations

import dataclasses
import json
import math

import pytest

from enough.bench.selecting import SelectBench, require_same_choices, run_select_bench
from enough.bench.selecting_subjects import SelectSubject, made_up_subjects, random_controller
from enough.bench.stepwise_module import module_profile
from enough.controller.checkpoint import Trained
from enough.errors import ModelError
from enough.online.batched_controller import BatchedController
from enough.online.policy import ControllerPolicy
from enough.tasks import LAMP_TASKS
from tests.retrieval.tiny import BagEncoder


@pytest.fixture(scope="module")
def trained() -> Trained:
    return random_controller(seed=0)


@pytest.fixture(scope="module")
def subjects() -> list[SelectSubject]:
    return made_up_subjects(12, pool=5, max_records=3, tasks=list(LAMP_TASKS), dim=384, seed=0)


def check(found: SelectBench) -> None:
    values = dataclasses.asdict(found)
    assert json.loads(json.dumps(values)) == values
    for name in ("p50_ms", "p95_ms", "module_p50_ms", "ratio", "decisions_per_s"):
        assert math.isfinite(values[name]), name
        assert values[name] > 0, name
    assert found.p50_ms <= found.p95_ms
    assert found.ratio == pytest.approx(found.module_p50_ms / found.p50_ms)


def test_what_is_measured(trained: Trained, subjects: list[SelectSubject]) -> None:
    found = run_select_bench(trained, subjects, BagEncoder())
    check(found)
    assert (found.requests, found.pool, found.max_records, found.dim) == (12, 5, 3, 384)
    assert found.encode_p50_ms is not None
    assert found.encode_p50_ms > 0
    assert found.encode_reason is None


def test_without_an_encoder_it_says_why(trained: Trained, subjects: list[SelectSubject]) -> None:
    found = run_select_bench(trained, subjects[:2], "not to be had")
    check(found)
    assert (found.encode_p50_ms, found.encode_reason) == (None, "not to be had")


def test_every_step_is_paid_and_choices_vary(
    trained: Trained, subjects: list[SelectSubject]
) -> None:
    features = [subject.features() for subject in subjects]
    profiles = [module_profile(trained, one, 3) for one in features]
    assert {len(profile) for profile in profiles} == {3}
    assert len(set(profiles)) > 3
    assert {one.task for one in features} == set(LAMP_TASKS)
    tight = dataclasses.replace(features[0], room=int(features[0].tokens.min()))
    assert len(module_profile(trained, tight, 3)) == 1


def test_the_same_seed_gives_the_same_work(subjects: list[SelectSubject]) -> None:
    again = made_up_subjects(12, pool=5, max_records=3, tasks=list(LAMP_TASKS), dim=384, seed=0)
    for one, other in zip(subjects, again, strict=True):
        assert (one.request, one.budget) == (other.request, other.budget)
        assert (one.features().records == other.features().records).all()
        assert (one.features().static == other.features().static).all()


def test_different_choices_are_refused(
    trained: Trained, subjects: list[SelectSubject], monkeypatch: pytest.MonkeyPatch
) -> None:
    decide_many = BatchedController.decide_many
    monkeypatch.setattr(
        BatchedController,
        "decide_many",
        lambda self, features: [profile[::-1] for profile in decide_many(self, features)],
    )
    with pytest.raises(ModelError, match="the runtime for many"):
        run_select_bench(trained, subjects, "none")


def test_only_rounding_may_change_places(trained: Trained, subjects: list[SelectSubject]) -> None:
    trace = ControllerPolicy(trained, BagEncoder(), forced_length=3).decide(subjects[0].features())
    first, *rest = trace.profile
    other = next(place for place in range(5) if place not in trace.profile)
    with pytest.raises(ModelError, match="cannot be compared"):
        require_same_choices([trace], {"other": [(other, *rest)]})
    with pytest.raises(ModelError, match="cannot be compared"):
        require_same_choices([trace], {"other": [trace.profile[:2]]})
    trace.steps[0].values.net[other] = trace.steps[0].values.net[first]
    require_same_choices([trace], {"other": [(other, *rest)]})
