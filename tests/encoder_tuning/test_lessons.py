"""What single records are worth: equal to scoring them by hand, whatever the generator's window."""

from __future__ import annotations

import numpy as np
import pytest

from enough.encoder_tuning.lessons import Lesson, by_user, in_units, rate, typical_gains
from enough.generators.fake import FakeGenerator
from enough.prompts.prompter import Prompter
from enough.prompts.serialise import record_text
from tests.tuning.toys import toy_pools


def lesson(task: str, user: str, gains: list[float]) -> Lesson:
    return Lesson(task, user, "q", tuple(map(str, range(len(gains)))), np.array(gains, np.float32))


def test_a_gain_is_the_likelihood_with_the_record_less_that_without() -> None:
    generator, pools = FakeGenerator(), toy_pools(users=70)  # more than are scored together
    found = rate("Toy", pools, generator)
    assert [one.user for one in found] == [pooled.example.request.user for pooled in pools]
    prompter = Prompter(generator.tokenizer)
    for one, pooled in zip(found, pools, strict=True):
        records = [candidate.record for candidate in pooled.pool]
        empty, *alone = generator.score(
            [
                prompter.sequence(pooled.example),
                *(prompter.sequence(pooled.example, [record]) for record in records),
            ]
        )
        assert one.records == tuple(map(record_text, records))
        np.testing.assert_allclose(one.gains, np.array(alone) - empty, rtol=1e-6)
    assert max(float(one.gains.max()) for one in found) > 0


def test_what_does_not_fit_the_window_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = FakeGenerator()
    (pooled,) = toy_pools(users=1)
    prompter = Prompter(generator.tokenizer)
    longest = max(
        len(prompter.sequence(pooled.example, [candidate.record]).tokens)
        for candidate in pooled.pool
    )
    shortest = len(prompter.sequence(pooled.example).tokens)
    monkeypatch.setattr(generator, "window", longest, raising=False)
    assert len(rate("Toy", [pooled], generator)[0].gains) == len(pooled.pool)
    monkeypatch.setattr(generator, "window", shortest, raising=False)
    assert rate("Toy", [pooled], generator) == []


def test_units_are_root_mean_squares_of_each_task() -> None:
    lessons = [lesson("A", "u", [3, 0]), lesson("A", "v", [0, 4]), lesson("B", "u", [0, 0])]
    units = typical_gains(lessons)
    assert units == {"A": pytest.approx(2.5), "B": 1.0}
    assert in_units(lessons, units)[1].gains.tolist() == pytest.approx([0, 1.6])


def test_users_of_two_tasks_are_two() -> None:
    lessons = [lesson("A", "u", [1]), lesson("B", "u", [2]), lesson("A", "u", [3])]
    assert by_user(lessons) == [[lessons[0], lessons[2]], [lessons[1]]]
