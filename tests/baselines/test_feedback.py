"""What a record is worth, by likelihood and by metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from enough.baselines.feedback import rate_profiles, rate_records
from enough.baselines.feedback_metrics import leading_metric
from enough.errors import ConfigError, ModelError
from enough.protocols import OnBatch, ScoredSequence
from enough.tasks import LAMP_TASKS
from tests.baselines.lessons import CountingFake, Steps, lesson
from tests.baselines.stand_ins import OpenFake, make_tools


def test_likelihood_is_the_gain_over_the_empty_profile() -> None:
    tools = make_tools()
    (rated,) = rate_records([lesson(0, tools)], "likelihood", tools)
    # The fake gives a reference token in the prompt log 0.5, any other log 0.01.
    np.testing.assert_allclose(rated.worth, [0, 0, 0, math.log(0.5) - math.log(0.01)])
    assert rated.pool == rated.lesson.asked.pool


def test_the_metric_of_the_answer_each_record_leads_to() -> None:
    tools = make_tools()
    (rated,) = rate_records([lesson(0, tools)], "metric", tools)
    np.testing.assert_array_equal(rated.worth, [0, 0, 0, 1])


def test_all_lessons_in_one_call_and_equal_profiles_once() -> None:
    generator, steps = CountingFake(), Steps()
    tools = make_tools(generator)
    lessons = [lesson(number, tools, 3) for number in (0, 1, 0)]
    rate_records(lessons, "likelihood", tools, steps)
    contexts = {
        (one.asked.request.input, c.record.context, c.record.date)
        for one in lessons
        for c in one.asked.pool
    }
    assert generator.scored == [len(contexts) + 1]
    assert steps.told[-1][1:] == (len(contexts) + 1,) * 2


def test_a_record_that_does_not_fit_is_no_candidate() -> None:
    roomy = make_tools()
    asked = lesson(0, roomy).asked
    empty = len(roomy.prompter.prompt(asked.request).tokens)
    smallest = min(asked.budget.record_tokens)
    answer = asked.request.task.max_answer_tokens
    tools = make_tools(OpenFake(window=empty + answer + smallest))
    (rated,) = rate_records([lesson(0, roomy)], "likelihood", tools)
    expected = [
        c.record.id
        for c, tokens in zip(asked.pool, asked.budget.record_tokens, strict=True)
        if tokens == smallest
    ]
    assert [c.record.id for c in rated.pool] == expected
    assert len(expected) < len(asked.pool)
    assert rate_records([lesson(0, roomy)], "likelihood", make_tools(OpenFake(empty))) == []


def test_whole_profiles() -> None:
    tools = make_tools()
    one = lesson(0, tools)
    everything = tuple(candidate.record for candidate in one.asked.pool)
    worth = rate_profiles([(one, ()), (one, everything)], "likelihood", tools)
    np.testing.assert_allclose(worth, [0, math.log(50)])


def test_likelihoods_that_are_no_numbers_are_an_error() -> None:
    class Broken(OpenFake):
        def score(
            self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
        ) -> NDArray[np.float64]:
            return np.full(len(sequences), np.nan)

    tools = make_tools(Broken())
    with pytest.raises(ModelError, match="float32"):
        rate_records([lesson(0, tools)], "likelihood", tools)


@pytest.mark.parametrize(
    ("task", "answer", "reference", "value"),
    [
        ("LaMP-2", " comedy\n", "comedy", 1),
        ("LaMP-2", "Comedy", "comedy", 0),
        ("LaMP-3", "4", "4", 1),
        ("LaMP-3", "2", "4", 1 / 3),
        ("LaMP-3", "5", "3", 0),
        ("LaMP-3", "great", "4", 0),
        ("LaMP-3", "nan", "4", 0),
        ("LaMP-3", "-7", "4", 0),
        ("LaMP-4", "The quick fox", "the fox!", 0.8),
        ("LaMP-4", "", "the fox!", 0),
    ],
)
def test_leading_metrics(task: str, answer: str, reference: str, value: float) -> None:
    assert leading_metric(LAMP_TASKS[task], answer, reference) == pytest.approx(value)


def test_rouge_l_counts_the_longest_common_subsequence() -> None:
    task = replace(LAMP_TASKS["LaMP-4"], metrics=("rouge-l",))
    assert leading_metric(task, "a b c d", "a c b d") == pytest.approx(0.75)


def test_ratings_need_a_scale() -> None:
    task = replace(LAMP_TASKS["LaMP-3"], labels=())
    with pytest.raises(ConfigError, match="labels"):
        leading_metric(task, "3", "4")
