from __future__ import annotations

import math

import pytest

from enough.answers import rouge_1
from enough.data.splits import draw_examples
from enough.data.synthetic import WorldConfig, make_world
from enough.errors import DataError
from enough.evaluation.lengths import (
    fitting,
    study_lengths,
    summarise,
)
from enough.generators.fake import FakeGenerator
from enough.records import Candidate, Example
from enough.retrieval.pools import PooledExample
from enough.tasks import LAMP_TASKS
from tests.conftest import make_record, make_request

SEEN, UNSEEN = math.log(0.5), math.log(0.01)


def test_rows_by_hand() -> None:
    """The reference "fog" is in the second record only, so two records help and one does not."""
    request = make_request(LAMP_TASKS["LaMP-7"], input="Paraphrase: it is misty")
    pool = (
        Candidate(make_record(1, context="", action="sun"), 2.0),
        Candidate(make_record(2, context="", action="fog"), 1.0),
    )
    done: list[int] = []
    rows = study_lengths(
        [PooledExample(Example(request, "fog"), pool)], FakeGenerator(), (0, 1, 2, 5), done.append
    )
    assert [row.records for row in rows] == [0, 1, 2, 2]
    assert [row.log_likelihood for row in rows] == pytest.approx([UNSEEN, UNSEEN, SEEN, SEEN])
    assert [row.gain for row in rows] == pytest.approx([0, 0, SEEN - UNSEEN, SEEN - UNSEEN])
    assert [row.answer for row in rows] == ["", "sun", "fog", "fog"]
    assert [row.overlap for row in rows] == [0, 0, 1, 1]
    assert rows[0].tokens == 0
    assert 0 < rows[1].tokens < rows[2].tokens == rows[3].tokens
    assert done == [0, 1]
    lines = {line.length: line for line in summarise(rows)}
    assert lines[2].helped == 1.0
    assert lines[1].harmed == 0.0
    assert lines[1].answers_changed == 1.0


def test_logs_that_share_request_ids_are_kept_apart() -> None:
    pool = (Candidate(make_record(1, context="", action="fog"), 1.0),)
    task = LAMP_TASKS["LaMP-7"]
    examples = [
        PooledExample(Example(make_request(task, input=f"Paraphrase: {x}"), "fog"), pool)
        for x in ("fog everywhere", "sun")
    ]
    rows = study_lengths(examples, FakeGenerator(), (0, 1))
    assert [row.gain for row in rows] == pytest.approx([0, 0, 0, SEEN - UNSEEN])


def test_a_request_that_does_not_fit_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    long = Example(make_request(input="tags: [a] description: " + "word " * 5000), "x")
    short = Example(make_request(), "x")
    kept = fitting([PooledExample(long, ()), PooledExample(short, ())], FakeGenerator())
    assert [pooled.example for pooled in kept] == [short]
    assert "left out: request 'q1' needs" in caplog.text


def test_requests_are_drawn_once_and_reproducibly() -> None:
    dataset = make_world(WorldConfig(tasks=("LaMP-7",), users=8)).datasets["LaMP-7"]
    drawn = draw_examples(dataset, "dev", 3, 1)
    assert drawn == draw_examples(dataset, "dev", 3, 1)
    assert len({example.request.id for example in drawn}) == 3
    assert draw_examples(dataset, "dev", 0, 0) == list(dataset.splits["dev"])
    with pytest.raises(DataError, match="no split 'test'; it has: train, dev"):
        draw_examples(dataset, "test", 0, 0)


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("", "a", 0.0),
        ("a b", "", 0.0),
        ("a a b", "a b b", 2 / 3),
        ("It's A", "it s a", 1.0),
        ("one two three four", "one", 0.4),
    ],
)
def test_rouge_1_by_hand(answer: str, reference: str, expected: float) -> None:
    assert rouge_1(answer, reference) == pytest.approx(expected)
