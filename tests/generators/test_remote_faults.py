"""Servers that fail: a tenth of all requests, for a while, or for good."""

from __future__ import annotations

import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from enough.errors import ModelError
from enough.generators.remote.config import DialectName, RemoteConfig
from enough.generators.remote.faults import asked_wait
from enough.generators.remote.generator import DIALECTS, RemoteGenerator
from enough.labels.scoring_calls import CallReport
from enough.labels.workers import Processes
from enough.labels.workplace import Event
from tests.generators.test_remote import profiles
from tests.generators.toy_server import (
    MODEL,
    WINDOW,
    FaultKind,
    ToyGenerator,
    ToyServer,
    listening,
    toy_remote,
)
from tests.labels.runs import digest, small_config, small_run, small_stages

KINDS: tuple[FaultKind, ...] = ("500", "busy", "slow", "cut", "reset", "garbled", "short")
PROBES = 6  # scoring requests of the checks at the start


def a_tenth(number: int) -> FaultKind | None:
    """Every tenth request fails, each in another way."""
    return KINDS[number // 10 % len(KINDS)] if number % 10 == 0 else None


def connected(server: ToyServer, port: int, dialect: DialectName = "sglang") -> RemoteGenerator:
    config = RemoteConfig(
        f"http://127.0.0.1:{port}", dialect, concurrency=4, timeout=1.0, pause=0.01
    )
    return RemoteGenerator(MODEL, config, server.tokenizer, WINDOW)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_scores_survive_a_tenth_of_failures(dialect: DialectName) -> None:
    server = ToyServer(fault=a_tenth)
    sequences = profiles(server.tokenizer, 160)
    told: list[int] = []
    with listening(server) as port:
        remote = connected(server, port, dialect)
        scores = remote.score(sequences, lambda where, _: told.extend(where.tolist()))
    np.testing.assert_array_equal(scores, ToyGenerator(server.tokenizer).score(sequences))
    assert sorted(told) == list(range(160))  # nothing is announced twice
    assert set(server.seen) == set(KINDS)
    # What a shortened echo has lost is the token that was written after the prompt: no harm done.
    harmless = server.seen["short"] if dialect == "openai" else 0
    assert remote.client.faults >= sum(server.seen.values()) - harmless > 15


def label(folder: Path, server: ToyServer) -> list[Event]:
    events: list[Event] = []
    config = small_config()
    with listening(server) as port:
        small_run(folder, config).run(
            partial(small_stages, config),
            lambda: connected(server, port),
            Processes(1),
            events.append,
        )
    return events


def counted(events: list[Event]) -> tuple[int, int]:
    calls = [event for event in events if isinstance(event, CallReport)]
    return len(calls), sum(call.profiles for call in calls)


def test_labels_are_the_same_bytes_whatever_fails_on_the_way(tmp_path: Path) -> None:
    calm, rough = ToyServer(), ToyServer(fault=a_tenth)
    undisturbed = label(tmp_path / "calm", calm)
    disturbed = label(tmp_path / "rough", rough)
    assert rough.seen
    assert digest(tmp_path / "rough") == digest(tmp_path / "calm")
    # Teacher calls are counted once, however often they were made.
    assert counted(disturbed) == counted(undisturbed)
    # And nothing else was asked for.
    assert {str(body) for body in rough.bodies} == {str(body) for body in calm.bodies}


def test_a_server_that_restarts_is_waited_for() -> None:
    server = ToyServer()
    sequences = profiles(server.tokenizer, 400)
    scores: list[np.ndarray] = []
    with listening(server) as port:
        remote = connected(server, port)
        thread = threading.Thread(target=lambda: scores.append(remote.score(sequences)))
        thread.start()
        while server.asked < PROBES + 20:
            time.sleep(0.005)
    assert thread.is_alive()  # the server is gone, the client waits
    time.sleep(0.1)
    with listening(server, port):
        thread.join()
    np.testing.assert_array_equal(scores[0], ToyGenerator(server.tokenizer).score(sequences))
    assert remote.client.faults > 0


def test_a_server_that_stays_away_is_given_up() -> None:
    server = ToyServer(fault=lambda number: "500" if number > PROBES else None)
    remote = toy_remote("sglang", server, attempts=3)
    with pytest.raises(ModelError, match="failed 3 times, at last: HTTP 500"):
        remote.score(profiles(server.tokenizer, 2))


def test_retries_are_a_budget_of_the_whole_run() -> None:
    server = ToyServer(fault=lambda number: "cut" if number > PROBES and number % 2 else None)
    remote = toy_remote("vllm", server, retries=5)
    sequences = profiles(server.tokenizer, 4)
    remote.score(sequences)
    with pytest.raises(ModelError, match="more than retries = 5 allows"):
        for _ in range(5):
            remote.score(sequences)
    assert remote.client.faults == 6


def test_a_server_that_is_not_there_is_said_so() -> None:
    config = RemoteConfig("http://127.0.0.1:9", attempts=2, pause=0.0)
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9/model_info: failed 2 times.*server up\?"):
        RemoteGenerator(MODEL, config, ToyServer().tokenizer, WINDOW)


def test_what_was_scored_before_the_end_has_been_announced() -> None:
    server = ToyServer(fault=lambda number: "500" if number > PROBES + 3 else None)
    remote = toy_remote("sglang", server, attempts=2, concurrency=1)
    told: list[int] = []
    with pytest.raises(ModelError):
        remote.score(profiles(server.tokenizer, 6), lambda where, _: told.extend(where.tolist()))
    assert len(told) == 3


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("2.5", 2.5), ("-1", 0.0), ("99999", 600.0), ("soon", None), ("nan", None), ("", None)],
)
def test_retry_after_is_read(said: str, seconds: float | None) -> None:
    assert asked_wait({"retry-after": said}) == seconds


def test_retry_after_may_be_a_date() -> None:
    assert asked_wait({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0


def test_the_server_decides_how_long_to_wait() -> None:
    server = ToyServer(fault=lambda number: "busy" if number == PROBES + 1 else None)
    remote = toy_remote("sglang", server)
    asked: list[float] = []
    client = remote.client
    pause = client._pause
    client._pause = lambda *given: asked.append(pause(*given)) or 0.0  # type: ignore[method-assign, func-returns-value]
    remote.score(profiles(server.tokenizer, 1))
    assert asked == [0.0]
