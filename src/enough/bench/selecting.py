"""How long a decision takes, against the training module making the same one.

In: a controller and requests whose vectors are known. Out: `SelectBench`. Three ways to the same
profiles, no step spared (every profile is forced to the horizon): the policy, one request at a
time; the training module, one request at a time; the runtime for many requests. A decision begins
with vectors and ends with a profile, so features are in the time of the first two; the third begins
with features. Encoding a request is timed by itself.

Every way is timed in several rounds over the requests (the slow ones over some of them), and the
round with the lowest median counts: other processes can only add time.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import torch

from enough.bench.selecting_subjects import SelectSubject
from enough.bench.stepwise_module import module_profile
from enough.controller.checkpoint import Trained
from enough.controller.optimisation import one_thread
from enough.errors import EnoughError, ModelError
from enough.online.batched_controller import BatchedController
from enough.online.policy import ControllerPolicy, Trace
from enough.prompts.profile_sequences import Profile
from enough.protocols import Encoder, Floats
from enough.retrieval.encoders import load_encoder

_ROUNDS, _WARM_UP = 10, 20
_SLOW = 50  # requests for what takes milliseconds
_PATIENCE = 20.0  # seconds; no further round after them
_ROUNDING = 1e-5  # of net values; records this close may change places

Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class SelectBench:
    """What one run measured.

    Attributes:
        load: processes that wanted a core when it began; more than `cores` blurs the figures.
        p50_ms: of a decision of the policy, features included.
        module_p50_ms: the same of the training module.
        ratio: module_p50_ms over p50_ms.
        decisions_per_s: profiles per second of the runtime for many requests.
        encode_p50_ms: of encoding a request's query; None where there is no encoder.
        encode_reason: why there is none.
    """

    device: str
    cores: int
    load: float
    python: str
    numpy: str
    torch: str
    requests: int
    pool: int
    max_records: int
    dim: int
    parameters: int
    rounds: int
    p50_ms: float
    p95_ms: float
    module_p50_ms: float
    ratio: float
    decisions_per_s: float
    encode_p50_ms: float | None
    encode_reason: str | None


def encoder_or_reason() -> Encoder | str:
    """The default encoder, or why it cannot be had."""
    try:
        return load_encoder()
    except EnoughError as error:
        return str(error)


def run_select_bench(
    trained: Trained, subjects: Sequence[SelectSubject], encoder: Encoder | str
) -> SelectBench:
    """Check that all three ways choose the same, then time them.

    Args:
        trained: the controller.
        subjects: with the same pool size and horizon.
        encoder: for the queries, or why there is none.

    Raises:
        ModelError: if two ways choose differently by more than rounding.
    """
    with one_thread():  # more would wait for each other, most of all on a busy machine
        return _timed(trained, subjects, encoder)


def _timed(
    trained: Trained, subjects: Sequence[SelectSubject], encoder: Encoder | str
) -> SelectBench:
    load = os.getloadavg()[0]
    length = subjects[0].budget.max_records
    policy = ControllerPolicy(trained, _NoEncoder(), forced_length=length)
    batched = BatchedController(trained, forced_length=length)
    features = [subject.features() for subject in subjects]
    require_same_choices(
        [policy.decide(one) for one in features],
        {
            "the training module": [module_profile(trained, one, length) for one in features],
            "the runtime for many": batched.decide_many(features),
        },
    )
    p50, p95 = _times(lambda one: policy.decide(one.features()), subjects)
    module_p50, _ = _times(
        lambda one: module_profile(trained, one.features(), length), subjects[:_SLOW]
    )
    many = min(_seconds(batched.decide_many, features) for _ in range(2 * _ROUNDS))
    encode_p50 = None
    if not isinstance(encoder, str):
        queries = [subject.request.query for subject in subjects[:_SLOW]]
        encode_p50, _ = _times(lambda query: encoder.encode([query], "query"), queries)
    return SelectBench(
        device=f"{platform.machine()} CPU",
        cores=os.cpu_count() or 1,
        load=load,
        python=platform.python_version(),
        numpy=np.__version__,
        torch=torch.__version__,
        requests=len(subjects),
        pool=len(subjects[0].portraits),
        max_records=length,
        dim=trained.model.config.dim,
        parameters=sum(parameter.numel() for parameter in trained.model.parameters()),
        rounds=_ROUNDS,
        p50_ms=p50,
        p95_ms=p95,
        module_p50_ms=module_p50,
        ratio=module_p50 / p50,
        decisions_per_s=len(subjects) / many,
        encode_p50_ms=encode_p50,
        encode_reason=encoder if isinstance(encoder, str) else None,
    )


def require_same_choices(traces: Sequence[Trace], others: dict[str, list[Profile]]) -> None:
    """Refuse to compare times of different work; values within rounding are a tie."""
    for name, profiles in others.items():
        for number, (trace, profile) in enumerate(zip(traces, profiles, strict=True)):
            if profile == trace.profile:
                continue
            pairs = zip(trace.steps, trace.profile, profile, strict=False)
            first = next(((step, a, b) for step, a, b in pairs if a != b), None)
            if first is not None:
                net = first[0].values.net[list(first[1:])]
                if np.isclose(net[0], net[1], rtol=_ROUNDING, atol=_ROUNDING):
                    continue
            raise ModelError(
                f"request {number}: the policy chose {trace.profile}, {name} {profile}; "
                "times of different choices cannot be compared"
            )


class _NoEncoder:
    """Stands where an encoder would: all vectors are known."""

    fingerprint = ""

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        raise AssertionError("all vectors are known: nothing is encoded while decisions are timed")


def _times(way: Callable[[Subject], object], subjects: Sequence[Subject]) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds, of the round with the lowest median."""
    for subject in subjects[:_WARM_UP]:
        way(subject)
    rounds: list[tuple[float, float]] = []
    started = time.perf_counter()
    while len(rounds) < _ROUNDS and (not rounds or time.perf_counter() - started < _PATIENCE):
        seconds = [_seconds(way, subject) for subject in subjects]
        rounds.append((float(np.median(seconds)) * 1e3, float(np.percentile(seconds, 95)) * 1e3))
    return min(rounds)


def _seconds(way: Callable[[Subject], object], subject: Subject) -> float:
    started = time.perf_counter()
    way(subject)
    return time.perf_counter() - started
