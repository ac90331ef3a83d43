"""One encoder for everybody: what waits goes together, who is urgent goes first."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Literal

import numpy as np
import pytest

from enough.controller.portraits import portray
from enough.errors import ModelError
from enough.generators.fake import FakeTokenizer
from enough.prompts.prompter import Prompter
from enough.protocols import Floats, ThreadedEncoder
from enough.retrieval.encoders import load_encoder
from enough.service.encoding import SharedEncoder, _Job
from enough.service.memories import Memories, RememberedEncoder, remember
from tests.conftest import make_record
from tests.retrieval.tiny import BagEncoder


class HeldEncoder(BagEncoder):
    """Waits in its first call until it is let go, and keeps what came together."""

    is_symmetric, is_normalised, batch_rows, lanes = False, False, 4, 1

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[tuple[str, ...]] = []
        self.is_working, self.may_go = threading.Event(), threading.Event()

    def start_threads(self, work: Any) -> list[threading.Thread]:
        return [in_background(work)]

    def encode_here(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        self.batches.append(tuple(texts))
        self.is_working.set()
        assert self.may_go.wait(10)
        if "bad" in texts:
            raise ValueError("bad text")
        return BagEncoder.encode(self, texts, kind)


def in_background(work: Any, *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def waiting(shared: SharedEncoder, urgent: int, patient: int) -> None:
    for _ in range(2000):
        if (len(shared._urgent), len(shared._patient)) == (urgent, patient):
            return
        threading.Event().wait(0.001)
    raise AssertionError((len(shared._urgent), len(shared._patient)))


def test_what_waits_goes_together_and_the_patient_in_portions() -> None:
    inner = HeldEncoder()
    shared = SharedEncoder(inner)
    found: dict[str, Floats] = {}

    def ask(text: str) -> None:
        found[text] = shared.encode([text], "query")

    first = in_background(ask, "w0")
    assert inner.is_working.wait(10)
    records = [f"w{number} late" for number in range(10)]
    stored: list[Floats] = []
    patient = in_background(lambda: stored.append(shared.patient.encode(records, "document")))
    waiting(shared, 0, 1)
    others = [in_background(ask, f"w{number}") for number in (1, 2, 3)]
    waiting(shared, 3, 1)
    inner.may_go.set()
    for thread in (first, patient, *others):
        thread.join(10)
    assert inner.batches[0] == ("w0",)  # a lone request did not wait for company
    assert sorted(inner.batches[1]) == ["w1", "w2", "w3"]
    assert inner.batches[2:] == [tuple(records[i : i + 4]) for i in (0, 4, 8)]
    for text, vectors in found.items():
        assert (vectors == BagEncoder().encode([text], "query")).all()
    assert (stored[0] == BagEncoder().encode(records, "document")).all()
    shared.close()
    with pytest.raises(ModelError, match="going down"):
        shared.encode(["w1"], "query")


def test_who_asks_for_much_lets_others_pass() -> None:
    inner = HeldEncoder()
    shared = SharedEncoder(inner)
    many = [f"w{number}" for number in range(10)]
    found: list[Floats] = []
    first = in_background(lambda: found.append(shared.encode(many, "document")))
    assert inner.is_working.wait(10)
    other = in_background(lambda: shared.encode(["late"], "document"))
    waiting(shared, 1, 0)
    inner.may_go.set()
    first.join(10)
    other.join(10)
    place = next(i for i, batch in enumerate(inner.batches) if "late" in batch)
    assert place == 1 and len(inner.batches) >= 3
    assert (found[0] == BagEncoder().encode(many, "document")).all()
    shared.close()


def test_an_error_reaches_those_who_asked_and_nobody_else() -> None:
    inner = HeldEncoder()
    inner.may_go.set()
    shared = SharedEncoder(inner)
    with pytest.raises(ValueError, match="bad text"):
        shared.encode(["bad"], "query")
    assert shared.encode(["w1"], "query").shape == (1, 64)
    shared.close()


def encoded(shared: SharedEncoder, count: int) -> None:
    """Wait until so many are to be followed up."""
    for _ in range(2000):
        if len(shared._encoded) == count:
            return
        threading.Event().wait(0.001)
    raise AssertionError(len(shared._encoded))


class HeldCores(HeldEncoder):
    """The same with one core, a text at a time."""

    batch_rows = 1


def test_what_waits_is_followed_up_in_a_row_and_told_of_together() -> None:
    inner = HeldCores()
    shared = SharedEncoder(inner)
    assert shared.is_on_cores
    done: list[str] = []
    told_at: dict[str, int] = {}

    def follow(text: str) -> Future[int]:
        def then(vector: Floats) -> int:
            assert (vector == BagEncoder().encode([text], "query")[0]).all()
            if text == "wrong":
                raise KeyError(text)
            more = shared.encode([f"{text} more"], "document")  # in its own thread, at once
            assert (more == BagEncoder().encode([f"{text} more"], "document")).all()
            done.append(text)
            return len(done)

        asked = shared.follow(text, "query", then)
        asked.add_done_callback(lambda _: told_at.setdefault(text, len(done)))
        return asked

    first = follow("w0")
    assert inner.is_working.wait(10)
    given_up = follow("given up")
    others = [follow(text) for text in ("w1", "wrong", "w2")]
    assert given_up.cancel()
    inner.may_go.set()
    assert first.result(10) == 1
    assert [others[0].result(10), others[2].result(10)] == [2, 3]
    with pytest.raises(KeyError):
        others[1].result(10)
    assert inner.batches[0] == ("w0",) and inner.batches[2] == ("w1", "wrong", "w2")
    assert told_at == {"given up": 0, "w0": 1, "w1": 3, "wrong": 3, "w2": 3}
    shared.close()


def test_a_core_takes_its_share_and_not_more_than_six() -> None:
    inner = HeldCores()
    shared = SharedEncoder(inner)
    asked = [shared.follow("w0", "query", lambda _: None)]
    assert inner.is_working.wait(10)
    asked += [shared.follow(f"w{number}", "query", lambda _: None) for number in range(1, 11)]
    inner.may_go.set()
    for one in asked:
        one.result(10)
    assert [len(batch) for batch in inner.batches] == [1, 6, 4]
    shared.close()


class TwoCores(BagEncoder):
    """Encodes at once, a text at a time, in two threads."""

    is_symmetric, is_normalised, batch_rows, lanes = False, False, 1, 2
    encode_here = BagEncoder.encode

    def start_threads(self, work: Any) -> list[threading.Thread]:
        return [in_background(work), in_background(work)]


def test_threads_with_nothing_to_do_share_what_comes() -> None:
    class Gathering(TwoCores):
        """Two threads that begin when all texts are there, and wait for each other."""

        def __init__(self) -> None:
            super().__init__()
            self.both, self.rows = threading.Barrier(2), []  # type: ignore[var-annotated]

        def encode_here(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
            self.rows.append(len(texts))
            self.both.wait(10)
            return BagEncoder.encode(self, texts, kind)

    inner = Gathering()
    shared = SharedEncoder(inner)
    with shared._wake:
        results: list[Future[Any]] = [Future() for _ in range(4)]
        jobs = [_Job([f"w{n}"], "query", one, np.sum) for n, one in enumerate(results)]
        while shared._resting < 2:
            shared._wake.wait(0.01)
        shared._urgent.extend(jobs)
        shared._wake.notify_all()
    for one in results:
        one.result(10)
    assert inner.rows == [2, 2]
    shared.close()


def test_who_is_following_up_takes_the_others_along_unless_they_are_many() -> None:
    shared = SharedEncoder(TwoCores())
    is_held, may_go = threading.Event(), threading.Event()

    def slow(_: Floats) -> int:
        is_held.set()
        assert may_go.wait(10)
        return threading.get_ident()

    def quick(_: Floats) -> int:
        return threading.get_ident()

    held = shared.follow("w0", "query", slow)
    assert is_held.wait(10)
    few = []
    for number in range(6):  # the other thread encodes all of them, and goes on
        few.append(shared.follow(f"w{number}", "query", quick))
        encoded(shared, number + 1)
    assert not any(one.done() for one in few)
    many = shared.follow("w7", "query", quick)
    many.result(10)
    assert {one.result(10) for one in few} == {many.result(10)}
    one_more = shared.follow("w8", "query", quick)
    encoded(shared, 1)
    may_go.set()
    assert one_more.result(10) == held.result(10) != many.result(10)
    shared.close()


def test_nobody_fails_for_the_text_of_another() -> None:
    inner = HeldCores()
    shared = SharedEncoder(inner)
    first = shared.follow("w0", "query", np.sum)
    assert inner.is_working.wait(10)
    others = [shared.follow(text, "query", np.sum) for text in ("w1", "bad", "w2 w3")]
    inner.may_go.set()
    assert [one.result(10) for one in (first, others[0], others[2])] == [1, 1, 2]
    with pytest.raises(ValueError, match="bad text"):
        others[1].result(10)
    shared.close()


def test_an_encoder_that_says_nothing_of_threads_has_one() -> None:
    shared = SharedEncoder(BagEncoder())
    texts = [f"w{number}" for number in range(100)]
    assert (shared.encode(texts, "document") == BagEncoder().encode(texts, "document")).all()
    assert not shared.is_symmetric
    shared.close()


def test_the_default_encoder_says_how_it_is_shared() -> None:
    encoder = load_encoder()
    assert isinstance(encoder, ThreadedEncoder)
    assert encoder.is_symmetric


class LanedEncoder(HeldEncoder):
    """One text in each of two threads, as on a CPU; `encode` alone must not be asked."""

    batch_rows, lanes = 1, 2

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[threading.Thread] = []
        self.together = threading.Barrier(2)

    def start_threads(self, work: Any) -> list[threading.Thread]:
        self.threads = [in_background(work) for _ in range(self.lanes)]
        return self.threads

    def encode_here(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        assert threading.current_thread() in self.threads
        if any(text.startswith("pair") for text in texts):
            self.together.wait(10)  # gets here only with another beside it
        return super().encode_here(texts, kind)

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        raise AssertionError("outside of its threads")


def test_an_encoder_of_single_texts_has_a_thread_for_each_core() -> None:
    inner = LanedEncoder()
    inner.may_go.set()
    shared = SharedEncoder(inner)
    records = [f"pair w{number}" for number in range(6)]
    found = shared.patient.encode(records, "document")
    assert (found == BagEncoder().encode(records, "document")).all()
    assert sorted(inner.batches) == [(text,) for text in records]
    others = [in_background(shared.encode, [f"pair w{number}"], "query") for number in range(2)]
    for thread in others:
        thread.join(10)
    assert len(inner.batches) == 8
    assert shared.encode([], "query").shape == (0, 64)
    shared.close()
    assert not any(thread.is_alive() for thread in inner.threads)


def test_whoever_stores_much_does_not_hold_up_requests_in_any_thread() -> None:
    inner = LanedEncoder()
    shared = SharedEncoder(inner)
    storing = in_background(shared.patient.encode, [f"w{n} late" for n in range(9)], "document")
    for _ in range(2000):
        if len(inner.batches) == 2:
            break
        threading.Event().wait(0.001)
    waiting(shared, 0, 0)  # both threads hold one, and no more than these are asked for
    asking = in_background(shared.encode, ["w1"], "query")
    waiting(shared, 1, 0)
    inner.may_go.set()
    asking.join(10)
    storing.join(10)
    assert inner.batches.index(("w1",)) in (2, 3)
    shared.close()


def vector(number: float) -> Floats:
    return np.full(100, number, np.float32)


def test_memories_are_bounded_apart_and_dropped_whole() -> None:
    memories = Memories(Prompter(FakeTokenizer()), 60_000)
    ann, bob = memories.of("shop", "ann"), memories.of("other", "ann")
    assert ann is memories.of("shop", "ann") and ann is not bob
    assert ann.prompter is not bob.prompter
    memories.add(ann, {b"1": vector(1)})
    assert bob.vectors == {}
    used = memories.size
    memories.drop("shop", "ann")
    memories.add(ann, {b"2": vector(2)})  # a request that was under way
    assert memories.of("shop", "ann").vectors == {}
    assert memories.size == used - 100 * 4 - 1000
    for number in range(100):
        other = memories.of("shop", f"user {number}")
        memories.add(other, {b"1": vector(number)})
        assert memories.size <= 60_000
    assert memories.of("other", "ann") is not bob  # long unused, it had to go
    memories.forget_idle()
    assert memories.size > 0
    memories._idle_s = -1
    memories.forget_idle()
    assert memories.size == 0


def test_portraits_of_records_are_counted_each_by_its_size() -> None:
    memories = Memories(Prompter(FakeTokenizer()), 60_000)
    ann = memories.of("shop", "ann")
    before = memories.size
    short, long = make_record(1, context="a"), make_record(2, context=" ".join(map(str, range(99))))
    portray([short], BagEncoder(), ann.portraits)
    memories.recount(ann)
    once = memories.size
    portray([short, long], BagEncoder(), ann.portraits)
    memories.recount(ann)
    assert memories.size - once - (once - before) >= 8 * 90  # its words
    counted = memories.size
    memories.recount(ann)
    assert memories.size == counted
    memories.drop("shop", "ann")
    assert memories.size == counted - ann.size == 0


def test_a_capacity_of_nothing_still_works() -> None:
    memories = Memories(Prompter(FakeTokenizer()), 0)
    shared = SharedEncoder(BagEncoder())
    memory = memories.of("shop", "ann")
    remember(memories, memory, ["w1", "w2", "w1"], shared)
    query = BagEncoder().encode(["w9"], "query")[0]
    encoder = RememberedEncoder(shared, memories, memory, ("w9", query))
    texts = ["w3", "w1", "w3", "w9"]
    assert (encoder.encode(texts, "document") == BagEncoder().encode(texts, "document")).all()
    assert (encoder.encode(["w9"], "query")[0] == query).all()
    assert memories.size == 0
    shared.close()


def test_the_text_of_a_request_is_not_kept() -> None:
    memories = Memories(Prompter(FakeTokenizer()), 1_000_000)
    inner = BagEncoder()
    shared = SharedEncoder(inner)
    memory = memories.of("shop", "ann")
    encoder = RememberedEncoder(shared, memories, memory, ("w9", vector(9)))
    for _ in range(2):
        encoder.encode(["w1", "w9"], "document")
    assert inner.seen == ["w1", "w9", "w9"]  # asked again for the request's, whose kinds differ
    assert len(memory.vectors) == 1
    shared.is_symmetric = True
    assert (encoder.encode(["w9"], "document")[0] == vector(9)).all()
    shared.close()
