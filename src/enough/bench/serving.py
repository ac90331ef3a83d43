"""How fast the service selects, against its encoder alone, in the same run.

In: how many requests. Out: `ServeBench`. The service runs in a process of its own on loopback; this
one drives it, first as one client, then as many at once. Everybody is made up; every request asks
something new, so its query has to be encoded, and every user has been asked about before. What is
left of a request without the encoding of its query is the service's own time. How long queries are
decides how much the encoder has to do: those of LaMP-7 have 26 tokens, of all six tasks 55.
"""

from __future__ import annotations

import os
import platform
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import cycle

import numpy as np

from enough.bench.service_process import Driven, ServiceProcess, joined
from enough.bench.usual_batches import UsualBatches
from enough.data.logs import record_line
from enough.data.synthetic import WorldConfig, make_world
from enough.errors import DataError
from enough.records import Dataset, Request
from enough.retrieval.encoders import load_encoder
from enough.service.encoding import SharedEncoder
from enough.tasks import task_named

_HISTORY = 40  # records of a user, so that pools are full
_BATCH = 64  # queries the usual encoder is given together
_PARTS = 3  # not more: at the end of each, some clients have nothing left to ask


Question = dict[str, str | bool]
"""A body for the service."""


@dataclass(frozen=True, slots=True)
class ServeBench:
    """What one run measured; times in milliseconds.

    Attributes:
        load: processes that wanted a core when it began; more than `cores` blurs the figures.
        requests: of one client; `clients` together ask as many.
        own_p50_ms: of a request, from reading its head to its answer, without encoding the query.
        client_p50_ms: the same by the client's clock, the way there and back included.
        encode_p50_ms: of encoding one query, as the service saw it.
        one_per_s: requests per second of one client.
        many_per_s: of `clients` at once.
        encoder_per_s: queries per second of the service's encoder alone, as many waiting as there
            are clients, in turn with them.
        ratio: many_per_s over encoder_per_s.
        usual_per_s: the same of the encoder as transformers runs it, in padded batches.
        usual_ratio: many_per_s over usual_per_s.
        many_p50_ms: of a request among many, by the client's clock, waiting included.
        many_cpu_ms: of the service's processor time for one of these, its encoding included.
        client_cpu_ms: of this process's, which it takes from the same cores.
        memory_before_mb: of the service when everybody had been asked about once.
        memory_after_mb: after the requests of one and of many.
        endurance: further requests of `clients`, after all that.
        endurance_per_s: of these per second; 0 without any.
        endurance_mb: memory before them and after each quarter; empty without any.
        failures: answers that were not 200, these included; there should be none.
    """

    cores: int
    load: float
    python: str
    tasks: tuple[str, ...]
    users: int
    pool: int
    requests: int
    clients: int
    own_p50_ms: float
    own_p95_ms: float
    client_p50_ms: float
    client_p95_ms: float
    encode_p50_ms: float
    one_per_s: float
    many_per_s: float
    encoder_per_s: float
    ratio: float
    usual_per_s: float
    usual_ratio: float
    many_p50_ms: float
    many_p95_ms: float
    many_cpu_ms: float
    client_cpu_ms: float
    memory_before_mb: float
    memory_after_mb: float
    endurance: int
    endurance_per_s: float
    endurance_mb: tuple[float, ...]
    failures: int


