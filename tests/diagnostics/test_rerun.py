"""The study again with one thing changed: what is made anew, who is compared, how gaps are told."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest

from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.transfer.contestants import Contestant, asked, require_rivals
from enough.diagnostics.transfer.gaps import gaps, method_table, verdict
from enough.diagnostics.transfer.rerun import (
    Change,
    RerunRow,
    remade,
    rows_of_methods,
    with_pools_of,
)
from enough.diagnostics.tried import OURS
from enough.errors import ConfigError, UnknownNameError
from enough.generators.config import GeneratorConfig
from enough.tasks import LAMP_TASKS
from tests.diagnostics.tried_rows import heeding_laboratory, own_cache, tried


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    folder = tmp_path_factory.mktemp("rerun")
    with own_cache(folder / "cache"):
        yield heeding_laboratory(folder)


def test_nothing_is_made_anew_where_nothing_is_different(lab: Laboratory) -> None:
    assert remade(lab, "same", Change(retriever="dense")) is lab
    assert remade(lab, "same", Change(generator=lab.study.label.generator)) is lab
    assert with_pools_of(lab, "dense") is lab


def test_another_retriever_has_pools_labels_and_a_controller_of_its_own(lab: Laboratory) -> None:
    other = remade(lab, "retriever-recency", Change(retriever="recency"))
    assert other.study.labels != lab.study.labels
    assert other.folder.parent == lab.folder / "variants"
    assert _pools(other) != _pools(lab)
    assert other.study.labels.is_dir() and (other.folder / "controller").is_dir()
    assert [s.space.case.name for s in other.subjects()] == [
        s.space.case.name for s in lab.subjects()
    ]


def test_another_number_of_labels_is_another_folder(lab: Laboratory) -> None:
    fewer = remade(lab, "fewer", Change(label_requests=3))
    other = remade(lab, "fewer", Change(label_requests=4))
    assert fewer.folder != other.folder
    assert fewer.config.label.requests == 3


def test_fresh_weights_carry_nothing_over(lab: Laboratory) -> None:
    begun, study = lab.folder / "somebody", lab.study
    config = replace(study.config, train=replace(study.config.train, start=begun))
    with_start = Laboratory(
        config,
        lab.folder,
        generator=lab.generator.inner,
        opening=lambda *_: replace(study, config=config),
    )
    adapted = Change(generator=GeneratorConfig(model="another"))
    assert remade(with_start, "x", adapted).config.train.start == begun
    fresh = remade(with_start, "x", Change(is_fresh=True))
    assert fresh is not with_start and fresh.config.train.start is None


def test_other_pools_for_the_same_controller_need_no_label(lab: Laboratory) -> None:
    other = with_pools_of(lab, "recency")
    assert other.study.trained is lab.study.trained
    assert other.study.labels == lab.study.labels
    assert _pools(other) != _pools(lab)


def test_methods_with_an_order_of_their_own_stay_in_the_pool(lab: Laboratory) -> None:
    for subject in lab.subjects():
        known = {candidate.record.id for candidate in subject.space.case.pool}
        assert {record.id for record in asked(lab, Contestant("mmr"), subject).history} == known
        # K_max is 3; a rival's default of five records is five where the pool has them.
        assert asked(lab, Contestant("mmr"), subject).budget.max_records == min(5, len(known))
        assert asked(lab, Contestant("enough"), subject).budget.max_records == min(3, len(known))
    rows = rows_of_methods(lab, "dense", (0, 2), ("recency", "replug"))
    methods = list(dict.fromkeys(row.method for row in rows))
    assert methods == ["empty", "k = 2", OURS, "recency", "REPLUG"]
    pools = {s.space.case.example.request.id: s for s in lab.subjects()}
    for row in rows:
        pool = [c.record.id for c in pools[row.tried.request_id].space.case.pool]
        assert set(row.tried.records) <= set(pool)
        assert row.method != "recency" or len(row.tried.records) == min(5, len(pool))
        assert row.method != "k = 2" or row.tried.records == tuple(pool[:2])
        # Several prompts have no common likelihood.
        assert math.isnan(row.tried.log_likelihood_gain) == (row.method == "REPLUG")


def _pools(lab: Laboratory) -> list[tuple[str, ...]]:
    return [tuple(c.record.id for c in s.space.case.pool) for s in lab.subjects()]


def _rows(answers: dict[str, str]) -> list[RerunRow]:
    """Methods with one letter a request: y is right, n is wrong."""
    return [
        RerunRow("dense", method, tried(i, "[1]" if letter == "y" else "[2]", "[1]"))
        for method, letters in answers.items()
        for i, letter in enumerate(letters)
    ]


def test_the_strongest_rival_is_the_best_on_these_requests() -> None:
    rows = _rows({"k = 1": "ynnn", OURS: "yyyy", "recency": "yynn", "k = 3": "yynn"})
    (gap,) = gaps(rows, LAMP_TASKS, is_leading_only=True)
    assert gap.rival == "recency"  # of equals the first
    assert (gap.ours.mean, gap.theirs.mean, gap.delta.mean) == (100, 50, 50)
    assert gap.metric == "accuracy"
    assert len(gaps(rows, LAMP_TASKS, is_leading_only=False)) == 2


def test_the_verdict_claims_only_what_can_be_told_from_zero() -> None:
    sure = gaps(_rows({"k = 1": "nnnnnnnn", OURS: "yyyyyyyy"}), LAMP_TASKS, is_leading_only=True)
    assert verdict(sure).endswith("above zero in 1 and below zero in 0")
    few = gaps(_rows({"k = 1": "nnnn", OURS: "yyyy"}), LAMP_TASKS, is_leading_only=True)
    assert few[0].delta.low > 0 and "no gap can be told from zero" in verdict(few)  # four users
    unsure = gaps(_rows({"k = 1": "ynynyn", OURS: "yynnyn"}), LAMP_TASKS, is_leading_only=True)
    assert "no gap can be told from zero" in verdict(unsure)
    assert "better value in 0 of 1 comparisons and the same in 1" in verdict(unsure)


def test_quality_is_a_hundred_for_enough() -> None:
    found = method_table(_rows({"k = 1": "ynnn", OURS: "yyyn"}), LAMP_TASKS, "Retriever")
    by_name = {row[1]: row for row in found.rows}
    assert getattr(by_name[OURS][2], "mean") == 100  # noqa: B009
    assert getattr(by_name["k = 1"][2], "mean") < 100  # noqa: B009


def test_who_may_be_compared_with() -> None:
    assert Contestant("fixed", 5).title == "fixed, k = 5"
    assert Contestant("mmr").title == "MMR"
    with pytest.raises(ConfigError, match="knows the reference"):
        Contestant("oracle-record")
    with pytest.raises(UnknownNameError):
        Contestant("nobody")
    with pytest.raises(ConfigError, match="leave it out"):
        require_rivals(("mmr", "enough"), "baselines")
