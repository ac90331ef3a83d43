"""Gain, specificity and J of profiles, by hand.

The reference has three words and two blanks. A word is worth log 50 more where the prompt has it,
so each of ann's good records raises the mean over five tokens by UNIT.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from enough.evaluation.profile_values import Judge
from enough.evaluation.questions import Question, ask
from enough.evaluation.rows import Row
from enough.generators.fake import FakeGenerator
from enough.prompts.prompter import L_REF, Prompter
from enough.protocols import OnBatch, ScoredSequence
from enough.records import Dataset, Example
from enough.teacher.components import Scale, TargetConfig
from enough.teacher.specificity import SpecificityConfig
from tests.data.world import TWEETS, record, request, tweet_input
from tests.evaluation.evaluate_fakes import stages
from tests.evaluation.test_rows import make_row

UNIT = math.log(50) / 5
POINT = TargetConfig(beta=0.4, lambda_=2.0)
SCALES = {TWEETS.name: Scale(gain=0.5, specificity=0.25)}
ANN = (
    record("a1", action="silver", date="2010-01-01"),
    record("a2", action="gold", date="2012-01-01"),
    record("a3", action="teal", date="2012-01-01"),
)
# Controls are the nearest in time: umber for silver, copper for gold.
OTHERS = (
    record("b1", action="umber", date="2010-01-01", owner="bob"),
    record("c1", action="copper", date="2012-01-01", owner="cid"),
)
REFERENCE = "silver gold copper"


class Listening(FakeGenerator):
    """Keeps what it scored, as text."""

    def __init__(self, window: int = 4096) -> None:
        super().__init__(window)
        self.scored: list[str] = []

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        self.scored += [self.tokenizer.decode(one.tokens.tolist()) for one in sequences]
        return super().score(sequences, on_batch)


def world(reference: str = REFERENCE) -> Dataset:
    asked = request(TWEETS, tweet_input("a walk"), "2020-01-01")
    histories = {"ann": ANN, "bob": OTHERS[:1], "cid": OTHERS[1:]}
    return Dataset(TWEETS, histories, {"dev": (Example(asked, reference),)})


def questions(dataset: Dataset, generator: FakeGenerator) -> list[Question]:
    return ask(
        dataset,
        dataset.splits["dev"],
        stages(pool=1),
        Prompter(generator.tokenizer),
        window=generator.window,
        max_records=3,
    )


def judged(
    rows: Sequence[Row],
    generator: FakeGenerator | None = None,
    scales: dict[str, Scale] | None = None,
    reference: str = REFERENCE,
) -> list[Row]:
    scoring = generator or FakeGenerator()
    slots = SpecificityConfig("all", audited=0)
    judge = Judge(stages(), scoring, POINT, slots, SCALES if scales is None else scales)
    dataset = world(reference)
    return judge.judged(dataset, questions(dataset, scoring), rows)


def chose(*records: str, method: str = "mine", **changes: Any) -> Row:
    nothing = dict.fromkeys(("log_likelihood_gain", "gain", "specificity", "net"))
    values: dict[str, Any] = {"task": TWEETS.name, "request_id": "q", **nothing, **changes}
    return make_row(method=method, records=records, **values)


def cost(*numbers: int) -> float:
    prompter = Prompter(FakeGenerator().tokenizer)
    return sum(prompter.record_tokens(TWEETS, ANN[i]) for i in numbers) / L_REF


@pytest.mark.parametrize(
    ("records", "gain", "specificity"),
    [
        ((), 0.0, 0.0),
        (("a1",), UNIT, UNIT),  # umber in its place says nothing
        (("a2",), UNIT, 0.0),  # copper in its place is worth as much
        (("a1", "a2"), 2 * UNIT, UNIT / 2),  # the mean of both slots
        (("a2", "a1"), 2 * UNIT, UNIT / 2),
        (("a3",), 0.0, 0.0),  # no gain, so nothing to be specific about
    ],
)
def test_j_by_hand(records: tuple[str, ...], gain: float, specificity: float) -> None:
    (row,) = judged([chose(*records)])
    spent = cost(*(int(name[1]) - 1 for name in records))
    expected = gain / 0.5 + 0.4 * specificity / 0.25 - 2.0 * spent
    found = (row.log_likelihood_gain, row.gain, row.specificity, row.net)
    wanted = (gain, gain / 0.5, specificity / 0.25, expected)
    assert found == pytest.approx(wanted, rel=1e-5, abs=1e-6)


def test_records_outside_the_pool_are_judged_all_the_same() -> None:
    generator = FakeGenerator()
    (one,) = questions(world(), generator)
    assert len(one.asked.pool) == 1
    outside = next(r.id for r in ANN[:2] if r.id != one.asked.pool[0].record.id)
    (row,) = judged([chose(outside)], generator)
    assert row.log_likelihood_gain == pytest.approx(UNIT, rel=1e-5)


def test_several_prompts_have_no_likelihood_even_if_somebody_had_them_in_one() -> None:
    alone, apart = judged([chose("a1", "a2"), chose("a1", "a2", method="other", one_prompt=False)])
    assert alone.net is not None
    assert (apart.log_likelihood_gain, apart.gain, apart.specificity, apart.net) == (None,) * 4


def test_a_profile_is_scored_once_whoever_chose_it() -> None:
    generator = Listening()
    rows = [chose("a1"), chose("a1", method="other"), chose("a1", "a2"), chose("a1", seed=1)]
    found = judged(rows, generator)
    assert len(set(generator.scored)) == len(generator.scored)
    assert found[0].net == found[1].net == found[3].net
    assert [(row.method, row.seed) for row in found] == [(r.method, r.seed) for r in rows]


def test_without_a_scale_there_is_no_j_and_no_control() -> None:
    generator = Listening()
    row, nothing = judged([chose("a1"), chose()], generator, scales={})
    assert row.log_likelihood_gain == pytest.approx(UNIT, rel=1e-5)
    assert (row.gain, row.specificity, row.net) == (None, None, None)
    assert nothing.log_likelihood_gain == 0
    assert len(generator.scored) == 2
    assert not any("umber" in text for text in generator.scored)


def test_the_price_is_that_of_the_run() -> None:
    dataset, generator = world(), FakeGenerator()
    asked = questions(dataset, generator)
    slots = SpecificityConfig("all", audited=0)
    nets = []
    for lambda_ in (0.0, 1.0):
        judge = Judge(stages(), generator, TargetConfig(0.4, lambda_), slots, SCALES)
        (row,) = judge.judged(dataset, asked, [chose("a3")])
        nets.append(row.net)
    assert nets == pytest.approx([0.0, -cost(2)], abs=1e-6)


def test_what_leaves_no_room_for_the_reference_stays_without(
    caplog: pytest.LogCaptureFixture,
) -> None:
    prompter = Prompter(FakeGenerator().tokenizer)
    empty = len(prompter.prompt(world().splits["dev"][0].request).tokens)
    one = prompter.record_tokens(TWEETS, ANN[0])
    # Ten tokens more than an answer may have.
    reference = "gold " * (TWEETS.max_answer_tokens // 2 + 5)
    longer = len(prompter.reference(Example(world().splits["dev"][0].request, reference)))
    window = empty + longer + one
    with caplog.at_level(logging.WARNING):
        short, long = judged([chose("a2"), chose("a1", "a2")], FakeGenerator(window), {}, reference)
    assert (short.log_likelihood_gain or 0) > 0
    assert long.log_likelihood_gain is None
    assert caplog.text == ""
    (none,) = judged([chose()], FakeGenerator(empty + longer - 1), {}, reference)
    assert none.log_likelihood_gain is None
    assert "without a likelihood" in caplog.text