def run_serve_bench(
    requests: int,
    *,
    clients: int = 16,
    users: int = 16,
    tasks: Sequence[str] = (),
    endurance: int = 0,
    seed: int = 0,
) -> ServeBench:
    """Start a service, fill it, ask it, and stop it.

    Args:
        requests: of one client, and of all clients together.
        clients: at once.
        users: made up, at least so many, as many of each task, with 40 records each.
        tasks: whose schemas they have; all six without any.
        endurance: further requests of all clients, for failures and memory alone.
        seed: of the made-up world.
    """
    load = os.getloadavg()[0]
    chosen = tuple(dict.fromkeys(tasks)) or WorldConfig().tasks
    each = -(-users // len(chosen))
    world = WorldConfig(seed=seed, users=each, history=(_HISTORY, _HISTORY), tasks=chosen)
    datasets = list(make_world(world).datasets.values())
    asked = each * len(chosen)
    with ServiceProcess() as service:
        for dataset in datasets:
            for user, history in dataset.histories.items():
                lines = [record_line(record, dataset.task) for record in history]
                body = {"task": dataset.task.name, "records": lines}
                service.post(f"/v1/users/{user}/records", body)
        measured = 2 * requests + asked
        questions = _questions(datasets, measured + endurance)
        pools = [len(service.explained(one)) for one in questions[:asked]]
        before = service.memory_mb()
        one = service.ask(questions[asked : asked + requests], clients=1)
        many, alone, usual = _in_turn(service, questions[asked + requests : measured], clients)
        after = service.memory_mb()
        lasting, held = _lasting(service, questions[measured:], clients)
    if not one.answers or not many.answers:
        raise DataError("the service answered nothing; ask it by hand with `enough serve`")
    own = [answer.total_ms - answer.encode_ms for answer in one.answers]
    outside = [answer.client_ms - answer.encode_ms for answer in one.answers]
    waited = [answer.client_ms for answer in many.answers]
    return ServeBench(
        cores=os.cpu_count() or 1,
        load=load,
        python=platform.python_version(),
        tasks=chosen,
        users=asked,
        pool=min(pools),
        requests=requests,
        clients=clients,
        own_p50_ms=_at(own, 50),
        own_p95_ms=_at(own, 95),
        client_p50_ms=_at(outside, 50),
        client_p95_ms=_at(outside, 95),
        encode_p50_ms=_at([answer.encode_ms for answer in one.answers], 50),
        one_per_s=len(one.answers) / one.seconds,
        many_per_s=len(many.answers) / many.seconds,
        encoder_per_s=alone,
        ratio=len(many.answers) / many.seconds / alone,
        usual_per_s=usual,
        usual_ratio=len(many.answers) / many.seconds / usual,
        many_p50_ms=_at(waited, 50),
        many_p95_ms=_at(waited, 95),
        memory_before_mb=before,
        many_cpu_ms=many.service_cpu_s / len(many.answers) * 1000,
        client_cpu_ms=many.client_cpu_s / len(many.answers) * 1000,
        memory_after_mb=after,
        endurance=endurance,
        endurance_per_s=len(lasting.answers) / lasting.seconds if endurance else 0.0,
        endurance_mb=held,
        failures=one.failures + many.failures + lasting.failures,
    )


def _questions(datasets: Sequence[Dataset], count: int) -> list[Question]:
    """Every user in turn, every text once: a query that was asked before need not be encoded."""
    per_task: list[list[Request]] = []
    for dataset in datasets:
        requests = [example.request for split in dataset.splits.values() for example in split]
        requests.sort(key=lambda request: request.id)
        per_task.append(list({request.user: request for request in requests}.values()))
    everybody = [request for some in zip(*per_task, strict=True) for request in some]
    return [
        {
            "task": request.task.name,
            "user": request.user,
            "input": f"{request.input} {number}",
            "explain": False,
        }
        for number, request in zip(range(count), cycle(everybody), strict=False)
    ]


def _in_turn(
    service: ServiceProcess, questions: Sequence[Question], clients: int
) -> tuple[Driven, float, float]:
    """The service, its encoder alone and the usual one, a part each in turn, and their rates.

    What else runs here hits all of them.
    """
    encoder, usual = SharedEncoder(load_encoder()), UsualBatches(_BATCH)
    queries = [task_named(str(one["task"])).query_of(str(one["input"])) for one in questions]
    _alone(encoder, queries[:clients], clients)
    usual.seconds(queries[:2])
    parts: list[Driven] = []
    alone_s = usual_s = 0.0
    size = max(clients, -(-len(questions) // _PARTS))
    for start in range(0, len(questions), size):
        some = queries[start : start + size]
        alone_s += _alone(encoder, some, clients)
        usual_s += usual.seconds(some)
        parts.append(service.ask(questions[start : start + size], clients))
    encoder.close()
    return joined(parts), len(queries) / alone_s, len(queries) / usual_s


def _alone(encoder: SharedEncoder, queries: Sequence[str], waiting: int) -> float:
    """Seconds to encode all of them as the service does, so many waiting, and nothing else."""
    began = time.perf_counter()
    asked: deque[Future[None]] = deque()
    for query in queries:
        if len(asked) == waiting:
            asked.popleft().result()
        asked.append(encoder.follow(query, "query", lambda _: None))
    while asked:
        asked.popleft().result()
    return time.perf_counter() - began


def _lasting(
    service: ServiceProcess, questions: Sequence[Question], clients: int
) -> tuple[Driven, tuple[float, ...]]:
    """All questions in four parts, and the service's memory before and after each."""
    if not questions:
        return joined([]), ()
    held, parts = [service.memory_mb()], []
    size = -(-len(questions) // 4)
    for start in range(0, len(questions), size):
        parts.append(service.ask(questions[start : start + size], clients))
        held.append(service.memory_mb())
    return joined(parts), tuple(held)


def _at(values: Sequence[float], percent: float) -> float:
    return float(np.percentile(values, percent))
