from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.generators.answer_cache import RememberingGenerator
from enough.generators.metering import Meter, MeteredGenerator, Reading
from enough.protocols import OpenGenerator, ScoredSequence, Steered, Tokens
from tests.generators.open_fake import Broken, OpenFake, Rule


def tokens(*values: int) -> Tokens:
    return np.array(values, np.int32)


def used(meter: Meter, before: Reading) -> tuple[int, int]:
    spent = meter.reading() - before
    return spent.calls, spent.prompt_tokens


def test_every_prompt_suffix_and_sequence_is_a_call() -> None:
    meter = Meter()
    metered: OpenGenerator = MeteredGenerator(OpenFake(), meter)
    assert meter.reading() == Reading(0, 0, 0.0)
    metered.generate([tokens(1, 2, 3), tokens(4)], 8)
    assert used(meter, Reading()) == (2, 4)
    before = meter.reading()
    metered.steer([Steered([tokens(1, 2), tokens(3, 4), tokens(5, 6)], Rule())], 8)[0]
    assert used(meter, before) == (3, 6)
    before = meter.reading()
    metered.attention(tokens(1, 2, 3, 4, 5), [tokens(6, 7), tokens(8)])
    assert used(meter, before) == (2, 8)  # the prefix is read once
    before = meter.reading()
    metered.score([ScoredSequence(tokens(1, 2, 3, 4), 1), ScoredSequence(tokens(1, 2), 1)])
    assert used(meter, before) == (2, 4)
    before = meter.reading()
    metered.rescore([ScoredSequence(tokens(1, 2, 3, 4), 3)])
    assert used(meter, before) == (1, 1)
    before = meter.reading()
    assert (metered.generate([], 8), metered.attention(tokens(1), [])) == ([], [])
    assert used(meter, before) == (0, 0)


def test_answers_are_those_of_the_generator() -> None:
    inner = OpenFake()
    metered = MeteredGenerator(inner, Meter())
    assert metered.generate([tokens(1, 2)], 8) == ["é3/8"]
    assert metered.steer([Steered([tokens(1, 9)], Rule())], 8)[0] == "first [1] 8"
    assert metered.attention(tokens(8), [tokens(1)])[0].tolist() == [2.0]
    told: list[int] = []
    metered.score([ScoredSequence(tokens(1, 2), 1)], lambda where, _: told.extend(where.tolist()))
    assert told == [0]
    assert (metered.fingerprint, metered.window) == (inner.fingerprint, inner.window)
    assert (metered.tokenizer, metered.batch_tokens) == (inner.tokenizer, inner.batch_tokens)


def test_generators_may_share_a_meter() -> None:
    meter = Meter()
    for generator in (OpenFake(), OpenFake()):
        MeteredGenerator(generator, meter).generate([tokens(1)], 8)
    assert meter.reading().calls == 2


def test_seconds_are_those_of_computing() -> None:
    meter = Meter()
    MeteredGenerator(OpenFake(pause=0.03), meter).generate([tokens(1)], 8)
    assert 0.03 <= meter.reading().seconds < 1.0


def test_a_remembered_answer_counts_as_if_computed(tmp_path: Path) -> None:
    readings = []
    for inner in (OpenFake(pause=0.03), Broken()):
        meter = Meter()
        metered = MeteredGenerator(RememberingGenerator(inner, tmp_path / "a"), meter)
        metered.generate([tokens(1, 2), tokens(3)], 8)
        metered.steer([Steered([tokens(1, 2), tokens(3, 4)], Rule())], 8)[0]
        metered.attention(tokens(1, 2), [tokens(3)])
        readings.append(meter.reading())
    first, again = readings
    assert (again.calls, again.prompt_tokens) == (first.calls, first.prompt_tokens) == (5, 10)
    assert first.seconds >= 3 * 0.03
    assert again.seconds == pytest.approx(first.seconds)


def test_what_fails_is_not_counted() -> None:
    meter = Meter()
    with pytest.raises(AssertionError):
        MeteredGenerator(Broken(), meter).generate([tokens(1)], 8)
    assert meter.reading() == Reading()


COUNTS = st.builds(Reading, st.integers(0, 999), st.integers(0, 999), st.integers(0, 999))


@given(before=COUNTS, used=COUNTS)
def test_a_difference_of_readings_is_what_was_used(before: Reading, used: Reading) -> None:
    meter = Meter()
    meter.add(before)
    earlier = meter.reading()
    meter.add(used)
    assert meter.reading() - earlier == used
