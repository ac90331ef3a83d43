"""The laboratory: equal profiles once, J as the teacher has it, labelled users refused."""

from __future__ import annotations

import pytest

from enough.diagnostics.laboratory import Laboratory
from enough.errors import DataError
from enough.prompts.prompter import L_REF


def test_equal_profiles_are_tried_once_and_come_back_in_order(lab: Laboratory) -> None:
    one, other = lab.subjects()[:2]
    wanted = [(one, (0,)), (other, (1, 0)), (one, ()), (one, (0,))]
    found = lab.try_profiles(wanted, "test")
    assert [row.request_id for row in found] == [
        subject.space.case.example.request.id for subject, _ in wanted
    ]
    assert found[0] == found[3]
    assert found[1].records == tuple(other.space.case.pool[place].record.id for place in (1, 0))
    missed = lab.generator.misses
    assert lab.try_profiles(wanted, "test") == found
    assert lab.generator.misses == missed


def test_j_is_gain_and_specificity_less_tokens(lab: Laboratory) -> None:
    subject = lab.subjects()[0]
    (found,) = lab.try_profiles([(subject, (0, 1))], "test")
    point = lab.study.point
    assert found.gain is not None and found.specificity is not None
    expected = found.gain + point.beta * found.specificity - point.lambda_ * found.tokens / L_REF
    assert found.net == pytest.approx(expected, abs=1e-6)


def test_foreign_records_have_a_likelihood_and_no_j(lab: Laboratory) -> None:
    one, other = lab.subjects()[:2]
    record = other.space.case.pool[0].record
    (found,) = lab.try_records([(one, (record,))], "test")
    assert found.records == (record.id,)
    assert found.net is None and found.specificity is None
    # The fake generator answers with the last action it sees.
    assert found.answer.split()[:2] == record.action.split()[:2]


def test_users_of_the_labels_are_refused(lab: Laboratory) -> None:
    with pytest.raises(DataError, match="is among the labelled ones"):
        lab.subjects("label")


def test_the_first_requests_of_every_task(lab: Laboratory) -> None:
    tasks = [s.space.case.example.request.task.name for s in lab.first_subjects(1)]
    assert tasks == ["LaMP-4", "LaMP-7"]
    assert lab.first_subjects(0) == lab.subjects()
