"""Cases come a portion at a time, and are those of one go."""

from __future__ import annotations

import dataclasses

import pytest

from enough.teacher import preparation
from enough.teacher.case import Case
from enough.teacher.preparation import cases_of
from tests.labels.runs import small_config, small_dataset, small_stages


def as_plain(case: Case) -> dict[str, object]:
    fields = {field.name: getattr(case, field.name) for field in dataclasses.fields(case)}
    return fields | {"likeness": case.likeness.tolist()}


def test_portions_change_no_case_and_the_first_does_not_wait_for_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config, dataset = small_config(), small_dataset(requests=8)
    examples = dataset.splits["train"]
    at_once = [as_plain(case) for case in cases_of(dataset, examples, small_stages(config))]
    monkeypatch.setattr(preparation, "_PORTION", 3)
    steps: list[tuple[str, int, int]] = []

    def told(name: str, done: int, total: int, note: str = "") -> None:
        if name.endswith("preparing"):
            steps.append((name, done, total))

    cases = cases_of(dataset, examples, small_stages(config), told)
    first = next(cases)
    assert [(done, total) for _, done, total in steps] == [(3, 8)]
    assert [as_plain(case) for case in (first, *cases)] == at_once
    assert [done for _, done, _ in steps] == [3, 6, 8]
    assert len(at_once) == 8
    assert any(case["controls"] for case in at_once)


def test_a_portion_in_which_no_pool_is_wanted_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config, dataset = small_config(), small_dataset(requests=8)
    examples = dataset.splits["train"]
    monkeypatch.setattr(preparation, "_PORTION", 2)
    last = examples[-1].request.id
    found = list(
        cases_of(
            dataset,
            examples,
            small_stages(config),
            wanted=lambda one: one.example.request.id == last,
        )
    )
    assert [case.example.request.id for case in found] == [last]
